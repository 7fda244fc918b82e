"""A caller's end of a whole call: pipeline, agent and adapter on OpenAI's SDK, the stand-in at the other end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import numpy as np

from agents.core.glove import Glove
from agents.core.tools import Tool
from agents.models.driven import s2s_driven_model
from agents.stores.memory import MemoryStore
from pipelines.events import CallEvent
from pipelines.glove import GloveToolHost
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.settings import RealtimeSettings
from tests.realtime.brisk import BriskClock
from tests.realtime.mind import tone
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.realtime.openai_service.session import Session
from voice_server.transports.recorded import RecordedOutput

__all__ = ["WireLine", "on_the_line"]

PACE = 10.0
"""Times faster than it would be: what a call waits for is what an output plays."""

Event = TypeVar("Event")


class WireLine:
    """One call."""

    def __init__(self, service: OpenAIService, clock: BriskClock, tools: Sequence[Tool]) -> None:
        self.service = service
        self.clock = clock
        self.store = MemoryStore()
        self.glove = Glove(model=s2s_driven_model("wire"), store=self.store, system_prompt="Be brief.")
        self.glove.fold(*tools)
        self.output = RecordedOutput(clock)
        self.events: list[CallEvent] = []
        self.pipeline: RealtimePipeline
        self._more = asyncio.Event()

    @property
    def session(self) -> Session:
        """The latest session at the provider."""
        return self.service.session

    def tell(self, event: CallEvent) -> None:
        """Take what the outside is told."""
        self.events.append(event)
        self._more.set()

    def all(self, kind: type[Event]) -> list[Event]:
        """What was told of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[Event], times: int = 1) -> Event:
        """Wait until so many of a kind were told."""
        while len(found := self.all(kind)) < times:
            self._more.clear()
            await self._more.wait()
        return found[times - 1]

    async def idle(self) -> None:
        """Wait until nothing is going on, connecting included."""
        while not self.pipeline.idle:
            await self.clock.sleep(0.05)

    def turn(self, seconds: float = 1.0) -> None:
        """The caller speaks, as far as the provider hears."""
        self.session.speech_started(0)
        self.session.speech_stopped(0, np.zeros(int(24_000 * seconds), np.int16))

    def played(self) -> int:
        """Samples that were played so far; silences between them, and those of the voice itself, do not count."""
        return int(np.count_nonzero(self.output.track()))

    async def stored(self) -> list[tuple[str, str]]:
        """Who said what, as far as it was heard."""
        settled = await self.store.get_settlements()
        told: list[tuple[str, str]] = []
        for message in await self.store.get_messages():
            cut = settled.get(message.id)
            text = cut.heard if cut is not None and cut.interrupted else message.text
            told.append((message.sender, text))
        return told


@asynccontextmanager
async def on_the_line(service: OpenAIService, *tools: Tool, **settings: Any) -> AsyncIterator[WireLine]:
    """Hold a call, and hang up."""
    clock = BriskClock(PACE)
    made = RealtimeSettings(**settings)
    line = WireLine(service, clock, tools)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        line.pipeline = RealtimePipeline(
            clock=clock,
            output=line.output,
            group=group,
            tell=line.tell,
            adapter=OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url),
            host=GloveToolHost(line.glove, clock),
            phrases={made.apology: tone(made.apology)},
            settings=made,
        )
        line.pipeline.start()
        await line.idle()
        yield line
        await line.pipeline.aclose()
        await line.output.aclose()
