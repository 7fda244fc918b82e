"""All conversations of one database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, or_, select

from agents.core.store import Conversation
from agents.stores.sql.database import Database
from agents.stores.sql.row import as_instant
from agents.stores.sql.schema import conversations
from agents.stores.sql.store import SqlStore

__all__ = ["IDENTIFIER_LIMIT", "SqlConversations"]

IDENTIFIER_LIMIT = 500
"""Characters of an identifier, those of sub-agents included."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqlConversations:
    """Lists, opens and deletes conversations. Make it with :meth:`connect`; close it when done.

    Args:
        database: where they are.
        now: dates them; may be called in any thread.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._database = database
        self._now = now

    @property
    def database(self) -> Database:
        """Where they are."""
        return self._database

    @classmethod
    async def connect(cls, url: str, *, now: Callable[[], datetime] = _utc_now) -> SqlConversations:
        """Open a database; see :meth:`Database.connect` for URLs and errors."""
        return cls(await Database.connect(url), now=now)

    async def aclose(self) -> None:
        """Close the database; its stores are of no use afterwards. Idempotent."""
        await self._database.aclose()

    def open(self, identifier: str) -> SqlStore:
        """Give the store of a conversation; nothing is read or written yet.

        Raises:
            ValueError: the identifier is empty, too long or not printable.
        """
        if not (0 < len(identifier) <= IDENTIFIER_LIMIT and identifier.isprintable()):
            raise ValueError(
                f"conversation identifier {identifier[:80]!r}: use 1 to {IDENTIFIER_LIMIT} printable characters"
            )
        return SqlStore(self._database, identifier, now=self._now)

    async def list_conversations(self, limit: int = 100, before: datetime | None = None) -> list[Conversation]:
        """List the latest first."""
        columns = conversations.c
        query = (
            select(columns.identifier, columns.messages, columns.created_at, columns.updated_at)
            .where(columns.owner.is_(None), columns.messages > 0)
            .order_by(columns.updated_at.desc(), columns.identifier)
            .limit(limit)
        )
        if before is not None:
            query = query.where(columns.updated_at < as_instant(before))
        return [
            Conversation(
                identifier=row.identifier,
                messages=row.messages,
                created_at=datetime.fromisoformat(row.created_at),
                updated_at=datetime.fromisoformat(row.updated_at),
            )
            for row in await self._database.read(query)
        ]

    async def has(self, identifier: str) -> bool:
        """Tell whether anything was said in a conversation."""
        columns = conversations.c
        query = select(columns.messages).where(columns.identifier == identifier, columns.owner.is_(None))
        return any(row.messages for row in await self._database.read(query))

    async def delete(self, identifier: str) -> bool:
        """Delete a conversation and its sub-agents'."""

        def work(connection: Connection) -> bool:
            here = conversations.c.identifier == identifier
            said = connection.scalar(select(conversations.c.messages).where(here))
            connection.execute(delete(conversations).where(or_(here, conversations.c.owner == identifier)))
            return bool(said)

        return await self._database.write(work)
