"""What a person allowed in a conversation in a database."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import Connection, select

from agents.core.store import Permission
from agents.stores.permissions import permission_key
from agents.stores.sql.codec import as_key
from agents.stores.sql.row import ConversationRow, upsert
from agents.stores.sql.schema import permissions as table

__all__ = ["SqlPermissions"]


class SqlPermissions(ConversationRow):
    """Remembers what a person allowed."""

    async def get_permission(self, tool_name: str, input_args: Any = None) -> Permission:
        """Tell what was decided."""
        key = as_key(permission_key(tool_name, input_args))
        rows = await self._database.read(
            select(table.c.status).where(table.c.conversation == self._identifier, table.c.key == key)
        )
        return cast(Permission, rows[0].status) if rows else "unset"

    async def set_permission(self, tool_name: str, status: Permission, input_args: Any = None) -> None:
        """Keep a decision."""
        key = as_key(permission_key(tool_name, input_args))
        row = {"conversation": self._identifier, "key": key, "status": status}

        def work(connection: Connection) -> None:
            self._lock(connection)
            connection.execute(upsert(self._database.dialect, table, row, update=("status",)))

        await self._database.write(work)
