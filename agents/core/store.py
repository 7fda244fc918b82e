"""Where a conversation is kept, as the loop needs it.

A store has to be a :class:`Store`. It may be more: each further Protocol here is a group of methods, there when all of
them are. Ask with the function of its name: ``tasks_of(store)`` and so on give the store as that group, or ``None``.
``agents.stores.conformance`` holds what a store must keep to, as checks that any adapter can be run through.

Writes are atomic, and one that began is finished before a cancellation is passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias, cast

from agents.core.messages import Message, Settlement, ToolResult, Usage

__all__ = [
    "Conversation",
    "Conversations",
    "InboxItem",
    "InboxStatus",
    "InboxStore",
    "Permission",
    "PermissionStore",
    "ResultStore",
    "Store",
    "SubAgentStores",
    "Task",
    "TaskStatus",
    "TaskStore",
    "UsageStore",
    "Window",
    "inbox_of",
    "permissions_of",
    "results_of",
    "sub_agents_of",
    "tasks_of",
    "usage_of",
]

Permission: TypeAlias = Literal["unset", "granted", "denied"]
TaskStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
InboxStatus: TypeAlias = Literal["pending", "resolved", "consumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a model may be shown of a conversation, read at one moment."""

    version: int = 0
    """Rises with every message and every settlement; 0 while nothing is stored."""
    messages: tuple[Message, ...] = ()
    """The last compaction and everything after it; everything when there is none."""
    settlements: dict[str, Settlement] = field(default_factory=dict)
    """What was heard of these messages, by message id."""


class Store(Protocol):
    """One conversation. Append-only: nothing that was stored is changed."""

    @property
    def identifier(self) -> str:
        """Which conversation."""
        ...

    async def get_messages(self) -> list[Message]:
        """All messages in order, however old; the list is the caller's own."""
        ...

    async def get_window(self) -> Window:
        """What a model may be shown. Its cost does not depend on what lies before the last compaction."""
        ...

    async def append_messages(
        self, messages: Sequence[Message], *, expected_version: int | None = None, usage: Usage | None = None
    ) -> int:
        """Add messages at the end, all or none.

        A message that is stored already is not stored again, so that repeating an append of which one does not know
        whether it arrived is safe; when all of them are, the expected version does not matter.

        Args:
            messages: each has an id that no other message here has.
            expected_version: the :attr:`Window.version` these messages follow on; ``None`` adds them in any case.
            usage: what the model call used that made them. It is counted with them, as :meth:`add_tokens` and
                :meth:`increment_turn` would, in the same transaction, and like them only once.

        Returns:
            The conversation's version afterwards.

        Raises:
            ValueError: a message has no id.
            ConflictError: the conversation is at another version, or an id belongs to another message; nothing was
                added.
        """
        ...

    async def get_settlements(self) -> dict[str, Settlement]:
        """What was heard, by message id; messages heard whole may be absent."""
        ...

    async def settle(self, message_id: str, heard: str, interrupted: bool) -> None:
        """Record what was heard of an agent message; the latest record of a message holds.

        Raises:
            KeyError: there is no such message.
        """
        ...

    async def add_tokens(self, usage: Usage) -> None:
        """Count what a model call used."""
        ...

    async def get_token_count(self) -> int:
        """Tokens used since the last reset, in and out."""
        ...

    async def increment_turn(self) -> None:
        """Count a model response."""
        ...

    async def get_turn_count(self) -> int:
        """Model responses since the last reset."""
        ...

    async def reset_counters(self) -> None:
        """Set both counts to zero."""
        ...


class UsageStore(Protocol):
    """Knows exactly what a conversation has used."""

    async def get_token_consumption(self) -> Usage:
        """Everything counted since the conversation began, which no reset changes.

        A cache figure is ``None`` while no model call told any.
        """
        ...


class ResultStore(Protocol):
    """Knows which tool calls are done, from the moment each is done: what it did survives a crash of the round."""

    async def record_result(self, message_id: str, result: ToolResult) -> None:
        """Keep the result of a call; the first of a call holds.

        Args:
            message_id: the stored message that made the call, for models number their calls anew now and then.
            result: how it ended.

        Raises:
            KeyError: there is no such message.
        """
        ...

    async def get_results(self, message_id: str) -> dict[str, ToolResult]:
        """Results recorded of a message's calls, by call id; calls without one are absent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An entry of the list the model keeps of its own work."""

    id: str
    content: str
    active_form: str
    """How it reads while it is being done: "booking the flight"."""
    status: TaskStatus = "pending"


