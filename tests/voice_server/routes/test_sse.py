"""How a stream leaves, on virtual time: pings, clients that go, clients that take nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest

from tests.agents.core.scenes import talking
from tests.voice_server.chat.event_source import EventSource
from tests.voice_server.chat.test_chats import Lounge, play
from voice_server.chat.chat import Chat
from voice_server.clients.events import CallerTurn
from voice_server.clients.stream import EventStream
from voice_server.routes.sse import PING_EVERY_S, STUCK_S, EventResponse, write_event

Message = MutableMapping[str, Any]


class _Client:
    """The other end of a connection."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.gone = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()

    async def send(self, message: Message) -> None:
        await self.takes.wait()
        self.messages.append(message)

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    @property
    def source(self) -> EventSource:
        source = EventSource()
        for message in self.messages:
            list(source.feed(message.get("body", b"")))
        return source


def _served(story: Callable[[Lounge, Chat, _Client, asyncio.Task[None]], Awaitable[None]]) -> None:
    async def run(lounge: Lounge) -> None:
        chat, client = await lounge.chats.open("ann"), _Client()
        response = EventResponse(chat, chat.follow(None), lounge.clock)
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(response({}, client.receive, client.send))
            await asyncio.sleep(1)
            await story(lounge, chat, client, sending)
        assert chat.stream.readers == 0

    play(lambda: talking()[0], run)


def test_a_quiet_stream_is_pinged_until_its_client_goes() -> None:
    async def story(lounge: Lounge, chat: Chat, client: _Client, sending: asyncio.Task[None]) -> None:
        await asyncio.sleep(4 * PING_EVERY_S)
        assert client.source.comments == [" ping"] * 4
        client.gone.set()
        await sending
        assert client.messages[0]["status"] == 200

    _served(story)


def test_a_stream_ends_with_its_chat() -> None:
    async def story(lounge: Lounge, chat: Chat, client: _Client, sending: asyncio.Task[None]) -> None:
        await lounge.chats.drain(0)
        await sending
        assert client.messages[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
        assert b"draining" in client.messages[-2]["body"]

    _served(story)


def test_a_client_that_takes_nothing_is_given_up() -> None:
    async def story(lounge: Lounge, chat: Chat, client: _Client, sending: asyncio.Task[None]) -> None:
        client.takes.clear()
        chat.stream.tell(CallerTurn(turn=0, text="?"))
        began = lounge.clock.now()
        await sending
        assert lounge.clock.now() - began == pytest.approx(STUCK_S, abs=1)

    _served(story)


def test_an_event_is_one_block_whatever_is_in_it() -> None:
    stream = EventStream("c", lambda: 0.0)
    text = "one\r\n\r\ndata: two\u2028\x00\ud800"
    source = EventSource()
    (message,) = source.feed(write_event(stream.tell(CallerTurn.model_construct(turn=0, text=text))))
    assert message.type == "turn" and source.last_event_id == "1"
    assert message.data["text"] == "one\r\n\r\ndata: two\u2028\x00?"
