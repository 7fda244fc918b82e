"""A call on the realtime pipeline, held in the test's own loop beside a stand-in for its provider."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agents.core.glove import Glove
from pipelines.audio.frame import Frame
from pipelines.call import Call, CallInput
from pipelines.clock import Clock
from pipelines.events import CallEvent
from pipelines.glove import GloveToolHost
from pipelines.playout.output import AudioOutput
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.base import RealtimeAdapter
from pipelines.vad.silero import SileroModel
from voice_server.transports.recorded import RecordedOutput

__all__ = ["Desk", "hold"]


class Desk:
    """A caller's place at which nobody speaks, and a host does something.

    Args:
        does: what.
    """

    def __init__(self, does: Callable[[RealtimePipeline], Awaitable[None]]) -> None:
        self._does = does
        self.pipeline: RealtimePipeline | None = None

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        assert self.pipeline is not None
        await self._does(self.pipeline)


async def hold(glove: Glove, adapter: RealtimeAdapter, caller: CallInput, clock: Clock) -> list[CallEvent]:
    """Hold a call."""
    ears = SileroModel()
    told: list[CallEvent] = []

    def begin(
        *, clock: Clock, output: AudioOutput, group: asyncio.TaskGroup, tell: Callable[[CallEvent], None]
    ) -> RealtimePipeline:
        pipeline = RealtimePipeline(
            clock=clock,
            output=output,
            group=group,
            tell=tell,
            adapter=adapter,
            host=GloveToolHost(glove, clock),
            activity=ears.open(),
        )
        if isinstance(caller, Desk):
            caller.pipeline = pipeline
        return pipeline

    output = RecordedOutput(clock, can_pause=True)
    await Call(clock=clock, caller=caller, output=output, pipeline=begin, tell=told.append).run()
    return told
