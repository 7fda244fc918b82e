"""A caller's end of a whole call: pipeline, agent and adapter on a provider's SDK, a stand-in at the other end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from agents.core.glove import Glove
from agents.core.tools import Tool
from agents.models.driven import s2s_driven_model
from agents.stores.memory import MemoryStore
from pipelines.audio.frame import Frame, Samples
from pipelines.events import CallEvent
from pipelines.glove import GloveToolHost
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.base import RealtimeAdapter
from pipelines.realtime.settings import RealtimeSettings
from pipelines.vad.base import VoiceActivity
from tests.realtime.brisk import BriskClock
from voice_server.transports.recorded import RecordedOutput

__all__ = ["Line", "on_the_line"]

PACE = 10.0
"""Times faster than it would be: what a call waits for is what an output plays."""

Event = TypeVar("Event")


class Line:
    """One call."""

    def __init__(self, clock: BriskClock, tools: Sequence[Tool]) -> None:
        self.clock = clock
        self.store = MemoryStore()
        self.glove = Glove(model=s2s_driven_model("wire"), store=self.store, system_prompt="Be brief.")
        self.glove.fold(*tools)
        self.output = RecordedOutput(clock)
        self.events: list[CallEvent] = []
        self.pipeline: RealtimePipeline
        self._more = asyncio.Event()

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

    async def speak(self, samples: Samples, rate: int) -> None:
        """The caller's voice, as fast as the clock runs."""
        size = rate // 50
        for start in range(0, len(samples), size):
            self.pipeline.hear(Frame(samples=samples[start : start + size], rate=rate))
            await self.clock.sleep(0.02)

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
async def on_the_line(
    adapter: RealtimeAdapter,
    *tools: Tool,
    activity: VoiceActivity | None = None,
    phrases: Mapping[str, Samples] | None = None,
    **settings: Any,
) -> AsyncIterator[Line]:
    """Hold a call, and hang up.

    Args:
        adapter: connects to the stand-in.
        tools: the agent's.
        activity: our own detector's ear.
        phrases: what can be said without the provider.
        settings: of :class:`RealtimeSettings`.
    """
    clock = BriskClock(PACE)
    line = Line(clock, tools)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        line.pipeline = RealtimePipeline(
            clock=clock,
            output=line.output,
            group=group,
            tell=line.tell,
            adapter=adapter,
            host=GloveToolHost(line.glove, clock),
            activity=activity,
            phrases=phrases,
            settings=RealtimeSettings(**settings),
        )
        line.pipeline.start()
        await line.idle()
        yield line
        await line.pipeline.aclose()
        await line.output.aclose()
