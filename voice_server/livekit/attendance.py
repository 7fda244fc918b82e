"""Attendance: who is in a room, and which of them the agent listens to.

Pure: it is told who comes and goes and what they publish, and says what changes. Above: ``leg`` carries it out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

__all__ = ["LISTENED_TO", "Attendance", "Change", "Deaf", "Left", "Linked", "Listen", "PersonKind"]


class PersonKind(StrEnum):
    """What a participant is; LiveKit's names."""

    STANDARD = "standard"
    INGRESS = "ingress"
    EGRESS = "egress"
    SIP = "sip"
    AGENT = "agent"
    OTHER = "other"


LISTENED_TO = frozenset({PersonKind.STANDARD, PersonKind.SIP})
"""Who may be a caller, unless a name is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The caller is there."""

    identity: str
    again: bool
    """Whether they were there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The caller is not there any more."""

    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Listen to a track of the caller, and to no other."""

    track: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaf:
    """There is no track to listen to."""


Change: TypeAlias = Linked | Left | Listen | Deaf


class Attendance:
    """Chooses one caller, and one microphone of theirs: the latest.

    The first who may be a caller is it, for as long as the call: when they leave, the same identity is waited for, and
    whoever else is there stays a bystander.

    Args:
        wanted: the identity of the caller; ``None``: the first who comes.
        kinds: who may be the caller when nobody is wanted by name.
    """

    def __init__(self, wanted: str | None = None, kinds: Collection[PersonKind] = LISTENED_TO) -> None:
        self.caller = wanted
        """The identity that is listened to, there or not; ``None``: nobody has come."""
        self.present = False
        """Whether they are there."""
        self.track: str | None = None
        """The track that is listened to."""
        self._kinds = frozenset(kinds)
        self._seen = False
        self._there: dict[str, list[str]] = {}
        """Of everybody there, microphone tracks, the latest last."""

    def join(self, identity: str, kind: PersonKind) -> list[Change]:
        """Somebody is there. Idempotent."""
        if identity in self._there:
            return []
        self._there[identity] = []
        if self.caller is None and kind in self._kinds:
            self.caller = identity
        if self.caller != identity:
            return []
        again, self._seen, self.present = self._seen, True, True
        return [Linked(identity=identity, again=again)]

    def leave(self, identity: str) -> list[Change]:
        """Somebody is there no more. Idempotent."""
        if self._there.pop(identity, None) is None or identity != self.caller:
            return []
        self.present = False
        return [*self._choose(), Left(identity=identity)]

    def publish(self, identity: str, track: str) -> list[Change]:
        """Somebody who is there has a microphone. Idempotent."""
        tracks = self._there.get(identity)
        if tracks is None or track in tracks:
            return []
        tracks.append(track)
        return self._choose()

    def unpublish(self, identity: str, track: str) -> list[Change]:
        """A microphone is gone. Idempotent."""
        if track not in (tracks := self._there.get(identity, [])):
            return []
        tracks.remove(track)
        return self._choose()

    def _choose(self) -> list[Change]:
        tracks = self._there.get(self.caller or "", [])
        chosen = tracks[-1] if tracks else None
        if chosen == self.track:
            return []
        self.track = chosen
        return [Deaf() if chosen is None else Listen(track=chosen)]