class TaskStore(Protocol):
    """Keeps the model's task list."""

    async def get_tasks(self) -> list[Task]:
        """All tasks, in order."""
        ...

    async def add_tasks(self, tasks: Sequence[Task]) -> None:
        """Replace the list.

        Raises:
            ValueError: two tasks have the same id; the list is as it was.
        """
        ...

    async def update_task(
        self,
        task_id: str,
        *,
        content: str | None = None,
        active_form: str | None = None,
        status: TaskStatus | None = None,
    ) -> Task:
        """Change what is given, and leave the rest.

        Returns:
            The task as it is now.

        Raises:
            KeyError: there is no such task.
        """
        ...


class PermissionStore(Protocol):
    """Remembers what a person allowed, per tool and input: leave for one input is none for another."""

    async def get_permission(self, tool_name: str, input_args: Any = None) -> Permission:
        """Tell what was decided; ``unset`` when nothing was."""
        ...

    async def set_permission(self, tool_name: str, status: Permission, input_args: Any = None) -> None:
        """Keep a decision; ``unset`` forgets it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """Something asked of the world outside, and its answer when it has come."""

    id: str
    tag: str
    request: str
    created_at: datetime
    """With a time zone, as all times here."""
    response: str | None = None
    status: InboxStatus = "pending"
    blocking: bool = False
    """Whether what depends on it has to wait."""
    resolved_at: datetime | None = None


class InboxStore(Protocol):
    """Keeps what was asked of the world outside; the world answers through another store of the same conversation."""

    async def get_inbox_items(self, status: InboxStatus | None = None) -> list[InboxItem]:
        """Items in the order added, of one status or all."""
        ...

    async def add_inbox_item(self, item: InboxItem) -> None:
        """Add an item; adding the same again changes nothing.

        Raises:
            ValueError: its id belongs to another item, or a time has no zone.
        """
        ...

    async def update_inbox_item(
        self,
        item_id: str,
        *,
        status: InboxStatus | None = None,
        response: str | None = None,
        resolved_at: datetime | None = None,
    ) -> InboxItem:
        """Change what is given, and leave the rest.

        Returns:
            The item as it is now.

        Raises:
            KeyError: there is no such item.
            ValueError: the time has no zone.
        """
        ...

    async def get_resolved_inbox_items(self) -> list[InboxItem]:
        """Items that are answered and were not shown to the model yet, in the order added."""
        ...


class SubAgentStores(Protocol):
    """Makes stores for agents that work for this one."""

    async def create_sub_agent_store(self, namespace: str, durable: bool = False) -> Store:
        """Make a store whose identifier begins with ``<this identifier>__<namespace>``.

        Args:
            namespace: the sub-agent's name.
            durable: whether the same namespace gives the same conversation again; else every call begins a new one.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A line in a list of conversations."""

    identifier: str
    messages: int
    created_at: datetime
    updated_at: datetime
    """When its latest message was stored."""


class Conversations(Protocol):
    """All conversations of one place, to list, load and switch between; sub-agents' are not among them."""

    def open(self, identifier: str) -> Store:
        """Give the store of a conversation. A new one comes into being with its first write.

        Raises:
            ValueError: the identifier is empty.
        """
        ...

    async def list_conversations(self, limit: int = 100, before: datetime | None = None) -> list[Conversation]:
        """List the latest first.

        Args:
            limit: how many at most.
            before: only those whose latest message is older: the ``updated_at`` a page ended with.
        """
        ...

    async def has(self, identifier: str) -> bool:
        """Tell whether anything was said in a conversation; one that is only asked for does not come into being."""
        ...

    async def delete(self, identifier: str) -> bool:
        """Delete a conversation and its sub-agents', for good.

        Returns:
            Whether there was one.
        """
        ...


def usage_of(store: object) -> UsageStore | None:
    """Give the store as one that knows exactly what was used."""
    return cast(UsageStore, store) if _has(store, UsageStore) else None


def results_of(store: object) -> ResultStore | None:
    """Give the store as one that records results of tool calls."""
    return cast(ResultStore, store) if _has(store, ResultStore) else None


def tasks_of(store: object) -> TaskStore | None:
    """Give the store as one that keeps tasks."""
    return cast(TaskStore, store) if _has(store, TaskStore) else None


def permissions_of(store: object) -> PermissionStore | None:
    """Give the store as one that remembers permissions."""
    return cast(PermissionStore, store) if _has(store, PermissionStore) else None


def inbox_of(store: object) -> InboxStore | None:
    """Give the store as one that has an inbox."""
    return cast(InboxStore, store) if _has(store, InboxStore) else None


def sub_agents_of(store: object) -> SubAgentStores | None:
    """Give the store as one that makes stores for sub-agents."""
    return cast(SubAgentStores, store) if _has(store, SubAgentStores) else None


def _has(store: object, group: type[Any]) -> bool:
    """Whether all methods are there; found by asking, so that a wrapper which hands everything on counts."""
    return all(callable(getattr(store, name, None)) for name in vars(group) if not name.startswith("_"))
