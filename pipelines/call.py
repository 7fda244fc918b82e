"""A call: one task group around a line, a pipeline and an agent. Whatever it starts dies with it, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from pipelines.audio.frame import Frame
from pipelines.cascade import Cascade, CascadeSettings, Engines
from pipelines.clock import Clock
from pipelines.events import Tell
from pipelines.listener import Probe
from pipelines.playout.output import AudioOutput
from pipelines.responder import Responder

__all__ = ["Call", "CallInput"]


class CallInput(Protocol):
    """Where a caller's audio comes from."""

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Pass on frames as they come, until the caller hangs up.

        Args:
            hear: takes each frame.
            idle: whether nobody speaks and nothing is being answered.
        """
        ...


class Call:
    """A caller and an agent, connected.

    Args:
        clock: real or virtual.
        caller: the input.
        output: where the agent's voice goes.
        engines: what the call hears and speaks with.
        responder: the agent.
        tell: takes the call's events.
        settings: how turns are taken.
        probe: takes every speech probability.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        caller: CallInput,
        output: AudioOutput,
        engines: Engines,
        responder: Responder,
        tell: Tell,
        settings: CascadeSettings | None = None,
        probe: Probe | None = None,
    ) -> None:
        self._clock = clock
        self._caller = caller
        self._output = output
        self._engines = engines
        self._responder = responder
        self._tell = tell
        self._settings = settings
        self._probe = probe

    async def run(self) -> None:
        """Hold the call until the caller hangs up. Cancelling ends it and settles what was heard."""
        async with asyncio.TaskGroup() as group:
            cascade = Cascade(
                clock=self._clock,
                engines=self._engines,
                responder=self._responder,
                output=self._output,
                group=group,
                tell=self._tell,
                settings=self._settings,
                probe=self._probe,
            )
            try:
                cascade.start()
                await self._caller.run(cascade.hear, lambda: cascade.idle)
            finally:
                await cascade.aclose()
                await self._output.aclose()
