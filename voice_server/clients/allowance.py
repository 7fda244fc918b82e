"""An allowance: how much may come, as a bucket that fills with time."""

from __future__ import annotations

__all__ = ["Allowance"]


class Allowance:
    """Lets so much through, and no more.

    Args:
        per_s: how much is added every second.
        first: how much there is in the beginning.
        most: how much can be saved up.
        now: seconds of the clock.
    """

    def __init__(self, *, per_s: float, first: float, most: float, now: float) -> None:
        self._per_s = per_s
        self._most = most
        self._left = first
        self._at = now

    def take(self, amount: float, now: float) -> bool:
        """Take some of it, if there is as much."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_s)
        self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True
