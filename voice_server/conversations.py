"""The conversations of a server: who is in one shares its agent, and what is kept of it outlives them.

Above: calls and chats join. Below: the agent's factory, one model for the process, one database.
"""

from __future__ import annotations

import os
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Self

from agents.core.glove import Glove
from agents.core.model import Model, close_model
from agents.core.store import Conversation as Kept
from agents.core.store import Store
from agents.display import DisplayManager
from agents.models.providers import create_model
from agents.stores.keeping import Keeping, MemoryKeeper, SqlKeeper
from voice_server.loading import Wanted, load_factory, make_glove
from voice_server.settings import MEMORY, Settings

__all__ = ["Conversation", "Conversations"]

RESTING = 32
"""Conversations nobody is in whose agents are kept, slow tools and all; an older one's is ended, and made anew when
somebody comes back to it."""

REMEMBERED = 1_000
"""Conversations kept in memory, where there is no database: some ten megabytes."""


class Conversation:
    """A conversation that somebody is in.

    Attributes:
        id: names what is durable.
        agent: whom they talk to; one for all who are in it, which answers one message at a time.
    """

    def __init__(self, identifier: str, agent: Glove) -> None:
        self.id = identifier
        self.agent = agent
        self.present = 0
        """How many are in it."""
        self._screens = 0

    @contextmanager
    def screen(self) -> Iterator[DisplayManager]:
        """Have a screen: what the agent shows can be seen and answered. Several look at the same slots.

        When the last one goes, whoever waits for an answer is told.
        """
        display = self.agent.display or DisplayManager()
        self.agent.display = display
        self._screens += 1
        try:
            yield display
        finally:
            self._screens -= 1
            if self._screens == 0:
                self.agent.display = None


class Conversations:
    """Opens and lists conversations. Make it with :meth:`connect`; close it in the end.

    Args:
        keeper: where they are kept.
        model: what every agent thinks with; closed with the conversations.
        make: makes an agent for one.
        thinks: what agents think with, where they bring their own.

    Attributes:
        thinks: what agents think with.
    """

    def __init__(
        self,
        keeper: MemoryKeeper | SqlKeeper,
        model: Model,
        make: Callable[[Model, Keeping, Wanted], Glove],
        thinks: Model | None = None,
    ) -> None:
        self.thinks = thinks or model
        self._keeper = keeper
        self._model = model
        self._make = make
        self._open: dict[str, Conversation] = {}
        self._resting: OrderedDict[str, Conversation] = OrderedDict()
        """Those nobody is in, the one left longest ago first."""

    @classmethod
    async def connect(cls, settings: Settings) -> Self:
        """Open the database, and make the model and, to find mistakes now, an agent.

        Raises:
            ConfigurationError: the model cannot be had, or the database's URL is none.
            StoreError: the database cannot be used.
            UsageError: the agent cannot be had.
        """
        model = create_model(settings.model, os.environ)

        def make(model: Model, keeping: Keeping, wanted: Wanted) -> Glove:
            spec = wanted.spec(settings.agent, settings.agents)
            return make_glove(spec, model, keeping, wanted.inputs).build()

        trial = make(model, Keeping.in_memory(), Wanted())
        for spec in settings.agents.values():
            load_factory(spec)
        in_memory = settings.database == MEMORY
        keeper = MemoryKeeper(keep=REMEMBERED) if in_memory else await SqlKeeper.connect(settings.database)
        return cls(keeper, model, make, trial.model)

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model.name

    @asynccontextmanager
    async def join(self, identifier: str | None = None, wanted: Wanted | None = None) -> AsyncIterator[Conversation]:
        """Take part in a conversation; it is there for as long as somebody does, and a while longer.

        Args:
            identifier: which; ``None``, or one that was never heard of, begins a new one.
            wanted: who answers, unless there is somebody already.

        Raises:
            StoreError: the database cannot be used.
            UsageError: nobody of that name is there, or they cannot be had.
        """
        conversation = self._enter(identifier or uuid.uuid4().hex, wanted or Wanted())
        try:
            if identifier is not None and conversation.present == 1:
                await conversation.agent.recall()
            yield conversation
        finally:
            await self._leave(conversation)

    async def list_conversations(self, limit: int = 100, before: datetime | None = None) -> list[Kept]:
        """List what is kept, the latest first."""
        return await self._keeper.conversations.list_conversations(limit, before)

    def agent(self, identifier: str) -> Glove | None:
        """Give the agent of a conversation that somebody is in or has left a while ago."""
        there = self._open.get(identifier) or self._resting.get(identifier)
        return None if there is None else there.agent

    async def read(self, identifier: str) -> Store | None:
        """Give the store of a conversation, to read in it; ``None`` when there is no such conversation.

        Raises:
            StoreError: the database cannot be used.
        """
        if (agent := self.agent(identifier)) is not None:
            return agent.store
        return self._keeper.conversations.open(identifier) if await self._keeper.conversations.has(identifier) else None

    def present(self, identifier: str) -> int:
        """How many are in a conversation."""
        return 0 if (there := self._open.get(identifier)) is None else there.present

    async def delete(self, identifier: str) -> bool:
        """Delete a conversation that nobody is in, and what goes with it, for good.

        Returns:
            Whether there was one.

        Raises:
            StoreError: the database cannot be used.
        """
        if (resting := self._resting.pop(identifier, None)) is not None:
            await self._end(resting)
        return await self._keeper.delete(identifier)

    async def aclose(self) -> None:
        """End all agents, waiting for what may not be ended, and close the database and the model. Idempotent."""
        try:
            while self._resting:
                await self._end(self._resting.popitem(last=False)[1])
            while self._open:
                await self._end(self._open.popitem()[1])
        finally:
            await self._keeper.aclose()
            await close_model(self._model)

    def _enter(self, identifier: str, wanted: Wanted) -> Conversation:
        conversation = self._open.get(identifier) or self._resting.pop(identifier, None)
        if conversation is None:
            agent = self._make(self._model, self._keeper.open(identifier), wanted)
            conversation = Conversation(identifier, agent)
        self._open[identifier] = conversation
        conversation.present += 1
        return conversation

    async def _leave(self, conversation: Conversation) -> None:
        conversation.present -= 1
        if conversation.present or self._open.pop(conversation.id, None) is None:
            return
        self._resting[conversation.id] = conversation
        while len(self._resting) > RESTING:
            await self._end(self._resting.popitem(last=False)[1])

    async def _end(self, conversation: Conversation) -> None:
        await conversation.agent.aclose()
