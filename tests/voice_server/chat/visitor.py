"""A server on a loopback port, in the test's own loop, and somebody who talks to it over HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
from pydantic import SecretStr

from agents.core.glove import Glove
from pipelines.vad.energy import EnergyModel
from tests.voice_server.chat.agents import AGENT, answered_by
from tests.voice_server.chat.event_source import EventSource, Message
from voice_server.house import House
from voice_server.serve import SEND_BUFFER, server
from voice_server.service import Front, Readiness
from voice_server.settings import load_settings

__all__ = ["SILENT", "Stream", "Visitor", "visiting"]


SILENT = House(vad=EnergyModel(), recognizer=cast(Any, None), synthesizer=cast(Any, None), phrases={})
"""A house in which nobody calls: it hears and speaks with nothing."""


class Stream:
    """An open stream of events."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.source = EventSource()
        self.seen: list[Message] = []
        self._chunks = response.aiter_raw()
        self._waiting: list[Message] = []

    @property
    def last_event_id(self) -> str:
        return self.source.last_event_id

    async def next(self) -> Message | None:
        """The next event; ``None`` at the end of the stream."""
        while not self._waiting:
            try:
                chunk = await asyncio.wait_for(anext(self._chunks), 10)
            except StopAsyncIteration:
                return None
            self._waiting.extend(self.source.feed(chunk))
        self.seen.append(self._waiting.pop(0))
        return self.seen[-1]

    async def until(self, wanted: Callable[[Message], bool]) -> Message:
        """Read up to an event."""
        while (message := await self.next()) is not None:
            if wanted(message):
                return message
        raise AssertionError(f"the stream ended: {[message.text for message in self.seen]}")

    async def until_type(self, type: str) -> Message:
        return await self.until(lambda message: message.type == type)

    async def rest(self) -> list[Message]:
        """Read to the end; everything that was ever read."""
        while await self.next() is not None:
            pass
        return self.seen

    @property
    def conversation(self) -> str:
        return str(self.seen[0].data["conversation"])

    @property
    def text(self) -> str:
        return "".join(message.data["text"] for message in self.seen if message.type == "text")


class Visitor:
    """Talks to a server."""

    def __init__(self, http: httpx2.AsyncClient, front: Front, port: int) -> None:
        self.http = http
        self.front = front
        self.port = port

    @asynccontextmanager
    async def saying(self, text: str, **fields: Any) -> AsyncIterator[Stream]:
        async with self.http.stream("POST", "/api/chat", json={"text": text, **fields}) as response:
            assert response.status_code == 200, await response.aread()
            yield Stream(response)

    @asynccontextmanager
    async def following(
        self, conversation: str, last_event_id: str | None = None, **query: str
    ) -> AsyncIterator[Stream]:
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        path = f"/api/chat/{conversation}/events"
        async with self.http.stream("GET", path, headers=headers, params=query) as response:
            assert response.status_code == 200, await response.aread()
            yield Stream(response)

    async def say(self, text: str, **fields: Any) -> list[Message]:
        """Say something and read the answer to its end."""
        async with self.saying(text, **fields) as stream:
            return await stream.rest()

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        response = await self.http.request(method, path, json=body)
        return response.status_code, response.json() if response.content else None


@asynccontextmanager
async def visiting(
    make: Callable[[], Glove] | None = None, *, database: Path | None = None, key: str | None = None, **settings: Any
) -> AsyncIterator[Visitor]:
    """Serve and be a client of it: no engines, for nobody calls.

    Args:
        make: makes agents; the desk with the offline model by default.
        database: a file; in memory by default.
        key: the server's, which the client sends.
        settings: the server's.
    """
    wanted = load_settings(
        model="offline",
        agent=AGENT if make else "agents.desk:create",
        database=None if database is None else f"sqlite:///{database}",
    ).model_copy(update={"drain_s": 0.0, "key": SecretStr(key) if key else None, **settings})
    front = Front(wanted, load=lambda _: SILENT)
    # By its full name, for asyncio sends at once only on what it knows to be TCP.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    running = server(front)
    ready = asyncio.Event()
    front._watch = lambda front: ready.set()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with listening, answered_by(make or _nobody):
        async with asyncio.TaskGroup() as group:
            group.create_task(running.serve(sockets=[listening]))
            await ready.wait()
            assert front.readiness is Readiness.READY, front.reason
            base = f"http://127.0.0.1:{port}"
            async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=20, trust_env=False) as http:
                try:
                    yield Visitor(http, front, port)
                finally:
                    running.should_exit = True


def _nobody() -> Glove:
    raise AssertionError("nobody was to answer")
