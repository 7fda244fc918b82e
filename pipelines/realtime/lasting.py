"""Lasting: when a connection is renewed, how a lost one is tried again, and when the caller is told of a gap.

Pure policy. Above: ``connection`` and ``agent`` act on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from pipelines.realtime.settings import Lasting

__all__ = ["Gap", "Renewal", "waits"]


def waits(settings: Lasting) -> Iterator[float]:
    """Give the seconds to wait before each attempt to connect.

    The first is made at once, and the last within ``give_up_s``.
    """
    yield 0.0
    passed, wait = 0.0, settings.first_wait_s
    while passed + wait <= settings.give_up_s:
        yield wait
        passed += wait
        wait = min(wait * 2, settings.longest_wait_s)


class Renewal:
    """Says when a connection is to be followed by another one.

    Args:
        settings: times.
    """

    def __init__(self, settings: Lasting) -> None:
        self._settings = settings
        self._wanted_at: float | None = None
        self._forced_at: float | None = None

    def opened(self, lasts_s: float | None, now: float) -> None:
        """A connection is there, which is known to last so long."""
        self._wanted_at = self._forced_at = None
        if lasts_s is not None:
            self._wanted_at = now + max(lasts_s - self._settings.ahead_s, lasts_s / 2)
            self._forced_at = now + max(lasts_s - self._settings.forced_s, lasts_s / 2)

    def expiring(self, in_s: float, now: float) -> None:
        """The provider will close it."""
        self._wanted_at = now
        forced_at = now + max(in_s - self._settings.forced_s, 0.0)
        self._forced_at = forced_at if self._forced_at is None else min(self._forced_at, forced_at)

    def failed(self, now: float) -> None:
        """The other one could not be had: try again in a while."""
        self._wanted_at = now + self._settings.longest_wait_s
        self._forced_at = self._wanted_at

    def due(self, now: float, *, busy: bool) -> bool:
        """Whether to do it now.

        Args:
            now: seconds.
            busy: whether somebody speaks or something is made, so that it is better to wait.
        """
        at = self._forced_at if busy else self._wanted_at
        return at is not None and now >= at

    @property
    def deadline(self) -> float | None:
        """When to ask again; ``None``: not before something is told."""
        return self._wanted_at

    @property
    def forced_at(self) -> float | None:
        """When it is waited no longer."""
        return self._forced_at


class _Line(Enum):
    UP = auto()
    DOWN = auto()
    TOLD = auto()
    """Down, and the caller knows."""


class Gap:
    """Says when a caller is to be told that there is nobody to talk to: once a gap, and not for a short one.

    Args:
        settings: times.
    """

    def __init__(self, settings: Lasting) -> None:
        self._settings = settings
        self._line = _Line.UP
        self._tell_at = 0.0

    def down(self, now: float) -> None:
        """There is no connection. Idempotent within a gap."""
        if self._line is _Line.UP:
            self._line = _Line.DOWN
            self._tell_at = now + self._settings.apologise_after_s

    def up(self) -> None:
        """There is one again."""
        self._line = _Line.UP

    def tick(self, now: float) -> bool:
        """Tell whether the caller is to be told now."""
        if self._line is _Line.DOWN and now >= self._tell_at:
            self._line = _Line.TOLD
            return True
        return False

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick`; ``None``: not before something is told."""
        return self._tell_at if self._line is _Line.DOWN else None
