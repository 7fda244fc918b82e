"""Presence: whether a room's caller is there to hear, and how long a call waits when they are not.

Pure: it is told what happens and the time, and says what the call is to do. Above: ``leg`` carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from voice_server.ending import Ending

__all__ = ["ARRIVAL_S", "HERE_S", "Presence", "Speak", "Stay", "Step", "Wait"]

ARRIVAL_S = 60.0
"""Seconds a caller has to come: who asks for the agent before they dial needs half of it."""

HERE_S = 0.5
"""Seconds after which somebody who can be told things also hears: what a subscription takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nobody hears: be silent, and end the call when that lasts too long."""

    seconds: float
    ending: Ending


@dataclass(frozen=True, slots=True)
class Stay:
    """Somebody is coming: do not end the call, and be silent still."""


@dataclass(frozen=True, slots=True)
class Speak:
    """They hear."""


Step: TypeAlias = Wait | Stay | Speak


class _State(Enum):
    AWAITED = auto()
    COMING = auto()
    """The caller is in the room, and hears in a moment."""
    HERE = auto()
    LOST = auto()
    """The agent is out of the room itself, and may come back."""


class Presence:
    """One caller's.

    Args:
        grace_s: seconds a call waits when the caller, or the room, was lost.
    """

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._state = _State.AWAITED
        self._here_at: float | None = None

    @property
    def here(self) -> bool:
        """Whether the caller hears."""
        return self._state is _State.HERE

    @property
    def connected(self) -> bool:
        """Whether the agent is in the room."""
        return self._state is not _State.LOST

    @property
    def deadline(self) -> float | None:
        """When to call ``tick``; ``None``: not before something happens."""
        return self._here_at

    def begin(self) -> list[Step]:
        """The call hears; nobody who is awaited has been waited for until now."""
        return [Wait(seconds=ARRIVAL_S, ending=Ending.DISCONNECTED)] if self._state is _State.AWAITED else []

    def linked(self) -> list[Step]:
        """The caller is in the room."""
        if self._state is not _State.AWAITED:
            return []
        self._state = _State.COMING
        return [Stay()]

    def ready(self, now: float) -> list[Step]:
        """The caller can be told things."""
        if self._state is _State.COMING:
            self._here_at = now + HERE_S
        return []

    def subscribed(self) -> list[Step]:
        """Somebody hears the agent for the first time: the caller, if they are coming."""
        return self._be_here() if self._state is _State.COMING else []

    def left(self) -> list[Step]:
        """The caller is in the room no more."""
        if self._state is _State.LOST:
            return []
        return self._await(Ending.DISCONNECTED)

    def lost(self) -> list[Step]:
        """The agent is out of the room, and may come back. Idempotent: it is waited for from the first on."""
        if self._state is _State.LOST:
            return []
        steps = self._await(Ending.MEDIA_LOST)
        self._state = _State.LOST
        return steps

    def back(self, now: float, *, present: bool) -> list[Step]:
        """The agent is in the room again.

        Args:
            now: seconds of the clock.
            present: whether the caller is, too.
        """
        if self._state is not _State.LOST:
            return []
        if not present:
            return self._await(Ending.DISCONNECTED)
        self._state, self._here_at = _State.COMING, now + HERE_S
        return [Stay()]

    def tick(self, now: float) -> list[Step]:
        """Say whether the moment has passed."""
        return self._be_here() if self._here_at is not None and now >= self._here_at else []

    def _be_here(self) -> list[Step]:
        self._state, self._here_at = _State.HERE, None
        return [Speak()]

    def _await(self, ending: Ending) -> list[Step]:
        self._state, self._here_at = _State.AWAITED, None
        return [Wait(seconds=self._grace_s, ending=ending)]
