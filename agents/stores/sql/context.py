"""Standing notes in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlalchemy import Connection, select, update

from agents.context.notes import ContextEntry
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.database import Database
from agents.stores.sql.row import upsert
from agents.stores.sql.schema import context as table

__all__ = ["SqlContext"]

ENTRIES = Codec(tuple[ContextEntry, ...])


class SqlContext:
    """The notes of one namespace; several processes may change them.

    Args:
        database: where.
        namespace: whose they are, from an identity that is trusted.
    """

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._key = as_key(namespace)

    async def read(self) -> list[ContextEntry]:
        """Read all."""
        rows = await self._database.read(select(table.c.payload).where(table.c.namespace == self._key))
        return list(ENTRIES.read(rows[0].payload)) if rows else []

    async def change(self, change: Callable[[tuple[ContextEntry, ...]], Iterable[ContextEntry]]) -> list[ContextEntry]:
        """Put what a function makes of the entries in their place; nobody else writes meanwhile."""

        def work(connection: Connection) -> list[ContextEntry]:
            row = {"namespace": self._key, "payload": ENTRIES.write(())}
            connection.execute(upsert(self._database.dialect, table, row, update=()))
            here = table.c.namespace == self._key
            found = connection.execute(select(table.c.payload).where(here).with_for_update()).one()
            entries = tuple(change(ENTRIES.read(found.payload)))
            connection.execute(update(table).where(here).values(payload=ENTRIES.write(entries)))
            return list(entries)

        return await self._database.write(work)
