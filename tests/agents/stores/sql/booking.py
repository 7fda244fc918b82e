"""A small agent that books, for tests in which its process dies or is not alone; what runs in other processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import Engine, Pool, event

import agents.stores.sql.postgres  # noqa: F401 - for processes forked from one that imported this
from agents.core.errors import ConflictError
from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.messages import Message, ToolCall, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.store import Store
from agents.core.tools import Tool, ToolContext
from agents.stores.sql.conversations import SqlConversations

# Children are forked from a server that has imported everything: a fresh interpreter for each would take minutes.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    ["tests.agents.stores.sql.booking", "tests.agents.stores.sql.filling", "tests.agents.concierge.warmth"]
)

ROOMS = ("red", "blue")
DONE = "Both are booked."

Moment = Literal["before", "after"]
Where = Literal["response", "tool"]


class Room(BaseModel):
    room: str


class Careful:
    """A model that books each room of which it is not told that it is booked, both at once, and then says so."""

    name = "careful"

    def __init__(self) -> None:
        self.calls = 0
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        booked = {
            result.result.data
            for message in request.messages
            for result in message.tool_results
            if result.result.status == "success"
        }
        missing = [room for room in ROOMS if room not in booked]
        yield TextChunk(text="Let me book. " if missing else DONE)
        for room in missing:
            self.calls += 1
            yield ToolCalled(call=ToolCall(id=f"call_{self.calls}", tool_name="book", input_args={"room": room}))
        yield ModelFinished(usage=Usage(tokens_in=10, tokens_out=1))


def agent(store: Store, ledger: Path) -> Glove:
    """Make it; every booking is a line in the ledger."""

    def book(given: Room, ctx: ToolContext) -> str:
        with ledger.open("a") as file:
            file.write(f"{given.room} {ctx.idempotency_key}\n")
        return given.room

    glove = Glove(model=Careful(), store=store)
    return glove.fold(Tool(name="book", description="Books a room.", input=Room, do=book))


def die_in_a_request(url: str, conversation: str, ledger: Path, moment: Moment, nth: int) -> None:
    """Hold a request and be killed at its n-th commit: just before it, or as soon as it is done."""

    async def request() -> None:
        async with aclosing(await SqlConversations.connect(url)) as conversations:
            kill_at(moment, nth)
            await agent(conversations.open(conversation), ledger).process_request("Book both rooms.")

    asyncio.run(request())


def append_in_turn(url: str, name: str, rounds: int, together: Barrier) -> None:
    """Append to a conversation on a version that another process appends to as well; try again where it was first."""

    async def append() -> None:
        async with aclosing(await SqlConversations.connect(url)) as conversations:
            mine, notes = conversations.open("shared"), conversations.open(f"notes of {name}")
            for number in range(rounds):
                message = Message(sender="user", text=f"From {name}", id=f"{name}{number}")
                version = (await mine.get_window()).version
                together.wait(30)
                try:
                    await mine.append_messages([message], expected_version=version)
                except ConflictError as conflict:
                    note = f"{conflict.conversation} {conflict.expected} {conflict.found}"
                    await notes.append_messages([Message(sender="user", text=note, id=str(number))])
                    await mine.append_messages([message], expected_version=conflict.found)
                together.wait(30)

    asyncio.run(append())


def overtake(url: str, name: str, where: Where, ledger: Path, together: Barrier) -> None:
    """Hold a request; ``b`` holds all of its own while ``a`` stands still in the middle. Write down what conflicts."""

    def meet() -> None:
        together.wait(30)

    async def requesting() -> None:
        async with aclosing(await SqlConversations.connect(url)) as conversations:
            glove = agent(conversations.open("shared"), ledger)
            glove.add_subscriber(_Notes(conversations.open(f"notes of {name}")))
            if name == "a":
                _stand_still(glove, where, iter([meet, meet]))
                await glove.process_request("From a: book both rooms.")
            else:
                meet()
                await glove.process_request("From b: book both rooms.")
                meet()

    asyncio.run(requesting())


class _Notes:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        if type == "conflict":
            note = Message(sender="user", text=data["notice"], id=f"{data['expected']} {data['found']}")
            await self._store.append_messages([note])


def _stand_still(glove: Glove, where: Where, steps: Iterator[Callable[[], None]]) -> None:
    """Make an agent take steps in the middle of its first response, or of its first booking."""

    class Waiting(Careful):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            async for item in super().stream(request):
                if isinstance(item, ModelFinished):
                    for step in steps:
                        step()
                yield item

    if where == "response":
        glove.model = Waiting()
        return
    (tool,) = (tool for tool in glove.tools if tool.name == "book")

    def book(given: Room, ctx: ToolContext) -> Any:
        for step in steps:
            step()
        return tool.do(given, ctx)

    glove.replace_tools(["book"], [replace(tool, do=book)])


def talk(url: str, name: str, requests: int, ledger: Path, together: Barrier) -> None:
    """Hold requests in a conversation in which another process does so as well."""

    async def requesting() -> None:
        async with aclosing(await SqlConversations.connect(url)) as conversations:
            glove = agent(conversations.open("shared"), ledger)
            together.wait(30)
            for number in range(requests):
                await glove.process_request(f"{name} {number}")

    asyncio.run(requesting())


def kill_at(moment: Moment, nth: int) -> None:
    """Die at the n-th commit from now: just before it, or as soon as it is done."""
    commits = 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @event.listens_for(Engine, "commit")
    def commit(_connection: object) -> None:
        nonlocal commits
        commits += 1
        if moment == "before" and commits == nth:
            die()

    @event.listens_for(Pool, "checkin")
    def checkin(*_: object) -> None:
        if moment == "after" and commits == nth:
            die()
