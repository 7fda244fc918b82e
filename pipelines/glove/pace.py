"""The pace of an agent in a call: what it waits for is leased from the call's clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

from agents.core.model import ModelEvent, ModelFinished
from agents.core.pace import Work
from pipelines.clock import Clock, held

__all__ = ["CallPace"]


class CallPace:
    """Leases a request's waits from the call's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Seconds of the call's clock."""
        return self._clock.now()

    async def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
        """Pass on a model's events, each wait leased."""
        while True:
            async with held(self._clock, "model"):
                event = await anext(events, None)
            if event is None:
                return
            yield event
            if isinstance(event, ModelFinished):
                return  # The end of the stream is no work to be charged.

    def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
        """Lease a tool's run."""
        return held(self._clock, "tool")
