"""The end of the line: takes the agent's voice 20 ms at a time, on absolute deadlines, and notes how late each was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.bench.peers.vendors import RATE

__all__ = ["FRAME_S", "LEAD_S", "Sink"]

FRAME_S = 0.02

LEAD_S = 0.2
"""How far ahead of its playing a transport that waits for its line may write, as a room's track does."""

_STARVED_S = 0.5
"""A frame that comes so much later than it was due is no late one: something else begins."""

_FRAME = round(RATE * FRAME_S)


class Sink:
    """Plays samples that are only counted: what is measured is when they are there.

    Attributes:
        lateness: seconds from when each frame was due until it was taken; the first of a stretch is never late.
        began_at: when the latest stretch began to sound, in seconds of the loop's clock.
        stopped_at: when it was last made to fall silent, by a pause or by a clear.
    """

    def __init__(self) -> None:
        self.lateness: list[float] = []
        self.began_at: float | None = None
        self.stopped_at: float | None = None
        self.on_begin: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        self._queued = 0
        self._due: float | None = None
        """When the next frame is to be taken, or when the latest one will have been heard."""
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None
        self._dry: list[Callable[[], None]] = []
        self._played = 0

    @property
    def playing(self) -> bool:
        """Whether anything is queued or sounding."""
        return self._queued > 0 or (self._due is not None and self._loop.time() < self._due)

    @property
    def queued_s(self) -> float:
        """Seconds that were not taken yet."""
        return self._queued / RATE

    @property
    def played(self) -> int:
        """Samples taken since the beginning."""
        return self._played

    def play(self, samples: int) -> None:
        """Queue samples."""
        self._queued += samples
        if not self._paused and self._timer is None:
            self._go_on()

    def pause(self) -> None:
        """Fall silent, and keep the rest."""
        self._stop()
        self._paused = True

    def resume(self) -> None:
        """Go on."""
        if self._paused:
            self._paused = False
            self._due = None
            if self._queued:
                self._go_on()

    def clear(self) -> None:
        """Fall silent and drop the rest."""
        self._stop()
        self._queued = 0
        self._due = None
        self._call_dry()

    def when_dry(self, callback: Callable[[], None]) -> None:
        """Call back, once, when all that was queued has been heard or dropped."""
        self._dry.append(callback)
        if self._queued == 0 and self._timer is None:
            self._call_dry()

    def _stop(self) -> None:
        if self.playing and not self._paused:
            self.stopped_at = self._loop.time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_on(self) -> None:
        now = self._loop.time()
        if self._due is None or now - self._due > _STARVED_S:
            self._due = self.began_at = now
            self.on_begin()
        self._take()

    def _take(self) -> None:
        """Take what is due; frames that are overdue at once."""
        self._timer = None
        now = self._loop.time()
        if self._due is None:
            return
        while self._queued and self._due <= now:
            self.lateness.append(now - self._due)
            taken = min(self._queued, _FRAME)
            self._queued -= taken
            self._played += taken
            self._due += FRAME_S
        if self._queued or self._due > now:
            self._timer = self._loop.call_at(self._due, self._take)
        else:
            self._call_dry()

    def _call_dry(self) -> None:
        waiting, self._dry = self._dry, []
        for callback in waiting:
            callback()
