"""What the agent loop itself costs: a chat request with one tool call, the model's time not counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager
from itertools import cycle, islice
from statistics import median

from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.model import ModelEvent
from agents.core.pace import UNPACED, Work
from agents.core.tools import Tool
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from tests.bench.figure import Figure

__all__ = ["figures", "own_share_ms"]

AIM_MS = 2.0
REQUESTS = 200
TOOLS = 12
"""As many as an agent with a form and goals has."""


class Place(BaseModel):
    city: str


class _Stopwatch:
    """A pace that keeps the time spent waiting for the model."""

    def __init__(self) -> None:
        self.model_s = 0.0

    def now(self) -> float:
        return time.perf_counter()

    async def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
        while True:
            asked = time.perf_counter()
            event = await anext(events, None)
            self.model_s += time.perf_counter() - asked
            if event is None:
                return
            yield event

    def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
        return UNPACED.tool(name)


def own_share_ms() -> list[float]:
    """Measure requests of one conversation that grows: milliseconds each, the model's own subtracted."""
    return asyncio.run(_requests())


async def _requests() -> list[float]:
    call = ScriptedCall(name="tool_0", input={"city": "Graz"})
    answers: list[ScriptedResponse] = [[call], ["In Graz ", "it will ", "rain."]]
    model = ScriptedModel(islice(cycle(answers), 2 * REQUESTS))
    glove = Glove(model=model).fold(
        *(Tool(name=f"tool_{n}", description="", input=Place, do=lambda place, ctx: "rain") for n in range(TOOLS))
    )
    glove.add_context_provider(lambda signal: "It is Tuesday.")
    shares = []
    for _ in range(REQUESTS):
        watch = _Stopwatch()
        began = time.perf_counter()
        await glove.begin("What will the weather be like?", pace=watch).run()
        shares.append((time.perf_counter() - began - watch.model_s) * 1000)
    return shares


def figures() -> Iterator[Figure]:
    """Measure the loop's own share."""
    shares = sorted(own_share_ms())
    yield Figure(
        what="chat request, our share, p50",
        aim=f"≤ {AIM_MS:g} ms",
        measured=f"{median(shares):.2f} ms",
        good=median(shares) <= AIM_MS,
        how=f"one tool call of {TOOLS} tools, in memory, {REQUESTS} requests of one conversation, model subtracted",
    )
    yield Figure(
        what="chat request, our share, p99",
        measured=f"{shares[int(len(shares) * 0.99)]:.2f} ms",
        how="the same; history grows to 800 messages meanwhile",
    )
