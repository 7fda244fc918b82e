"""The caller's microphone, as a call has it: frames come from outside as they come; a meter shows how loud it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipelines.audio.frame import Frame
from pipelines.audio.levels import rms
from voice_server.clients.events import LevelHeard

__all__ = ["Meter", "Microphone"]

LEVEL_EVERY_S = 0.1
"""Seconds between two levels: as often as a meter has to move to look alive."""


class Meter:
    """Shows how loud a line is, and how much like speech, about ten times a second.

    Args:
        now: seconds of the call's clock.
        show: takes what it shows.
    """

    def __init__(self, now: Callable[[], float], show: Callable[[LevelHeard], None]) -> None:
        self._now = now
        self._show = show
        self._at = now()
        self._loudest = 0.0
        self._likeliest = 0.0

    def hear(self, frame: Frame) -> None:
        """Take a frame."""
        self._loudest = max(self._loudest, rms(frame.samples))

    def judge(self, _: float, probability: float) -> None:
        """Take the probability that a window is speech: a :class:`~pipelines.listener.Probe`."""
        self._likeliest = max(self._likeliest, probability)
        if (now := self._now()) - self._at >= LEVEL_EVERY_S:
            self._show(LevelHeard(level=round(self._loudest, 4), probability=round(self._likeliest, 3)))
            self._at, self._loudest, self._likeliest = now, 0.0, 0.0


class Microphone:
    """A :class:`~pipelines.call.CallInput` that is given frames from outside, over whatever way.

    Args:
        begun: called when the call begins to listen.
        meter: shows what it takes.
    """

    def __init__(self, begun: Callable[[], None], meter: Meter) -> None:
        self._begun = begun
        self._meter = meter
        self._hear: Callable[[Frame], None] | None = None
        self._idle: Callable[[], bool] = lambda: False
        self._over = asyncio.Event()

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Pass on frames until the caller hangs up."""
        self._hear, self._idle = hear, idle
        try:
            self._begun()
            await self._over.wait()
        finally:
            self._hear = None

    def take(self, frame: Frame) -> None:
        """Take the next frame; before the call begins and after it ends there is nobody to hear it."""
        if self._hear is not None:
            self._meter.hear(frame)
            self._hear(frame)

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, and nothing waits to be said or heard; before the call begins it does."""
        return self._idle()

    def hang_up(self) -> None:
        """End the call. Idempotent."""
        self._over.set()
