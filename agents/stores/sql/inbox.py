"""The inbox of a conversation in a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from agents.core.store import InboxItem, InboxStatus
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.row import ConversationRow
from agents.stores.sql.schema import inbox as table
from agents.stores.zones import check_zone

__all__ = ["SqlInbox"]

ITEM = Codec(InboxItem)


class SqlInbox(ConversationRow):
    """Keeps what was asked of the world outside."""

    async def get_inbox_items(self, status: InboxStatus | None = None) -> list[InboxItem]:
        """Items in the order added."""
        query = select(table.c.payload).where(table.c.conversation == self._identifier).order_by(table.c.position)
        rows = await self._database.read(query if status is None else query.where(table.c.status == status))
        return [ITEM.read(row.payload) for row in rows]

    async def add_inbox_item(self, item: InboxItem) -> None:
        """Add an item."""
        check_zone(item.created_at, item.resolved_at)
        row = {
            "conversation": self._identifier,
            "item_id": as_key(item.id),
            "status": item.status,
            "payload": ITEM.write(item),
        }

        def work(connection: Connection) -> None:
            self._lock(connection)
            stored = self._find(connection, item.id)
            if stored == item:
                return
            if stored is not None:
                raise ValueError(f"inbox item id {item.id!r} is taken; give every item an id of its own")
            last = connection.scalar(select(func.max(table.c.position)).where(table.c.conversation == self._identifier))
            connection.execute(insert(table).values({**row, "position": (last or 0) + 1}))

        await self._database.write(work)

    async def update_inbox_item(
        self,
        item_id: str,
        *,
        status: InboxStatus | None = None,
        response: str | None = None,
        resolved_at: datetime | None = None,
    ) -> InboxItem:
        """Change what is given."""
        check_zone(resolved_at)
        given = {"status": status, "response": response, "resolved_at": resolved_at}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}

        def work(connection: Connection) -> InboxItem:
            self._lock(connection)
            stored = self._find(connection, item_id)
            if stored is None:
                raise KeyError(item_id)
            item = replace(stored, **changes)
            connection.execute(
                update(table).where(self._at(item_id)).values(status=item.status, payload=ITEM.write(item))
            )
            return item

        return await self._database.write(work)

    async def get_resolved_inbox_items(self) -> list[InboxItem]:
        """Items that are answered and not consumed."""
        return await self.get_inbox_items("resolved")

    def _find(self, connection: Connection, item_id: str) -> InboxItem | None:
        payload = connection.scalar(select(table.c.payload).where(self._at(item_id)))
        return None if payload is None else ITEM.read(payload)

    def _at(self, item_id: str) -> Any:
        return (table.c.conversation == self._identifier) & (table.c.item_id == as_key(item_id))
