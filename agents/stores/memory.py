"""Conversations kept in memory: gone with the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from agents.core.errors import ConflictError
from agents.core.messages import Message, Settlement, ToolResult, Usage
from agents.core.store import Conversation, InboxItem, InboxStatus, Permission, Task, TaskStatus, Window
from agents.stores.permissions import permission_key
from agents.stores.zones import check_zone

__all__ = ["MemoryConversations", "MemoryStore"]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemoryStore:
    """The store for tests, and for calls that need not outlive the process. It has every group.

    Args:
        identifier: which conversation.
        now: dates the conversation.
    """

    def __init__(self, identifier: str = "memory", *, now: Callable[[], datetime] = _utc_now) -> None:
        self._identifier = identifier
        self._now = now
        self._messages: list[Message] = []
        self._by_id: dict[str, Message] = {}
        self._compacted_at = 0
        self._version = 0
        self._dates: tuple[datetime, datetime] | None = None
        self._settlements: dict[str, Settlement] = {}
        self._results: dict[str, dict[str, ToolResult]] = {}
        self._used = Usage()
        self._tokens = 0
        self._turns = 0
        self._tasks: dict[str, Task] = {}
        self._permissions: dict[str, Permission] = {}
        self._inbox: dict[str, InboxItem] = {}
        self._sub_agents: dict[str, MemoryStore] = {}
        self._sub_agent_numbers = count(1)

    @property
    def identifier(self) -> str:
        """Which conversation."""
        return self._identifier

    @property
    def summary(self) -> Conversation | None:
        """The conversation's line in a list; ``None`` while nothing was said."""
        if self._dates is None:
            return None
        created, updated = self._dates
        return Conversation(
            identifier=self._identifier, messages=len(self._messages), created_at=created, updated_at=updated
        )

    async def get_messages(self) -> list[Message]:
        """All messages in order."""
        return list(self._messages)

    async def get_window(self) -> Window:
        """The last compaction and what came after it."""
        messages = tuple(self._messages[self._compacted_at :])
        heard = {message.id: self._settlements[message.id] for message in messages if message.id in self._settlements}
        return Window(version=self._version, messages=messages, settlements=heard)

    async def append_messages(
        self, messages: Sequence[Message], *, expected_version: int | None = None, usage: Usage | None = None
    ) -> int:
        """Add messages at the end, those that are not there yet."""
        fresh: dict[str, Message] = {}
        for message in messages:
            if not message.id:
                raise ValueError("a message has no id; every message needs an id of its own")
            known = self._by_id.get(message.id) or fresh.setdefault(message.id, message)
            if known != message:
                raise ConflictError(self._identifier, found=self._version, message_id=message.id)
        if not fresh:
            return self._version
        if expected_version is not None and expected_version != self._version:
            raise ConflictError(self._identifier, found=self._version, expected=expected_version)
        for message in fresh.values():
            if message.is_compaction:
                self._compacted_at = len(self._messages)
            self._messages.append(message)
        self._by_id.update(fresh)
        self._version += len(fresh)
        now = self._now()
        self._dates = (self._dates[0] if self._dates else now, now)
        if usage is not None:
            await self.add_tokens(usage)
            await self.increment_turn()
        return self._version

    async def get_settlements(self) -> dict[str, Settlement]:
        """What was heard, by message id."""
        return dict(self._settlements)

    async def settle(self, message_id: str, heard: str, interrupted: bool) -> None:
        """Record what was heard of a message."""
        if message_id not in self._by_id:
            raise KeyError(message_id)
        self._settlements[message_id] = Settlement(message_id=message_id, heard=heard, interrupted=interrupted)
        self._version += 1

    async def add_tokens(self, usage: Usage) -> None:
        """Count what a model call used."""
        self._tokens += usage.tokens_in + usage.tokens_out
        self._used += usage

    async def get_token_count(self) -> int:
        """Tokens used since the last reset."""
        return self._tokens

    async def get_token_consumption(self) -> Usage:
        """Everything counted since the conversation began."""
        return self._used

    async def increment_turn(self) -> None:
        """Count a model response."""
        self._turns += 1

    async def get_turn_count(self) -> int:
        """Model responses since the last reset."""
        return self._turns

    async def reset_counters(self) -> None:
        """Set both counts to zero."""
        self._tokens = 0
        self._turns = 0

    async def record_result(self, message_id: str, result: ToolResult) -> None:
        """Keep the result of a call."""
        if message_id not in self._by_id:
            raise KeyError(message_id)
        self._results.setdefault(message_id, {}).setdefault(result.call_id, result)

    async def get_results(self, message_id: str) -> dict[str, ToolResult]:
        """Results recorded of a message's calls."""
        return dict(self._results.get(message_id, {}))

    async def get_tasks(self) -> list[Task]:
        """All tasks, in order."""
        return list(self._tasks.values())

    async def add_tasks(self, tasks: Sequence[Task]) -> None:
        """Replace the list."""
        by_id = {task.id: task for task in tasks}
        if len(by_id) < len(tasks):
            raise ValueError("two tasks have the same id; give every task an id of its own")
        self._tasks = by_id

    async def update_task(
        self,
        task_id: str,
        *,
        content: str | None = None,
        active_form: str | None = None,
        status: TaskStatus | None = None,
    ) -> Task:
        """Change what is given."""
        given = {"content": content, "active_form": active_form, "status": status}
        self._tasks[task_id] = task = replace(self._tasks[task_id], **_stated(given))
        return task

    async def get_permission(self, tool_name: str, input_args: Any = None) -> Permission:
        """Tell what was decided."""
        return self._permissions.get(permission_key(tool_name, input_args), "unset")

    async def set_permission(self, tool_name: str, status: Permission, input_args: Any = None) -> None:
        """Keep a decision."""
        self._permissions[permission_key(tool_name, input_args)] = status

    async def get_inbox_items(self, status: InboxStatus | None = None) -> list[InboxItem]:
        """Items in the order added."""
        return [item for item in self._inbox.values() if status is None or item.status == status]

    async def add_inbox_item(self, item: InboxItem) -> None:
        """Add an item."""
        check_zone(item.created_at, item.resolved_at)
        if self._inbox.setdefault(item.id, item) != item:
            raise ValueError(f"inbox item id {item.id!r} is taken; give every item an id of its own")

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
        self._inbox[item_id] = item = replace(self._inbox[item_id], **_stated(given))
        return item

    async def get_resolved_inbox_items(self) -> list[InboxItem]:
        """Items that are answered and not consumed."""
        return await self.get_inbox_items("resolved")

    async def create_sub_agent_store(self, namespace: str, durable: bool = False) -> MemoryStore:
        """Make a store for an agent that works for this one."""
        name = f"{self._identifier}__{namespace}"
        if not durable:
            return MemoryStore(f"{name}__{next(self._sub_agent_numbers)}", now=self._now)
        return self._sub_agents.setdefault(namespace, MemoryStore(name, now=self._now))


