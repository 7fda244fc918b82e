"""Everything that is kept of one conversation and outlasts the agent: messages, forms, goals, facts, notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.context.notes import ContextAdapter, MemoryContext
from agents.core.store import Store
from agents.facts.adapter import FactAdapter, MemoryFacts
from agents.forms.adapter import FormAdapter, MemoryForms
from agents.goals.adapter import GoalAdapter, MemoryGoals
from agents.stores.memory import MemoryConversations, MemoryStore

if TYPE_CHECKING:
    from agents.stores.sql.conversations import SqlConversations

__all__ = ["Keeping", "MemoryKeeper", "SqlKeeper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Where an agent keeps a conversation, and what goes with it. The conversation's id names all of it."""

    store: Store
    forms: FormAdapter
    goals: GoalAdapter
    facts: FactAdapter
    context: ContextAdapter

    @property
    def conversation(self) -> str:
        """The conversation's id."""
        return self.store.identifier

    @classmethod
    def in_memory(cls, conversation: str = "memory") -> Keeping:
        """Keep a conversation for as long as this object lives."""
        return cls(
            store=MemoryStore(conversation),
            forms=MemoryForms(),
            goals=MemoryGoals(),
            facts=MemoryFacts(),
            context=MemoryContext(),
        )

    def each(self, wrap: Callable[[Any], Any]) -> Keeping:
        """Put a wrapper around each part: one that leases its work from a clock, say."""
        return Keeping(
            store=wrap(self.store),
            forms=wrap(self.forms),
            goals=wrap(self.goals),
            facts=wrap(self.facts),
            context=wrap(self.context),
        )


class MemoryKeeper:
    """Keeps conversations that end with the process.

    Args:
        keep: how many; the one opened longest ago is forgotten for another.
    """

    def __init__(self, *, keep: int) -> None:
        self.conversations = MemoryConversations(keep=keep)
        self._keep = keep
        self._kept: dict[str, Keeping] = {}

    def open(self, conversation: str) -> Keeping:
        """Give what is kept of a conversation; an unknown one begins."""
        kept = self._kept.pop(conversation, None) or Keeping.in_memory(conversation)
        opened = Keeping(
            store=self.conversations.open(conversation),
            forms=kept.forms,
            goals=kept.goals,
            facts=kept.facts,
            context=kept.context,
        )
        self._kept[conversation] = opened
        if len(self._kept) > self._keep:
            del self._kept[next(iter(self._kept))]
        return opened

    async def delete(self, conversation: str) -> bool:
        """Forget a conversation and what goes with it.

        Returns:
            Whether there was one.
        """
        self._kept.pop(conversation, None)
        return await self.conversations.delete(conversation)

    async def aclose(self) -> None:
        """Forget them all. Idempotent."""
        self._kept.clear()
        await self.conversations.aclose()


class SqlKeeper:
    """Keeps conversations in a database.

    Args:
        conversations: those of an open database; closed with the keeper.
    """

    def __init__(self, conversations: SqlConversations) -> None:
        self.conversations = conversations

    @classmethod
    async def connect(cls, url: str) -> SqlKeeper:
        """Open a database; see :meth:`Database.connect` for URLs and errors."""
        from agents.stores.sql.conversations import SqlConversations

        return cls(await SqlConversations.connect(url))

    def open(self, conversation: str) -> Keeping:
        """Give what is kept of a conversation; nothing is read or written yet."""
        from agents.stores.sql.context import SqlContext
        from agents.stores.sql.facts import SqlFacts
        from agents.stores.sql.forms import SqlForms
        from agents.stores.sql.goals import SqlGoals

        database = self.conversations.database
        return Keeping(
            store=self.conversations.open(conversation),
            forms=SqlForms(database, conversation),
            goals=SqlGoals(database),
            facts=SqlFacts(database),
            context=SqlContext(database, conversation),
        )

    async def delete(self, conversation: str) -> bool:
        """Delete a conversation and what goes with it.

        Returns:
            Whether there was one.
        """
        from agents.stores.sql.forgetting import forget

        await forget(self.conversations.database, conversation)
        return await self.conversations.delete(conversation)

    async def aclose(self) -> None:
        """Close the database. Idempotent."""
        await self.conversations.aclose()
