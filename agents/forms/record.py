"""What is kept of a form: an instance, whose answers are only ever appended. Immutable; all times have a zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

__all__ = [
    "Batch",
    "Dispatch",
    "DispatchStatus",
    "Entry",
    "Instance",
    "InstanceStatus",
    "Provenance",
    "Revision",
]


class InstanceStatus(StrEnum):
    """How an instance stands."""

    ACTIVE = "active"
    AWAITING = "awaiting"
    """A blocking checkpoint is at work: answers cannot be changed."""
    COMPLETE = "complete"
    """Reachable for corrections."""
    ABANDONED = "abandoned"
    STALE = "stale"
    """Of another version of the form, which nothing migrates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Whose a write is."""

    source: str
    """Where it comes from: ``crm:lead-881``."""
    actor: str = "agent"
    """Who writes: ``agent``, ``system``, ``user``."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An answer, a withdrawal of one, or a refusal to give one."""

    seq: int
    """Its place among all revisions of the instance, from 1."""
    at: datetime
    provenance: Provenance
    written: str | None = None
    """The answer as it was sent, as JSON text; ``None``: there is none. Judged anew at every evaluation."""
    skipped: str | None = None
    """Why the question is not answered."""
    effect_id: str | None = None
    """The effect of an executor that made it; ``None``: a caller or the host did."""
    fingerprint: str | None = None
    """Of a confirmation: the answers it was given for."""
    claim_id: str | None = None
    """The evidence that made it, if it was not said."""
    fulfills: tuple[Literal["field", "step"], ...] = ()
    """What the evidence proves done besides: executors that count as run while it is in force."""

    @property
    def retracted(self) -> bool:
        """Whether it withdraws the answer."""
        return self.written is None and self.skipped is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """All revisions of a field, and which is in force."""

    revisions: tuple[Revision, ...] = ()
    cursor: int = -1
    """Index of the revision in force; -1: none, everything was undone."""

    @property
    def in_force(self) -> Revision | None:
        """The revision that holds; ``None`` when there is none or it is a withdrawal."""
        revision = self.at_cursor
        return None if revision is None or revision.retracted else revision

    @property
    def at_cursor(self) -> Revision | None:
        """The revision the cursor is at, withdrawals included."""
        return self.revisions[self.cursor] if self.cursor >= 0 else None

    def with_revision(self, revision: Revision) -> Entry:
        """Append, and let it hold."""
        return Entry(revisions=(*self.revisions, revision), cursor=len(self.revisions))


class DispatchStatus(StrEnum):
    """How far an executor's run is."""

    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """The journal's line on one run of an executor, by its idempotency key."""

    hook_id: str
    status: DispatchStatus
    attempts: int
    at: datetime
    error: str | None = None
    effects: str | None = None
    """What it returned, as JSON text."""
    claim_id: str | None = None
    """The evidence that did what the executor would have done; it did not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Executors that rose in one commit and are to run; saved with the commit, so that a crash loses none.

    The cursors and counters lead back to the answers the executors are to see: revisions are never changed.
    """

    hooks: tuple[str, ...]
    """In the order they run."""
    cursors: Mapping[str, int]
    occurrences: Mapping[str, int]
    """Counters before the commit."""
    round: int = 1
    """How many batches led to this one, itself included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A form being filled in."""

    id: str
    """``form_…``"""
    form: str
    """The form's id."""
    form_version: int
    subject: str
    status: InstanceStatus
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Rises with every commit."""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """By field id; also of fields that the form no longer has."""
    revision_seq: int = 0
    occurrences: Mapping[str, int] = field(default_factory=dict)
    """How often each hook has risen."""
    dispatches: Mapping[str, Dispatch] = field(default_factory=dict)
    """By idempotency key."""
    pending: Mapping[str, Batch] = field(default_factory=dict)
    """Executors that have not all run yet, by batch id, in order."""
    blocked_on: str | None = None
    """The checkpoint that is waited for."""
    open_step: str | None = None
    """The step jumped to."""
    closed_reason: str | None = None
    completed_at: datetime | None = None
