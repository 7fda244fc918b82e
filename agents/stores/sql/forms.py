"""Forms in a database: revisions are only added, beside a row for the instance that is written over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    Select,
    insert,
    literal,
    select,
    union_all,
    update,
)

from agents.forms.adapter import Commit, apply_commit
from agents.forms.errors import FormConflictError, FormNotFoundError
from agents.forms.record import Dispatch, Entry, Instance, InstanceStatus, Revision
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.database import Database
from agents.stores.sql.row import as_instant, upsert
from agents.stores.sql.schema import form_dispatches as dispatches
from agents.stores.sql.schema import form_revisions as revisions
from agents.stores.sql.schema import forms as table

__all__ = ["SqlForms"]


@dataclass(frozen=True, slots=True)
class _Place:
    cursor: int
    length: int


@dataclass(frozen=True, slots=True)
class _Cursors:
    """Where each field stands."""

    places: dict[str, _Place] = field(default_factory=dict)


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


class SqlForms:
    """The forms of one namespace; several processes may write to the same ones.

    Args:
        database: where.
        namespace: whose they are, from an identity that is trusted.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = as_key(namespace)

    async def create(self, instance: Instance) -> None:
        """Keep a new instance."""
        lengths = {field_id: _Place(entry.cursor, len(entry.revisions)) for field_id, entry in instance.entries.items()}
        row = {
            "namespace": self._namespace,
            "instance": as_key(instance.id),
            "subject": as_key(instance.subject),
            "form": as_key(instance.form),
            **_changing(instance, lengths),
        }
        answers = self._answers(
            instance.id, ((name, one) for name, entry in instance.entries.items() for one in entry.revisions)
        )
        lines = [self._line(instance.id, key, dispatch) for key, dispatch in instance.dispatches.items()]

        def work(connection: Connection) -> None:
            if not connection.execute(upsert(self._database.dialect, table, row, update=())).rowcount:
                found = connection.scalar(select(table.c.version).where(*self._at(instance.id))) or 0
                raise FormConflictError(instance.id, 0, found)
            self._add(connection, answers, lines)

        await self._database.write(work)

    async def get(self, instance_id: str) -> Instance | None:
        """Read an instance."""
        rows = await self._database.read(self._whole([as_key(instance_id)]))
        return next(iter(_instances(rows)), None)

    async def find(
        self,
        *,
        subject: str,
        form: str | None = None,
        statuses: Collection[InstanceStatus] | None = None,
        limit: int = 10,
    ) -> list[Instance]:
        """Read the instances of a subject, those first that were written to last."""
        wanted = (
            select(table.c.instance)
            .where(table.c.namespace == self._namespace, table.c.subject == as_key(subject))
            .order_by(table.c.updated_at.desc(), table.c.instance)
            .limit(limit)
        )
        if form is not None:
            wanted = wanted.where(table.c.form == as_key(form))
        if statuses is not None:
            wanted = wanted.where(table.c.status.in_(sorted(status.value for status in statuses)))
        found = _instances(await self._database.read(self._whole(wanted)))
        return sorted(found, key=lambda instance: instance.updated_at, reverse=True)

    async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
        """Apply a commit to an instance that is at a version."""
        answers = self._answers(instance_id, ((name, one) for name, new in commit.appended.items() for one in new))
        lines = [self._line(instance_id, key, dispatch) for key, dispatch in commit.dispatches.items()]
        head = replace(commit, appended={}, cursors={}, dispatches={})
        wanted = select(table.c.version, table.c.cursors, table.c.payload).where(*self._at(instance_id))

        def work(connection: Connection) -> None:
            found = connection.execute(wanted.with_for_update()).one_or_none()
            if found is None:
                raise _unknown(instance_id)
            if found.version != if_version:
                raise FormConflictError(instance_id, if_version, found.version)
            after = apply_commit(INSTANCE.read(found.payload), head)
            places = _moved(CURSORS.read(found.cursors).places, commit)
            connection.execute(update(table).where(*self._at(instance_id)).values(_changing(after, places)))
            self._add(connection, answers, lines)

        await self._database.write(work)

    async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
        """Keep a line of the journal."""
        line = self._line(instance_id, key, dispatch)

        def work(connection: Connection) -> None:
            if connection.scalar(select(table.c.version).where(*self._at(instance_id))) is None:
                raise _unknown(instance_id)
            self._add(connection, [], [line])

        await self._database.write(work)

    def _at(self, instance_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return table.c.namespace == self._namespace, table.c.instance == as_key(instance_id)

    def _whole(self, ids: Select[Any] | list[str]) -> CompoundSelect[Any]:
        """Ask for all that is kept of instances; one statement, one moment.

        Rows are ``(instance, kind, seq, cursors, written)``.
        """
        rows = [
            (table, "i", literal(0), table.c.cursors),
            (revisions, "r", revisions.c.seq, literal("")),
            (dispatches, "d", literal(0), literal("")),
        ]
        return union_all(
            *(
                select(
                    kept.c.instance,
                    literal(kind).label("kind"),
                    seq.label("seq"),
                    cursors.label("cursors"),
                    kept.c.payload.label("written"),
                ).where(kept.c.namespace == self._namespace, kept.c.instance.in_(ids))
                for kept, kind, seq, cursors in rows
            )
        )

    def _answers(self, instance_id: str, answers: Iterable[tuple[str, Revision]]) -> list[dict[str, Any]]:
        return [
            {
                "namespace": self._namespace,
                "instance": as_key(instance_id),
                "seq": revision.seq,
                "payload": ANSWER.write(_Answer(name, revision)),
            }
            for name, revision in answers
        ]

    def _line(self, instance_id: str, key: str, dispatch: Dispatch) -> dict[str, Any]:
        return {
            "namespace": self._namespace,
            "instance": as_key(instance_id),
            "key": as_key(key),
            "payload": LINE.write(_Line(key, dispatch)),
        }

    def _add(self, connection: Connection, answers: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
        if answers:
            connection.execute(insert(revisions), answers)
        for line in lines:
            connection.execute(upsert(self._database.dialect, dispatches, line, update=("payload",)))


def _changing(instance: Instance, places: dict[str, _Place]) -> dict[str, Any]:
    """The columns of an instance that commits change."""
    return {
        "status": instance.status.value,
        "version": instance.version,
        "updated_at": as_instant(instance.updated_at),
        "cursors": CURSORS.write(_Cursors(places)),
        "payload": INSTANCE.write(replace(instance, entries={}, dispatches={})),
    }


def _moved(places: dict[str, _Place], commit: Commit) -> dict[str, _Place]:
    moved = dict(places)
    for name, cursor in commit.cursors.items():
        length = places.get(name, _Place(-1, 0)).length + len(commit.appended.get(name, ()))
        moved[name] = _Place(max(-1, min(cursor, length - 1)), length)
    return moved


def _instances(rows: Sequence[Row[Any]]) -> list[Instance]:
    """Put rows together."""
    answers: dict[str, list[Row[Any]]] = defaultdict(list)
    lines: dict[str, dict[str, Dispatch]] = defaultdict(dict)
    for row in rows:
        if row.kind == "r":
            answers[row.instance].append(row)
        elif row.kind == "d":
            line = LINE.read(row.written)
            lines[row.instance][line.key] = line.dispatch
    return [
        replace(
            INSTANCE.read(row.written),
            entries=_entries(CURSORS.read(row.cursors).places, answers[row.instance]),
            dispatches=lines[row.instance],
        )
        for row in rows
        if row.kind == "i"
    ]


def _entries(places: dict[str, _Place], rows: list[Row[Any]]) -> dict[str, Entry]:
    found: dict[str, list[Revision]] = defaultdict(list)
    for row in sorted(rows, key=lambda one: int(one.seq)):
        answer = ANSWER.read(row.written)
        found[answer.field].append(answer.revision)
    return {name: Entry(revisions=tuple(found[name]), cursor=place.cursor) for name, place in places.items()}


def _unknown(instance_id: str) -> FormNotFoundError:
    return FormNotFoundError(f"there is no form instance {instance_id!r}")
