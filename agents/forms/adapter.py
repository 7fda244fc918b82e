"""Where instances are kept: what a store has to do, and one that forgets with the process.

``agents.forms.conformance`` holds what every adapter keeps to, as checks that any can be run through.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from agents.forms.errors import FormConflictError, FormNotFoundError
from agents.forms.record import Batch, Dispatch, Entry, Instance, InstanceStatus, Revision

__all__ = ["Commit", "FormAdapter", "Lease", "MemoryForms", "apply_commit", "commit_between"]

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's right to run a batch of executors, alone."""

    batch: str
    """The batch's id."""
    owner: str
    """The worker's name, unlike any other's."""
    until: datetime
    """From then on others may take the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What one write changes of an instance: all of it happens, or nothing."""

    status: InstanceStatus
    form_version: int
    updated_at: datetime
    revision_seq: int
    blocked_on: str | None
    open_step: str | None
    closed_reason: str | None
    completed_at: datetime | None
    appended: Mapping[str, tuple[Revision, ...]] = field(default_factory=dict)
    """By field, at the end; nothing that is there is ever changed."""
    cursors: Mapping[str, int] = field(default_factory=dict)
    """By field, applied after the appends."""
    occurrences: Mapping[str, int] = field(default_factory=dict)
    """Counters that changed."""
    dispatches: Mapping[str, Dispatch] = field(default_factory=dict)
    """Lines of the journal that changed."""
    pending: Mapping[str, Batch | None] = field(default_factory=dict)
    """Batches that came, and, as ``None``, that went: so do their leases."""
    lease: Lease | None = None
    """Who has the batch that came; ``None``: nobody yet."""


class FormAdapter(Protocol):
    """Keeps instances of any form and subject. What is given and returned is immutable."""

    async def create(self, instance: Instance, *, lease: Lease | None = None) -> None:
        """Keep a new instance.

        Args:
            instance: the instance.
            lease: who has its batch; ``None``: nobody yet.

        Raises:
            FormConflictError: there is one of this id.
        """
        ...

    async def get(self, instance_id: str) -> Instance | None:
        """Read an instance; ``None``: there is none."""
        ...

    async def find(
        self,
        *,
        subject: str,
        form: str | None = None,
        statuses: Collection[InstanceStatus] | None = None,
        limit: int = 10,
    ) -> list[Instance]:
        """Read the instances of a subject, those first that were written to last.

        Args:
            subject: whose.
            form: of this form only.
            statuses: of these only; ``None``: whatever their status.
            limit: how many at most.
        """
        ...

    async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
        """Apply a commit to an instance that is at a version, and raise the version by one: :func:`apply_commit`.

        Raises:
            FormConflictError: it is at another version; nothing was changed.
            FormNotFoundError: there is no such instance.
        """
        ...

    async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
        """Keep a line of the journal; the version stays. The latest line of a key holds.

        Raises:
            FormNotFoundError: there is no such instance.
        """
        ...

    async def claim(self, instance_id: str, lease: Lease, *, now: datetime) -> bool:
        """Take a batch that nobody has, or whose lease ran out; or renew the lease of one's own.

        Whether the batch is still to be run is not looked at: whoever took it reads the instance then.

        Returns:
            Whether the lease's owner has it; if not, another has, and nothing was changed.

        Raises:
            FormNotFoundError: there is no such instance.
        """
        ...

    async def release(self, instance_id: str, batch_id: str, *, owner: str) -> None:
        """Give up a batch; one that is another's, or nobody's, is left as it is."""
        ...


def commit_between(before: Instance, after: Instance) -> Commit:
    """Find what leads from one state of an instance to the next."""
    changed = {
        field_id: entry for field_id, entry in after.entries.items() if before.entries.get(field_id) is not entry
    }
    nothing = Entry()
    appended = {
        field_id: entry.revisions[len(before.entries.get(field_id, nothing).revisions) :]
        for field_id, entry in changed.items()
    }
    gone = {batch_id: None for batch_id in before.pending if batch_id not in after.pending}
    return Commit(
        status=after.status,
        form_version=after.form_version,
        updated_at=after.updated_at,
        revision_seq=after.revision_seq,
        blocked_on=after.blocked_on,
        open_step=after.open_step,
        closed_reason=after.closed_reason,
        completed_at=after.completed_at,
        appended={field_id: revisions for field_id, revisions in appended.items() if revisions},
        cursors={field_id: entry.cursor for field_id, entry in changed.items()},
        occurrences=_changed(before.occurrences, after.occurrences),
        dispatches=_changed(before.dispatches, after.dispatches),
        pending={**_changed(before.pending, after.pending), **gone},
    )


