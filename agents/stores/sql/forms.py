"""Forms in a database: revisions are only added, beside a row for the instance that is written over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    Table,
    TextClause,
    bindparam,
    insert,
    literal,
    or_,
    select,
    text,
    union_all,
    update,
)

from agents.forms.adapter import Commit, Lease, apply_commit
from agents.forms.errors import FormConflictError, FormNotFoundError
from agents.forms.record import Dispatch, Entry, Instance, InstanceStatus, Revision
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.database import Database
from agents.stores.sql.leases import give_up, lease_batches, take
from agents.stores.sql.row import as_instant, upsert
from agents.stores.sql.schema import form_dispatches as dispatches
from agents.stores.sql.schema import form_revisions as revisions
from agents.stores.sql.schema import forms as table

__all__ = ["SqlForms"]


@dataclass(frozen=True, slots=True)
class _Cursors:
    """Which revision of each field is in force."""

    places: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A row of the revisions."""

    field: str
    revision: Revision


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the journal."""

    key: str
    dispatch: Dispatch


INSTANCE = Codec(Instance)
CURSORS = Codec(_Cursors)
ANSWER = Codec(_Answer)
LINE = Codec(_Line)


_HEADS = "SELECT instance, version, journal FROM glove_forms WHERE namespace = :namespace"
"""What tells whether an instance is as it was. Text: putting a query together costs more than running this one."""

_HERE = (table.c.namespace == bindparam("at_namespace"), table.c.instance == bindparam("at_instance"))
_CHANGE = (
    update(table)
    .where(*_HERE, table.c.version == bindparam("if_version"))
    .values({name: bindparam(name) for name in ("status", "version", "updated_at", "cursors", "payload")})
)
_COUNT = update(table).where(*_HERE).values(journal=table.c.journal + 1)
_VERSION = select(table.c.version).where(*_HERE)
_ADD = insert(revisions)


def _rows(kept: Table, kind: str, number: Any, cursors: Any) -> Select[Any]:
    return select(
        kept.c.instance,
        literal(kind).label("kind"),
        number.label("number"),
        cursors.label("cursors"),
        kept.c.payload.label("written"),
    )


_ROWS = {
    "i": _rows(table, "i", table.c.journal, table.c.cursors),
    "r": _rows(revisions, "r", revisions.c.seq, literal("")),
    "d": _rows(dispatches, "d", literal(0), literal("")),
}


@dataclass(frozen=True, slots=True)
class _Seen:
    """An instance as it was read, and how often its journal had been written to then."""

    instance: Instance
    journal: int


SEEN = 4
"""Instances that are remembered; revisions are only added, so that what was read of them need not be read again."""


class SqlForms:
    """The forms of one namespace; several processes may write to the same ones.

    Args:
        database: where.
        namespace: whose they are, from an identity that is trusted.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = as_key(namespace)
        self._seen: dict[str, _Seen] = {}

    async def create(self, instance: Instance, *, lease: Lease | None = None) -> None:
        """Keep a new instance."""
        row = {
            "namespace": self._namespace,
            "instance": as_key(instance.id),
            "subject": as_key(instance.subject),
            "form": as_key(instance.form),
            **_columns(instance),
        }
        appended = {field_id: entry.revisions for field_id, entry in instance.entries.items()}
        answers, lines = self._answers(instance.id, appended), self._lines(instance.id, instance.dispatches)
        here = self._at(instance.id)

        def work(connection: Connection) -> None:
            if not connection.execute(upsert(self._database.dialect, table, row, update=())).rowcount:
                raise FormConflictError(instance.id, 0, connection.scalar(_VERSION, here) or 0)
            self._add(connection, answers, lines)
            lease_batches(connection, here, gone=(), lease=lease)

        await self._database.write(work)
        self._remember(instance, 0)

    async def get(self, instance_id: str) -> Instance | None:
        """Read an instance."""
        heads = text(f"{_HEADS} AND instance = :instance")
        found = await self._read(heads.bindparams(namespace=self._namespace, instance=as_key(instance_id)))
        return next(iter(found), None)

    async def find(
        self,
        *,
        subject: str,
        form: str | None = None,
        statuses: Collection[InstanceStatus] | None = None,
        limit: int = 10,
    ) -> list[Instance]:
        """Read the instances of a subject, those first that were written to last."""
        given: dict[str, Any] = {"namespace": self._namespace, "subject": as_key(subject), "limit": limit}
        heads = f"{_HEADS} AND subject = :subject"
        if form is not None:
            heads += " AND form = :form"
            given["form"] = as_key(form)
        if statuses is not None:
            heads += f" AND status IN ({', '.join(repr(status.value) for status in statuses) or 'NULL'})"
        heads += " ORDER BY updated_at DESC, instance LIMIT :limit"
        return await self._read(text(heads).bindparams(**given))

    async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
        """Apply a commit to an instance that is at a version."""
        known = self._seen.get(as_key(instance_id))
        if known is None or known.instance.version != if_version:
            if await self.get(instance_id) is None:
                raise _unknown(instance_id)
            known = self._seen[as_key(instance_id)]
        after = apply_commit(known.instance, commit)
        answers, lines = self._answers(instance_id, commit.appended), self._lines(instance_id, commit.dispatches)
        here = self._at(instance_id)
        change = {**here, "if_version": if_version, **_columns(after)}

        def work(connection: Connection) -> None:
            if not connection.execute(_CHANGE, change).rowcount:
                found = connection.scalar(_VERSION, here)
                if found is None:
                    raise _unknown(instance_id)
                raise FormConflictError(instance_id, if_version, found)
            self._add(connection, answers, lines)
            gone = [batch_id for batch_id, batch in commit.pending.items() if batch is None]
            lease_batches(connection, here, gone=gone, lease=commit.lease)

        await self._database.write(work)
        self._remember(after, known.journal)

    async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
        """Keep a line of the journal."""
        lines = self._lines(instance_id, {key: dispatch})
        here = self._at(instance_id)

        def work(connection: Connection) -> None:
            if not connection.execute(_COUNT, here).rowcount:
                raise _unknown(instance_id)
            self._add(connection, [], lines)

        await self._database.write(work)

    async def claim(self, instance_id: str, lease: Lease, *, now: datetime) -> bool:
        """Take a batch, or renew the lease of one's own."""
        here = self._at(instance_id)

        def work(connection: Connection) -> bool:
            if connection.scalar(_VERSION, here) is None:
                raise _unknown(instance_id)
            return take(connection, here, lease, now)

        return await self._database.write(work)

    async def release(self, instance_id: str, batch_id: str, *, owner: str) -> None:
        """Give up a batch."""
        here = self._at(instance_id)
        await self._database.write(lambda connection: give_up(connection, here, batch_id, owner))

    def _at(self, instance_id: str) -> dict[str, str]:
        return {"at_namespace": self._namespace, "at_instance": as_key(instance_id)}

    async def _read(self, heads: TextClause) -> list[Instance]:
        """Read instances, and of those that were seen only what is new."""
        rows = await self._database.read(heads)
        seen = dict(self._seen)  # As it is now: others read and write meanwhile.
        known = {
            row.instance: one.instance
            for row in rows
            if (one := seen.get(row.instance)) and (one.instance.version, one.journal) == (row.version, row.journal)
        }
        if new := [row.instance for row in rows if row.instance not in known]:
            known |= await self._read_new(new, seen)
        return [known[row.instance] for row in rows]

    async def _read_new(self, keys: list[str], seen: Mapping[str, _Seen]) -> dict[str, Instance]:
        """Read instances, in one statement and so at one moment, without the revisions that were seen."""
        parts = [
            _ROWS[kind].where(kept.c.namespace == self._namespace, kept.c.instance.in_(keys))
            for kind, kept in (("i", table), ("r", revisions), ("d", dispatches))
        ]
        for key in keys:
            if key in seen:
                old = seen[key].instance.revision_seq
                parts[1] = parts[1].where(or_(revisions.c.instance != key, revisions.c.seq > old))
        answers: dict[str, list[_Answer]] = defaultdict(list)
        lines: dict[str, dict[str, Dispatch]] = defaultdict(dict)
        heads: list[Row[Any]] = []
        for row in sorted(await self._database.read(union_all(*parts)), key=lambda one: int(one.number)):
            match row.kind:
                case "i":
                    heads.append(row)
                case "r":
                    answers[row.instance].append(ANSWER.read(row.written))
                case "d":
                    line = LINE.read(row.written)
                    lines[row.instance][line.key] = line.dispatch
        found = {}
        for head in heads:
            key = head.instance
            found[key] = _put_together(seen.get(key), head, answers[key], lines[key])
            self._remember(found[key], head.number)
        return found

    def _remember(self, instance: Instance, journal: int) -> None:
        key = as_key(instance.id)
        known = self._seen.pop(key, None)
        newer = known is not None and known.instance.version > instance.version
        self._seen[key] = known if known is not None and newer else _Seen(instance, journal)
        if len(self._seen) > SEEN:
            del self._seen[next(iter(self._seen))]

    def _answers(self, instance_id: str, appended: Mapping[str, Sequence[Revision]]) -> list[dict[str, Any]]:
        return [
            {
                "namespace": self._namespace,
                "instance": as_key(instance_id),
                "seq": revision.seq,
                "payload": ANSWER.write(_Answer(name, revision)),
            }
            for name, added in appended.items()
            for revision in added
        ]

    def _lines(self, instance_id: str, journal: Mapping[str, Dispatch]) -> list[dict[str, Any]]:
        return [
            {
                "namespace": self._namespace,
                "instance": as_key(instance_id),
                "key": as_key(key),
                "payload": LINE.write(_Line(key, dispatch)),
            }
            for key, dispatch in journal.items()
        ]

    def _add(self, connection: Connection, answers: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
        if answers:
            connection.execute(_ADD, answers)
        for line in lines:
            connection.execute(upsert(self._database.dialect, dispatches, line, update=("payload",)))


def _columns(instance: Instance) -> dict[str, Any]:
    """The columns of an instance that commits change."""
    places = {field_id: entry.cursor for field_id, entry in instance.entries.items()}
    return {
        "status": instance.status.value,
        "version": instance.version,
        "updated_at": as_instant(instance.updated_at),
        "cursors": CURSORS.write(_Cursors(places)),
        "payload": INSTANCE.write(replace(instance, entries={}, dispatches={})),
    }


def _put_together(
    seen: _Seen | None, head: Row[Any], answers: Iterable[_Answer], lines: dict[str, Dispatch]
) -> Instance:
    found: dict[str, tuple[Revision, ...]] = defaultdict(tuple)
    if seen is not None:
        found.update((name, entry.revisions) for name, entry in seen.instance.entries.items())
    for answer in answers:
        found[answer.field] += (answer.revision,)
    places = CURSORS.read(head.cursors).places
    entries = {name: Entry(revisions=found[name], cursor=cursor) for name, cursor in places.items()}
    return replace(INSTANCE.read(head.written), entries=entries, dispatches=lines)


def _unknown(instance_id: str) -> FormNotFoundError:
    return FormNotFoundError(f"there is no form instance {instance_id!r}")
