"""Facts in a database."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select, update

from agents.facts.record import FactScope, FactState
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.database import Database
from agents.stores.sql.row import upsert
from agents.stores.sql.schema import facts as table

__all__ = ["SqlFacts"]

STATE = Codec(FactState)


class SqlFacts:
    """The facts of any number of scopes; several processes may write to them.

    Args:
        database: where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, scope: FactScope) -> FactState:
        """Read all facts of a scope."""
        rows = await self._database.read(select(table.c.payload).where(table.c.scope == _key(scope)))
        return STATE.read(rows[0].payload) if rows else FactState()

    async def save(self, scope: FactScope, state: FactState) -> bool:
        """Replace a scope's state by that of the next version."""
        row = {"scope": _key(scope), "version": state.version, "payload": STATE.write(state)}
        before = (table.c.scope == row["scope"], table.c.version == state.version - 1)

        def work(connection: Connection) -> bool:
            if state.version == 1:
                return bool(connection.execute(upsert(self._database.dialect, table, row, update=())).rowcount)
            return bool(connection.execute(update(table).where(*before).values(row)).rowcount)

        return await self._database.write(work)


def _key(scope: FactScope) -> str:
    return as_key(json.dumps([scope.subject, scope.context], separators=(",", ":")))
