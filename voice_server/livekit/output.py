"""The voice in a room: one track, paced by the SDK's audio source, which is never given more than it can take back.

Above: a call's player gives it samples. Below: ``spool`` counts them, and LiveKit's ``AudioSource`` plays them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from pipelines.audio.frame import Samples
from pipelines.clock import Clock, Timer
from pipelines.playout.output import Report
from voice_server.livekit.spool import Spool

__all__ = ["QUEUE_MS", "RoomOutput", "Source"]

QUEUE_MS = 200
"""Milliseconds the source may have queued: as much as a busy loop may be late, and no more than can be taken back."""

GRAIN_S = 0.01
"""Seconds the source takes out of its queue at a time."""

FRAME_S = 0.1
"""Seconds given to the source at once, at most."""

REPORT_EVERY_S = 0.1
"""Seconds between two reports: as often as a page on a socket acknowledges."""

LAST_CALL_S = 0.03
"""Seconds before the source runs dry at which the rest of a grain is filled up: nothing more comes in time."""


class Source(Protocol):
    """What is used of LiveKit's ``AudioSource``."""

    @property
    def queued_duration(self) -> float:
        """Seconds it has not played."""
        ...

    async def capture(self, samples: Samples) -> None:
        """Queue samples; wait while the queue is full."""
        ...

    def clear_queue(self) -> None:
        """Drop what was not played."""
        ...


class RoomOutput:
    """An :class:`~pipelines.playout.output.AudioOutput` that plays into a room.

    Args:
        rate: hertz.
        clock: the call's.
        lateness: told how long samples waited before the source had them, in seconds.
    """

    can_pause = True

    def __init__(self, rate: int, clock: Clock, *, lateness: Callable[[float], None] = lambda _: None) -> None:
        self.rate = rate
        self._source: Source | None = None
        self._clock = clock
        self._lateness = lateness
        self._spool = Spool(round(GRAIN_S * rate))
        self._report: Report | None = None
        self._paused = False
        self._fill = False
        """Whether what is less than a grain is played with silence behind it."""
        self._emptied = 0
        """How often the source's queue was emptied."""
        self._epoch = 0
        self._given_at = 0.0
        """When samples came to an output that had none waiting."""
        self._reported_at = 0.0
        self._more = asyncio.Event()
        self._timer: Timer | None = None

    # --------------------------------------------------------------------------------------------- what a player does

    def attach(self, report: Report) -> None:
        """Say where reports go."""
        self._report = report

    def play(self, epoch: int, samples: Samples) -> None:
        """Queue samples; those of an epoch older than the last clear are dropped."""
        if epoch < self._epoch or self._report is None:
            return
        if not self._spool.waiting:
            self._given_at = self._clock.now()
        self._spool.put(epoch, samples)
        self._fill = False
        self._more.set()

    def pause(self) -> None:
        """Fall silent, and take back what the source has not played."""
        if not self._paused:
            self._paused = True
            self._empty()
            self._spool.take_back()

    def unpause(self) -> None:
        """Go on."""
        if self._paused:
            self._paused = False
            self._given_at = self._clock.now()
            self._more.set()

    def clear(self, epoch: int) -> None:
        """Drop what is older, here and in the source, and report what was played of it."""
        self._epoch = epoch
        self._empty()
        self._spool.clear(epoch)
        if self._report is not None:
            for old in self._spool.epochs:
                if old < epoch:
                    self._report(old, self._spool.played(old) / self.rate, final=True)

    async def aclose(self) -> None:
        """Play nothing any more. Idempotent."""
        self._report = None
        self._disarm()
        self.clear(self._epoch + 1)

    # -------------------------------------------------------------------------------------------------- what moves it

    async def run(self, source: Source) -> None:
        """Give a source what it has room for, until this is cancelled. What comes before that waits.

        Args:
            source: plays at ``rate``; the caller closes it.
        """
        self._source = source
        while True:
            await self._more.wait()
            self._more.clear()
            while not self._paused and (samples := self._take()) is not None:
                await self._capture(source, samples)
                self._arm()
            self._arm()

    def _take(self) -> Samples | None:
        samples = self._spool.take(round(FRAME_S * self.rate), fill=self._fill)
        if samples is not None:
            self._lateness(self._clock.now() - self._given_at)
        return samples

    async def _capture(self, source: Source, samples: Samples) -> None:
        emptied = self._emptied
        await source.capture(samples)
        if emptied != self._emptied:
            source.clear_queue()  # It took them while it was emptied: they may have come in behind that.
        self._given_at = self._clock.now()

    def _empty(self) -> None:
        self._settle()
        self._emptied += 1
        if self._source is not None:
            self._source.clear_queue()

    def _settle(self) -> None:
        self._spool.settle(round(self._queued_s * self.rate))

    @property
    def _queued_s(self) -> float:
        """Seconds the source has not played."""
        return 0.0 if self._source is None else self._source.queued_duration

    # ------------------------------------------------------------------------------------------------- what it reports

    def _arm(self) -> None:
        """Come back to report, and in time for the rest of a grain to be filled up."""
        self._disarm()
        if self._source is None or self._paused or not (self._spool.queued or self._spool.waiting):
            return
        now = self._clock.now()
        dry_at = now + self._queued_s
        due = dry_at - LAST_CALL_S if self._spool.waiting else dry_at
        self._timer = self._clock.call_at(max(now, min(due, self._reported_at + REPORT_EVERY_S)), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._settle()
        self._reported_at = self._clock.now()
        if self._report is not None and (epochs := self._spool.epochs):
            self._report(epochs[-1], self._spool.played(epochs[-1]) / self.rate)
        if self._spool.waiting and self._queued_s <= LAST_CALL_S:
            self._fill = True
            self._more.set()  # which comes back here
        else:
            self._arm()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
