"""A spool: what of the agent's voice waits, what a room's audio source has queued, and what of each epoch has left it.

Pure: it counts samples. Above: ``output`` moves them. Below: nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import Samples

__all__ = ["Spool"]

KEPT_EPOCHS = 4
"""Epochs whose positions are still known, as in the ledger."""


@dataclass(slots=True)
class _Run:
    """Consecutive samples of one epoch, or filling."""

    epoch: int | None
    """``None``: silence, that belongs to nobody."""
    samples: Samples


class Spool:
    """Keeps one voice's samples in order.

    Args:
        grain: samples the source takes out of its queue at a time; it never plays less.
    """

    def __init__(self, grain: int) -> None:
        self._grain = grain
        self._waiting: deque[_Run] = deque()
        self._queued: deque[_Run] = deque()
        self._played: dict[int, int] = {}

    @property
    def waiting(self) -> int:
        """Samples that were not given to the source yet."""
        return sum(len(run.samples) for run in self._waiting)

    @property
    def queued(self) -> int:
        """Samples the source has not played, as far as is known."""
        return sum(len(run.samples) for run in self._queued)

    def put(self, epoch: int, samples: Samples) -> None:
        """Add samples at the end."""
        self._played.setdefault(epoch, 0)
        for old in [known for known in self._played if known <= epoch - KEPT_EPOCHS]:
            del self._played[old]
        self._waiting.append(_Run(epoch, samples))

    def take(self, most: int, *, fill: bool = False) -> Samples | None:
        """Take out what is to be given to the source now.

        Args:
            most: samples at most; a multiple of the grain.
            fill: whether what is less than a grain is filled up with silence; else it waits for what comes next.

        Returns:
            A multiple of the grain; ``None``: there is nothing.
        """
        count = min(most, self.waiting)
        over = count % self._grain
        if over and not (fill and count == self.waiting):
            count -= over
            over = 0
        if count == 0:
            return None
        runs = self._cut(self._waiting, count)
        if over:
            runs.append(_Run(None, np.zeros(self._grain - over, np.int16)))
        self._queued.extend(runs)
        return np.concatenate([run.samples for run in runs])

    def settle(self, queued: int) -> None:
        """Take the source's word for how many samples it has not played; more than it was given prove nothing."""
        for run in self._cut(self._queued, max(0, self.queued - queued)):
            if run.epoch in self._played and run.epoch is not None:
                self._played[run.epoch] += len(run.samples)

    def take_back(self) -> None:
        """The source's queue was emptied: what it has not played waits again, before all else."""
        self._waiting.extendleft(run for run in reversed(self._queued) if run.epoch is not None)
        self._queued.clear()

    def clear(self, epoch: int) -> None:
        """The source's queue was emptied, and what is older than an epoch is not wanted any more."""
        self.take_back()
        self._waiting = deque(run for run in self._waiting if run.epoch is None or run.epoch >= epoch)

    def played(self, epoch: int) -> int:
        """Samples of an epoch that have left the source."""
        return self._played.get(epoch, 0)

    @property
    def epochs(self) -> tuple[int, ...]:
        """Those whose positions are known, oldest first."""
        return tuple(self._played)

    def _cut(self, runs: deque[_Run], count: int) -> list[_Run]:
        """Take samples off the front."""
        taken: list[_Run] = []
        while count > 0 and runs:
            run = runs.popleft()
            if len(run.samples) > count:
                runs.appendleft(_Run(run.epoch, run.samples[count:]))
                run = _Run(run.epoch, run.samples[:count])
            taken.append(run)
            count -= len(run.samples)
        return taken
