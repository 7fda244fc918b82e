"""A clock on which a call over a network takes a fraction of its time: sound is sent and played that much faster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pipelines.clock import Lease, Timer

__all__ = ["BriskClock"]


class BriskClock:
    """A :class:`~pipelines.clock.Clock` that runs faster than the loop; work takes as much longer on it.

    Args:
        pace: its seconds in a real one.
    """

    def __init__(self, pace: float) -> None:
        self._pace = pace

    def now(self) -> float:
        """Seconds, monotonic."""
        return asyncio.get_running_loop().time() * self._pace

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call back at a time of this clock."""
        return asyncio.get_running_loop().call_at(when / self._pace, callback, *args)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds / self._pace)

    def lease(self, holder: str) -> Lease:
        """Take a lease that holds nothing still."""
        return _Nothing(self)


class _Nothing:
    def __init__(self, clock: BriskClock) -> None:
        self._clock = clock

    def release(self) -> float:
        return self._clock.now()
