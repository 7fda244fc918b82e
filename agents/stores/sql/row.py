"""A conversation's own row: it comes into being with the first write, and locks the conversation for a transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.schema import Table

from agents.stores.sql.database import Database
from agents.stores.sql.schema import conversations

__all__ = ["ConversationRow", "Locked", "as_instant", "upsert"]


class Locked(NamedTuple):
    """A conversation whose row this transaction holds."""

    version: int
    messages: int


class ConversationRow:
    """What the parts of a store have in common.

    Args:
        database: where.
        identifier: which conversation.
        owner: the conversation whose sub-agent this is; ``None`` when it is nobody's.
        now: dates the conversation; may be called in any thread.
    """

    def __init__(self, database: Database, identifier: str, *, owner: str | None, now: Callable[[], datetime]) -> None:
        self._database = database
        self._identifier = identifier
        self._owner = owner
        self._now = now

    @property
    def identifier(self) -> str:
        """Which conversation."""
        return self._identifier

    def _instant(self) -> str:
        return as_instant(self._now())

    def _lock(self, connection: Connection) -> Locked:
        """Let nobody else write to the conversation until this transaction ends."""
        wanted = (
            select(conversations.c.version, conversations.c.messages)
            .where(conversations.c.identifier == self._identifier)
            .with_for_update()
        )
        found = connection.execute(wanted).one_or_none()
        if found is None:
            now = self._instant()
            row = {"identifier": self._identifier, "owner": self._owner, "created_at": now, "updated_at": now}
            connection.execute(upsert(self._database.dialect, conversations, row, update=()))
            found = connection.execute(wanted).one()
        return Locked(version=found.version, messages=found.messages)


def as_instant(moment: datetime) -> str:
    """Write a moment so that the order of the text is that of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def upsert(dialect: str, table: Table, row: dict[str, Any], *, update: tuple[str, ...]) -> Insert:
    """Insert a row; where its key is taken change the columns named, or none."""
    make: Any = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = make(table).values(row)
    if update:
        changes = {name: row[name] for name in update}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=changes)
    else:
        statement = statement.on_conflict_do_nothing()
    return cast(Insert, statement)
