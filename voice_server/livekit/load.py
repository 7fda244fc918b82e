"""Load: how busy a worker is, on LiveKit's scale, so that it can choose among workers.

Pure: it is told how many calls there are and how much the process has computed.
"""

from __future__ import annotations

__all__ = ["Load"]

SPAN_S = 2.0
"""Seconds over which computing is averaged: longer than a model takes to load or a turn to be recognised."""


FULL = 0.7
"""The load of a worker that takes no more: LiveKit's server asks only those below its `target_load`, which is that."""

BUSIEST = 0.95
"""What processors count for at most, as a share: the only worker there is, however busy, is better than none."""


class Load:
    """The greater of two shares: of the calls that may be, and of the processors.

    Args:
        limit: calls there may be.
        processors: how many the process may use.
    """

    def __init__(self, limit: int, processors: float) -> None:
        self._limit = limit
        self._processors = processors
        self._at: float | None = None
        self._spent_s = 0.0
        self._share = 0.0

    def measure(self, calls: int, spent_s: float, now: float) -> float:
        """Say how busy it is: from 0 to ``FULL``.

        Args:
            calls: there are just now.
            spent_s: seconds of processor time the process has used since it began.
            now: seconds of any clock that only goes forward.
        """
        if self._at is None:
            self._at, self._spent_s = now, spent_s
        elif now - self._at >= SPAN_S:
            self._share = (spent_s - self._spent_s) / (now - self._at) / self._processors
            self._at, self._spent_s = now, spent_s
        return FULL * min(1.0, max(calls / self._limit, min(BUSIEST, self._share)))
