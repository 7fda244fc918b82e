"""The ledger: from what an output reports as played to what of each utterance was heard.

Every clear begins a new epoch with a timeline of its own. What is reported of an epoch proves what was sent in it, up
to the moment it was cleared and never more than time allowed.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from pipelines.playout.utterance import Utterance

__all__ = ["Ledger"]

KEPT_EPOCHS = 4
"""Epochs whose reports are still believed: outputs answer within 300 ms, and nobody interrupts faster than that."""

SLACK_S = 0.03
"""Seconds a report may run ahead of the clock: one frame and rounding."""


@dataclass(slots=True)
class _Run:
    """Consecutive samples of an utterance, as sent."""

    starts: int
    """Where they begin in the epoch's timeline."""
    utterance: Utterance
    first: int
    """Where they begin in the utterance's audio."""
    count: int


@dataclass(slots=True)
class _Epoch:
    began_at: float
    sent: int = 0
    played: int = 0
    ended_at: float | None = None
    runs: deque[_Run] = field(default_factory=deque)


class Ledger:
    """Knows what was sent in each epoch and what is proven played.

    Args:
        rate: hertz of all samples counted.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._epochs: dict[int, _Epoch] = {}

    def sent(self, epoch: int, utterance: Utterance, first: int, count: int, now: float) -> None:
        """Enter samples given to the output."""
        entry = self._epochs.setdefault(epoch, _Epoch(began_at=now))
        last = entry.runs[-1] if entry.runs else None
        if last is not None and last.utterance is utterance and last.first + last.count == first:
            last.count += count
        else:
            entry.runs.append(_Run(starts=entry.sent, utterance=utterance, first=first, count=count))
        entry.sent += count

    def close(self, epoch: int, now: float) -> None:
        """An epoch was cleared: what it reports from now on proves only what came before."""
        if (entry := self._epochs.get(epoch)) is not None and entry.ended_at is None:
            entry.ended_at = now
        for old in [number for number in self._epochs if number <= epoch - KEPT_EPOCHS]:
            del self._epochs[old]

    def played(self, epoch: int, seconds: float, now: float) -> None:
        """Enter a report: so many seconds of the epoch's audio were played. One that is no number proves nothing."""
        if (entry := self._epochs.get(epoch)) is None or not math.isfinite(seconds):
            return
        until = now if entry.ended_at is None else entry.ended_at
        possible = (until - entry.began_at + SLACK_S) * self._rate
        entry.played = max(entry.played, int(min(round(seconds * self._rate), possible, entry.sent)))
        while entry.runs:
            run = entry.runs[0]
            reached = min(entry.played - run.starts, run.count)
            if reached > 0:
                run.utterance.heard_samples = max(run.utterance.heard_samples, run.first + reached)
            if reached < run.count or run.starts + run.count == entry.sent:
                break  # the newest run stays: it may grow
            entry.runs.popleft()

    def everything_played(self, epoch: int) -> bool:
        """Whether all that was sent in the epoch is proven played."""
        entry = self._epochs.get(epoch)
        return entry is None or entry.played >= entry.sent
