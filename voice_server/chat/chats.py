"""The chats of a server: opened when somebody writes or follows, ended when nobody does any more, drained.

Above: the routes. Below: each is a :class:`~voice_server.chat.chat.Chat`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

from pipelines.clock import Clock
from voice_server.chat.chat import KEPT, Chat
from voice_server.clients.events import ChatReady
from voice_server.clients.stream import EventStream
from voice_server.conversations import Conversation, Conversations
from voice_server.settings import Settings

__all__ = ["IDLE", "LIMIT", "BusyError", "Chats"]

LIMIT = 500
"""Chats that somebody follows or that are being answered: beyond it a process has too many connections anyway."""

IDLE = 64
"""Chats in which nothing is going on and that nobody follows, kept for whoever comes back; the one left longest ago is
ended for another."""

NUMBERS = 100_000
"""Event numbers set aside for every message and settlement of a conversation: more than a model can tell about one."""


class BusyError(Exception):
    """There are as many chats as are taken."""


class Chats:
    """All chats there are.

    Args:
        settings: what clients are told of the agent.
        conversations: what chats go on with.
        clock: real.
        group: in which messages are answered.
    """

    def __init__(
        self, settings: Settings, conversations: Conversations, clock: Clock, group: asyncio.TaskGroup
    ) -> None:
        self._agent = settings.agent
        self._conversations = conversations
        self._clock = clock
        self._group = group
        self._chats: dict[str, tuple[Chat, AsyncExitStack]] = {}
        self._draining = False

    def __len__(self) -> int:
        return len(self._chats)

    def __iter__(self) -> Iterator[Chat]:
        return iter([chat for chat, _ in self._chats.values()])

    def find(self, identifier: str) -> Chat | None:
        """Find a conversation's chat, if it has one now."""
        found = self._chats.get(identifier)
        return None if found is None else found[0]

    async def open(self, identifier: str) -> Chat:
        """Find or begin a conversation's chat; write or follow at once, for until then nothing keeps it.

        Raises:
            BusyError: there are too many, or the server is going away.
            StoreError: the conversation cannot be read.
        """
        if (found := self.find(identifier)) is not None:
            return found
        store = await self._conversations.read(identifier)
        version = 0 if store is None else (await store.get_window()).version
        async with AsyncExitStack() as stack:
            conversation = await stack.enter_async_context(self._conversations.join(identifier))
            if (found := self.find(identifier)) is not None:
                return found
            self._make_room()
            chat = self._begin(conversation, behind=version * NUMBERS)
            self._chats[identifier] = chat, stack.pop_all()
            return chat

    async def end(self, identifier: str) -> None:
        """End a conversation's chat, if nothing is going on in it and nobody follows."""
        if (chat := self.find(identifier)) is not None and chat.idle:
            await self._take(chat).aclose()

    def abort_all(self) -> None:
        """Stop all answers."""
        for chat in self:
            chat.abort()

    async def drain(self, seconds: float) -> None:
        """Begin no more, let answers end that are being made, stop them when it takes too long, and let everybody go.

        Idempotent.
        """
        self._draining = True
        for chat in self:
            chat.retire()
        try:
            async with asyncio.timeout(seconds):
                await self._settle()
        except TimeoutError:
            self.abort_all()
            await self._settle()
        while self._chats:
            await self._take(next(iter(self))).aclose()

    async def _settle(self) -> None:
        for chat in self:
            await chat.settle()

    def _make_room(self) -> None:
        if self._draining:
            raise BusyError("the server is going away; come back to another one, or in a while")
        if len(self) - len(self._idle()) >= LIMIT:
            raise BusyError(f"there are {LIMIT} chats, as many as are taken; try again later")

    def _idle(self) -> list[Chat]:
        """Those in which nothing is going on, the one left longest ago first."""
        return sorted((chat for chat in self if chat.idle), key=lambda chat: chat.left_at)

    def _trim(self) -> None:
        for chat in self._idle()[:-IDLE]:
            self._over(chat)

    def _begin(self, conversation: Conversation, *, behind: int) -> Chat:
        return Chat(
            conversation,
            EventStream(conversation.id, self._clock.now, behind=behind, keep=KEPT),
            ChatReady(conversation=conversation.id, agent=self._agent, model=self._conversations.model, turn=None),
            clock=self._clock,
            group=self._group,
            idle=self._trim,
            over=self._over,
        )

    def _over(self, chat: Chat) -> None:
        if self.find(chat.id) is chat:
            self._group.create_task(self._take(chat).aclose(), name=f"end chat {chat.id}")

    def _take(self, chat: Chat) -> AsyncExitStack:
        """Take a chat out; what remains to be done is to leave the conversation."""
        _, stack = self._chats.pop(chat.id)
        chat.close()
        return stack
