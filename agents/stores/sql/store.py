"""One conversation in a database, with every group of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, func, insert, select, update

from agents.core.errors import ConflictError
from agents.core.messages import Message, Settlement, ToolResult, Usage
from agents.core.store import Store, Window
from agents.stores.memory import MemoryStore
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.database import Database
from agents.stores.sql.inbox import SqlInbox
from agents.stores.sql.permissions import SqlPermissions
from agents.stores.sql.row import upsert
from agents.stores.sql.schema import conversations, messages, results, settlements
from agents.stores.sql.tasks import SqlTasks
from agents.stores.sql.window import MESSAGE, SETTLEMENT, Seen

__all__ = ["SqlStore"]

RESULT = Codec(ToolResult)


class SqlStore(SqlTasks, SqlPermissions, SqlInbox):
    """One conversation. Several stores, also in several processes, may be open on it at the same time.

    Args:
        database: where.
        identifier: which conversation.
        owner: the conversation whose sub-agent this is.
        now: dates the conversation; may be called in any thread.
    """

    def __init__(
        self, database: Database, identifier: str, *, owner: str | None = None, now: Callable[[], datetime]
    ) -> None:
        super().__init__(database, identifier, owner=owner, now=now)
        self._seen = Seen()

    async def get_messages(self) -> list[Message]:
        """All messages in order."""
        rows = await self._database.read(
            select(messages.c.payload).where(messages.c.conversation == self._identifier).order_by(messages.c.version)
        )
        return [MESSAGE.read(row.payload) for row in rows]

    async def get_window(self) -> Window:
        """The last compaction and what came after it; only what this store has not read yet is read."""
        before = self._seen
        seen = before.merge(await self._database.read(before.query(self._identifier)))
        if seen is None:
            before = Seen()
            seen = before.merge(await self._database.read(before.query(self._identifier))) or before
        self._seen = seen
        return seen.window()

    async def append_messages(
        self, messages: Sequence[Message], *, expected_version: int | None = None, usage: Usage | None = None
    ) -> int:
        """Add messages at the end, those that are not there yet."""
        wanted: dict[str, tuple[Message, str]] = {}
        for message in messages:
            if not message.id:
                raise ValueError("a message has no id; every message needs an id of its own")
            entry = (message, MESSAGE.write(message))
            if wanted.setdefault(as_key(message.id), entry) != entry:
                raise ConflictError(self._identifier, found=await self._version(), message_id=message.id)
        if not wanted:
            return await self._version()
        counted = {} if usage is None else {**_tokens(usage), "turns": conversations.c.turns + 1}
        return await self._database.write(
            lambda connection: self._append(connection, wanted, expected_version, counted)
        )

    async def get_settlements(self) -> dict[str, Settlement]:
        """What was heard, by message id."""
        rows = await self._database.read(
            select(settlements.c.payload).where(settlements.c.conversation == self._identifier)
        )
        return {settlement.message_id: settlement for settlement in (SETTLEMENT.read(row.payload) for row in rows)}

    async def settle(self, message_id: str, heard: str, interrupted: bool) -> None:
        """Record what was heard of a message."""
        payload = SETTLEMENT.write(Settlement(message_id=message_id, heard=heard, interrupted=interrupted))

        def work(connection: Connection) -> None:
            version = self._lock(connection).version + 1
            row = {
                "conversation": self._identifier,
                "message_version": self._version_of(connection, message_id),
                "version": version,
                "payload": payload,
            }
            connection.execute(upsert(self._database.dialect, settlements, row, update=("version", "payload")))
            self._change(connection, version=version)

        await self._database.write(work)

    async def add_tokens(self, usage: Usage) -> None:
        """Count what a model call used."""
        await self._count(**_tokens(usage))

    async def get_token_count(self) -> int:
        """Tokens used since the last reset."""
        return await self._number(conversations.c.tokens)

    async def get_token_consumption(self) -> Usage:
        """Everything counted since the conversation began."""
        columns = conversations.c
        rows = await self._database.read(
            select(columns.tokens_in, columns.tokens_out, columns.cache_read, columns.cache_creation).where(
                columns.identifier == self._identifier
            )
        )
        if not rows:
            return Usage()
        return Usage(
            tokens_in=rows[0].tokens_in,
            tokens_out=rows[0].tokens_out,
            cache_read_input_tokens=rows[0].cache_read,
            cache_creation_input_tokens=rows[0].cache_creation,
        )

    async def increment_turn(self) -> None:
        """Count a model response."""
        await self._count(turns=conversations.c.turns + 1)

    async def get_turn_count(self) -> int:
        """Model responses since the last reset."""
        return await self._number(conversations.c.turns)

    async def reset_counters(self) -> None:
        """Set both counts to zero."""
        await self._count(tokens=0, turns=0)

    async def record_result(self, message_id: str, result: ToolResult) -> None:
        """Keep the result of a call."""
        payload = RESULT.write(result)

        def work(connection: Connection) -> None:
            row = {
                "conversation": self._identifier,
                "message_version": self._version_of(connection, message_id),
                "call_id": as_key(result.call_id),
                "payload": payload,
            }
            connection.execute(upsert(self._database.dialect, results, row, update=()))

        await self._database.write(work)

    async def get_results(self, message_id: str) -> dict[str, ToolResult]:
        """Results recorded of a message's calls."""
        rows = await self._database.read(
            select(results.c.payload)
            .join(
                messages,
                (messages.c.conversation == results.c.conversation) & (messages.c.version == results.c.message_version),
            )
            .where(messages.c.conversation == self._identifier, messages.c.message_id == as_key(message_id))
        )
        return {result.call_id: result for result in (RESULT.read(row.payload) for row in rows)}

    async def create_sub_agent_store(self, namespace: str, durable: bool = False) -> Store:
        """Make a store for an agent that works for this one; one that is not durable lies in memory."""
        name = f"{self._identifier}__{namespace}"
        if not durable:
            return MemoryStore(f"{name}__{uuid4().hex}", now=self._now)
        return SqlStore(self._database, name, owner=self._owner or self._identifier, now=self._now)

    def _append(
        self,
        connection: Connection,
        wanted: dict[str, tuple[Message, str]],
        expected_version: int | None,
        counted: dict[str, Any],
    ) -> int:
        locked = self._lock(connection)
        stored = connection.execute(
            select(messages.c.message_id, messages.c.payload).where(
                messages.c.conversation == self._identifier, messages.c.message_id.in_(wanted)
            )
        )
        for key, payload in stored.all():
            message, written = wanted.pop(key)
            if payload != written:
                raise ConflictError(self._identifier, found=locked.version, message_id=message.id)
        if not wanted:
            return locked.version
        if expected_version is not None and expected_version != locked.version:
            raise ConflictError(self._identifier, found=locked.version, expected=expected_version)
        rows = [
            {"conversation": self._identifier, "version": version, "message_id": key, "payload": payload}
            for version, (key, (_, payload)) in enumerate(wanted.items(), start=locked.version + 1)
        ]
        connection.execute(insert(messages), rows)
        changes: dict[str, Any] = {
            "version": locked.version + len(rows),
            "messages": locked.messages + len(rows),
            "updated_at": self._instant(),
            **counted,
        }
        compactions = [
            row["version"] for row, (message, _) in zip(rows, wanted.values(), strict=True) if message.is_compaction
        ]
        if compactions:
            changes["compacted_at"] = compactions[-1]
        self._change(connection, **changes)
        return locked.version + len(rows)

    async def _count(self, **values: Any) -> None:
        def work(connection: Connection) -> None:
            if not self._change(connection, **values):
                self._lock(connection)
                self._change(connection, **values)

        await self._database.write(work)

    def _change(self, connection: Connection, **values: Any) -> bool:
        """Change the conversation's row, if there is one."""
        changed = connection.execute(
            update(conversations).where(conversations.c.identifier == self._identifier).values(values)
        )
        return bool(changed.rowcount)

    async def _version(self) -> int:
        return await self._number(conversations.c.version)

    async def _number(self, column: Any) -> int:
        rows = await self._database.read(select(column).where(conversations.c.identifier == self._identifier))
        return int(rows[0][0]) if rows else 0

    def _version_of(self, connection: Connection, message_id: str) -> int:
        version = connection.scalar(
            select(messages.c.version).where(
                messages.c.conversation == self._identifier, messages.c.message_id == as_key(message_id)
            )
        )
        if version is None:
            raise KeyError(message_id)
        return int(version)


def _tokens(usage: Usage) -> dict[str, Any]:
    """How a conversation's row changes when a model call has used so much."""
    columns = conversations.c
    changes: dict[str, Any] = {
        "tokens": columns.tokens + usage.tokens_in + usage.tokens_out,
        "tokens_in": columns.tokens_in + usage.tokens_in,
        "tokens_out": columns.tokens_out + usage.tokens_out,
    }
    if usage.cache_read_input_tokens is not None:
        changes["cache_read"] = func.coalesce(columns.cache_read, 0) + usage.cache_read_input_tokens
    if usage.cache_creation_input_tokens is not None:
        changes["cache_creation"] = func.coalesce(columns.cache_creation, 0) + usage.cache_creation_input_tokens
    return changes
