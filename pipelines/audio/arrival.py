"""Arrival: when audio was sounded, told from when it came.

Above: the listener dates speech by it. Networks deliver in bursts: what comes at once after a stall was not sounded at
once, and silence must be measured by its own length. What was lost on the way never comes, so a delay that stays is
taken for the present after a second.
"""

from __future__ import annotations

import math

__all__ = ["Arrival"]

RESYNC_S = 1.0
"""Seconds of audio after which a delay that none of it was without is taken for lost audio."""


class Arrival:
    """Dates one stream of audio."""

    def __init__(self) -> None:
        self._ends_at = -math.inf
        self._least_delay_s = math.inf
        self._measured_s = 0.0

    def restart(self) -> None:
        """A gap too long for a stall follows: the next audio is of its own time."""
        self._ends_at = -math.inf

    def feed(self, duration_s: float, now: float) -> float:
        """Date the next audio.

        Args:
            duration_s: its length in seconds.
            now: when it came, seconds of the call's clock.

        Returns:
            When its last sample was sounded: at most ``now``, and never before what was returned before.
        """
        if math.isinf(self._ends_at):
            self._ends_at = now
            self._forget()
            return now
        self._ends_at = min(self._ends_at + duration_s, now)
        self._least_delay_s = min(self._least_delay_s, now - self._ends_at)
        self._measured_s += duration_s
        if self._measured_s >= RESYNC_S:
            self._ends_at += self._least_delay_s
            self._forget()
        return self._ends_at

    def _forget(self) -> None:
        self._least_delay_s = math.inf
        self._measured_s = 0.0