def apply_commit(current: Instance, commit: Commit) -> Instance:
    """Give an instance as it is after a commit that was made for its version."""
    entries = dict(current.entries)
    for field_id, cursor in commit.cursors.items():
        revisions = (*entries.get(field_id, Entry()).revisions, *commit.appended.get(field_id, ()))
        entries[field_id] = Entry(revisions=revisions, cursor=max(-1, min(cursor, len(revisions) - 1)))
    pending: dict[str, Batch | None] = {**current.pending, **commit.pending}
    return replace(
        current,
        version=current.version + 1,
        status=commit.status,
        form_version=commit.form_version,
        updated_at=commit.updated_at,
        revision_seq=commit.revision_seq,
        blocked_on=commit.blocked_on,
        open_step=commit.open_step,
        closed_reason=commit.closed_reason,
        completed_at=commit.completed_at,
        entries=entries,
        occurrences={**current.occurrences, **commit.occurrences},
        dispatches={**current.dispatches, **commit.dispatches},
        pending={batch_id: batch for batch_id, batch in pending.items() if batch is not None},
    )


class MemoryForms:
    """Instances that end with the process."""

    def __init__(self) -> None:
        self._instances: dict[str, Instance] = {}
        self._leases: dict[tuple[str, str], Lease] = {}
        """By instance and batch."""
        self._written: dict[str, None] = {}
        """Ids, the one written to last at the end."""

    async def create(self, instance: Instance, *, lease: Lease | None = None) -> None:
        """Keep a new instance."""
        if instance.id in self._instances:
            raise FormConflictError(instance.id, 0, self._instances[instance.id].version)
        self._keep(instance)
        if lease is not None:
            self._leases[instance.id, lease.batch] = lease

    async def get(self, instance_id: str) -> Instance | None:
        """Read an instance."""
        return self._instances.get(instance_id)

    async def find(
        self,
        *,
        subject: str,
        form: str | None = None,
        statuses: Collection[InstanceStatus] | None = None,
        limit: int = 10,
    ) -> list[Instance]:
        """Read the instances of a subject, those first that were written to last."""
        latest = [self._instances[instance_id] for instance_id in reversed(self._written)]
        latest.sort(key=lambda instance: instance.updated_at, reverse=True)
        return [
            instance
            for instance in latest
            if instance.subject == subject
            and (form is None or instance.form == form)
            and (statuses is None or instance.status in statuses)
        ][:limit]

    async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
        """Apply a commit to an instance that is at a version."""
        current = self._known(instance_id)
        if current.version != if_version:
            raise FormConflictError(instance_id, if_version, current.version)
        self._keep(apply_commit(current, commit))
        for batch_id, batch in commit.pending.items():
            if batch is None:
                self._leases.pop((instance_id, batch_id), None)
        if commit.lease is not None:
            self._leases[instance_id, commit.lease.batch] = commit.lease

    async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
        """Keep a line of the journal."""
        current = self._known(instance_id)
        self._instances[instance_id] = replace(current, dispatches={**current.dispatches, key: dispatch})

    async def claim(self, instance_id: str, lease: Lease, *, now: datetime) -> bool:
        """Take a batch, or renew the lease of one's own."""
        self._known(instance_id)
        held = self._leases.get((instance_id, lease.batch))
        if held is not None and held.owner != lease.owner and held.until > now:
            return False
        self._leases[instance_id, lease.batch] = lease
        return True

    async def release(self, instance_id: str, batch_id: str, *, owner: str) -> None:
        """Give up a batch."""
        held = self._leases.get((instance_id, batch_id))
        if held is not None and held.owner == owner:
            del self._leases[instance_id, batch_id]

    def _keep(self, instance: Instance) -> None:
        self._instances[instance.id] = instance
        self._written.pop(instance.id, None)
        self._written[instance.id] = None

    def _known(self, instance_id: str) -> Instance:
        try:
            return self._instances[instance_id]
        except KeyError:
            raise FormNotFoundError(f"there is no form instance {instance_id!r}") from None


def _changed(before: Mapping[str, V], after: Mapping[str, V]) -> dict[str, V]:
    return {key: value for key, value in after.items() if before.get(key) != value}