class MemoryConversations:
    """Any number of conversations, gone with the process.

    Args:
        now: dates them.
        keep: how many; the one opened longest ago is forgotten for another. ``None``: all.
    """

    def __init__(self, *, now: Callable[[], datetime] = _utc_now, keep: int | None = None) -> None:
        self._now = now
        self._keep = keep
        self._stores: dict[str, MemoryStore] = {}

    def open(self, identifier: str) -> MemoryStore:
        """Give the store of a conversation."""
        if not identifier:
            raise ValueError("a conversation needs an identifier")
        store = self._stores.pop(identifier, None) or MemoryStore(identifier, now=self._now)
        self._stores[identifier] = store
        if self._keep is not None and len(self._stores) > self._keep:
            del self._stores[next(iter(self._stores))]
        return store

    async def aclose(self) -> None:
        """Forget them all. Idempotent."""
        self._stores.clear()

    async def list_conversations(self, limit: int = 100, before: datetime | None = None) -> list[Conversation]:
        """List the latest first."""
        lines = [line for store in self._stores.values() if (line := store.summary) is not None]
        older = [line for line in lines if before is None or line.updated_at < before]
        return sorted(older, key=lambda line: line.updated_at, reverse=True)[:limit]

    async def has(self, identifier: str) -> bool:
        """Tell whether anything was said in a conversation."""
        store = self._stores.get(identifier)
        return store is not None and store.summary is not None

    async def delete(self, identifier: str) -> bool:
        """Delete a conversation."""
        store = self._stores.pop(identifier, None)
        return store is not None and store.summary is not None


def _stated(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
