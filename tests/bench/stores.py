"""What keeping a conversation costs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing
from inspect import iscoroutinefunction
from itertools import cycle, islice
from statistics import median
from typing import Any, cast

from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.messages import Message, Usage
from agents.core.store import Store
from agents.core.tools import Tool
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from agents.stores.sql.conversations import SqlConversations
from tests.bench.figure import Figure

__all__ = ["figures"]

LONG = 10_000
RECENT = 20
TURNS = 60


def figures() -> Iterator[Figure]:
    """Measure SQLite, on the disk of the temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/conversations.db"
        asyncio.run(_fill(url))
        opening = median(asyncio.run(_open(url)) for _ in range(9)) * 1000
        yield Figure(
            what="a conversation of 10,000 opens in",
            aim="≤ 50 ms",
            measured=f"{opening:.0f} ms",
            good=opening <= 50,
            how=f"SQLite file to window of {RECENT} messages after a compaction, database opened anew, median of 9",
        )
        short, long = (cost * 1000 for cost in asyncio.run(_turns(url)))
        yield Figure(
            what="a turn in it",
            aim="as in a short one",
            measured=f"{long:.1f} ms ({short:.1f})",
            good=long <= 1.2 * short,
            how=f"(short one); two messages, window, tokens, turn, what was heard; synced; medians of {TURNS}",
        )
        yield _request(url)


def _request(url: str) -> Figure:
    seconds, operations = asyncio.run(_requests(url))
    return Figure(
        what="a request with a tool call",
        measured=f"{seconds * 1000:.1f} ms, {operations:.0f} operations",
        how=f"two model responses that take no time, a tool that does not either; SQLite, synced; median of {TURNS}",
    )


async def _fill(url: str) -> None:
    async with aclosing(await SqlConversations.connect(url)) as place:
        store = place.open("long")
        await store.append_messages([_message(number) for number in range(LONG)])
        await place.open("short").append_messages([_message(number) for number in range(LONG - RECENT, LONG)])


async def _open(url: str) -> float:
    began = time.perf_counter()
    async with aclosing(await SqlConversations.connect(url)) as place:
        window = await place.open("long").get_window()
        took = time.perf_counter() - began
    assert len(window.messages) == RECENT
    return took


async def _turns(url: str) -> tuple[float, float]:
    async with aclosing(await SqlConversations.connect(url)) as place:
        stores = place.open("short"), place.open("long")
        costs: tuple[list[float], list[float]] = ([], [])
        for number in range(TURNS):
            for store, cost in zip(stores, costs, strict=True):  # by turns, so that a busy moment meets both
                cost.append(await _turn(store, number))
    return median(costs[0]), median(costs[1])


async def _turn(store: Store, number: int) -> float:
    began = time.perf_counter()
    await store.append_messages([Message(sender="user", text="And then?", id=f"u{number}")])
    await store.get_window()
    answer = Message(sender="agent", text="Then we shall see.", id=f"a{number}")
    await store.append_messages([answer], usage=Usage(tokens_in=1_000, tokens_out=20))
    await store.settle(f"a{number}", "Then we", True)
    return time.perf_counter() - began


class _Counted:
    """Hands on what a store has, and counts what it does."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.operations = 0

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        return self._counted(attribute) if iscoroutinefunction(attribute) else attribute

    def _counted(self, operation: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            self.operations += 1
            return await operation(*args, **kwargs)

        return counted


class _Place(BaseModel):
    city: str


async def _requests(url: str) -> tuple[float, float]:
    """Hold requests with a tool call; the model takes no time. Return the seconds and the operations of one."""
    call = ScriptedCall(name="weather", input={"city": "Graz"})
    answers: list[ScriptedResponse] = [[call], "It will rain."]
    model = ScriptedModel(islice(cycle(answers), 2 * TURNS))
    weather = Tool(name="weather", description="", input=_Place, do=lambda place, ctx: "rain")
    took = []
    async with aclosing(await SqlConversations.connect(url)) as place:
        store = _Counted(place.open("requests"))
        glove = Glove(model=model, store=cast(Store, store)).fold(weather).build()
        for _ in range(TURNS):
            began = time.perf_counter()
            await glove.process_request("What will the weather be like?")
            took.append(time.perf_counter() - began)
    return median(took), store.operations / TURNS


def _message(number: int) -> Message:
    return Message(
        sender="agent" if number % 2 else "user",
        text=f"Something that was said, number {number}, about as long as a sentence on the phone is.",
        id=f"m{number}",
        is_compaction=number == LONG - RECENT,
    )
