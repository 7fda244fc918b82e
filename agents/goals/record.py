"""What is kept of goals: an entry for every change, never altered; each is the whole of what holds from then on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, StringConstraints

from agents.goals.definition import Goal, GoalProgram, Key

__all__ = [
    "Disposition",
    "Entry",
    "EntryKind",
    "GoalScope",
    "ItemState",
    "Progress",
    "Provenance",
    "Transition",
    "TransitionKind",
]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GoalScope(_Record):
    """Whose goals: no part of it can be left out, and no agent is another than any agent."""

    subject: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    key: Key
    agent: Key | None = None

    def parts(self) -> list[str | None]:
        """As it stands in ids."""
        return [self.subject, self.key, self.agent]


class Disposition(StrEnum):
    """What became of an item."""

    PENDING = "pending"
    DONE = "done"
    DEFERRED = "deferred"
    """Put off: it holds nothing up any more, and stays listed."""
    DECLINED = "declined"


class ItemState(_Record):
    """What was last said of an item."""

    disposition: Disposition
    note: str
    """Why."""
    at: datetime
    label: str
    """As the item was called when it was last defined: it may be gone from the program."""
    claim_id: str | None = None
    """The evidence that settled it, if it was not said."""


Progress: TypeAlias = Mapping[str, Mapping[str, ItemState]]
"""By goal and item; what nothing was ever said of is not there."""


class EntryKind(StrEnum):
    """What changed."""

    START = "start"
    REVISE = "revise"
    UPDATE = "update"


class TransitionKind(StrEnum):
    """What happened to a goal in a change."""

    COMPLETE = "complete"
    REOPEN = "reopen"
    ENTER = "enter"


class Transition(_Record):
    """An edge that hooks are told of."""

    scope: GoalScope
    version: int
    """The change it belongs to."""
    goal: Goal
    """As it was defined then."""
    kind: TransitionKind

    @property
    def id(self) -> str:
        """Its name, which is also the idempotency key of its hook."""
        return json.dumps([*self.scope.parts(), self.version, self.goal.key, self.kind.value], separators=(",", ":"))


class Provenance(_Record):
    """Who changed it."""

    actor: str
    source: str
    timestamp: datetime
    note: str | None = None


class Entry(_Record):
    """The goals after a change."""

    version: int
    """Of the change: 1 is the start."""
    kind: EntryKind
    reason: str
    program: GoalProgram
    progress: Progress
    transitions: tuple[Transition, ...]
    told_complete: tuple[Key, ...] = ()
    """Goals whose completion hooks were told of, and of no reopening since."""
    provenance: Provenance
