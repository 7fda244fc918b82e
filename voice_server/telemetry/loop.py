"""How late the event loop is: every call of a process shares it, so one that hogs it is heard by all."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.clock import Clock, Timer

__all__ = ["LoopWatch"]

EVERY_S = 0.25
"""Seconds between two looks: a hundredth of a percent of a core."""


class LoopWatch:
    """Looks, now and again, how late a timer fires. Close it in the end.

    Args:
        clock: of the loop.
        observe: takes seconds.
    """

    def __init__(self, clock: Clock, observe: Callable[[float], None]) -> None:
        self._clock = clock
        self._observe = observe
        self._due = clock.now()
        self._timer: Timer = self._arm()

    def close(self) -> None:
        """Look no more. Idempotent."""
        self._timer.cancel()

    def _arm(self) -> Timer:
        self._due = self._clock.now() + EVERY_S
        return self._clock.call_at(self._due, self._look)

    def _look(self) -> None:
        self._observe(max(0.0, self._clock.now() - self._due))
        self._timer = self._arm()
