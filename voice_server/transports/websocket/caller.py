"""The caller on a socket: their audio comes when it comes, and how loud it is can be drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipelines.audio.frame import Frame
from pipelines.audio.levels import rms

__all__ = ["SocketCaller"]


class SocketCaller:
    """A :class:`~pipelines.call.CallInput` that is given frames from outside, on whatever connection.

    Args:
        begun: called when the call begins to listen.
    """

    def __init__(self, begun: Callable[[], None]) -> None:
        self._begun = begun
        self._hear: Callable[[Frame], None] | None = None
        self._over = asyncio.Event()
        self._loudest = 0.0

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Pass on frames until the caller hangs up."""
        self._hear = hear
        try:
            self._begun()
            await self._over.wait()
        finally:
            self._hear = None

    def take(self, frame: Frame) -> None:
        """Take the next frame; before the call begins and after it ends there is nobody to hear it."""
        if self._hear is not None:
            self._loudest = max(self._loudest, rms(frame.samples))
            self._hear(frame)

    def hang_up(self) -> None:
        """End the call. Idempotent."""
        self._over.set()

    def level(self) -> float:
        """The loudest frame since this was last asked, root mean square of full scale."""
        loudest, self._loudest = self._loudest, 0.0
        return loudest
