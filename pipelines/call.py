"""A call: one task group around a line, a pipeline and an agent. Whatever it starts dies with it, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from pipelines.audio.frame import Frame
from pipelines.clock import Clock
from pipelines.events import Tell, careful, trouble
from pipelines.pipeline import Begin, Pipeline
from pipelines.playout.output import AudioOutput

__all__ = ["LONGEST_TYPED", "Call", "CallInput"]

LONGEST_TYPED = 2_000
"""Characters that may be typed at once: a page, and more than anybody says in a turn."""

CLOSE_LIMIT_S = 2.0
"""Seconds an output may take to close."""


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

    While it runs it can be steered from outside; once it is over, that changes nothing any more.

    Args:
        clock: real or virtual.
        caller: the input.
        output: where the agent's voice goes.
        pipeline: makes what takes the turns, with the agent behind it.
        tell: takes the call's events.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        caller: CallInput,
        output: AudioOutput,
        pipeline: Begin,
        tell: Tell,
    ) -> None:
        self._clock = clock
        self._caller = caller
        self._output = output
        self._begin = pipeline
        self._tell = careful(tell)
        self._pipeline: Pipeline | None = None

    async def run(self) -> None:
        """Hold the call until the caller hangs up. Cancelling ends it and settles what was heard.

        However it ends, that takes no more than a few seconds; nothing of it is left on the loop.

        Raises:
            Exception: what the input raised: the line broke; or why the pipeline cannot go on. What engines, agent and
                output raise is told as events.
        """
        failure: Exception | None = None
        try:
            async with asyncio.TaskGroup() as group:
                try:
                    await self._hold(group)
                except Exception as error:  # noqa: BLE001 - taken out of the group, which would wrap it
                    failure = error
        except ExceptionGroup as several:  # A task of the pipeline's ended the call: what it raised comes first.
            failure = several.exceptions[0]
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # Its traceback holds this frame: together they would be a cycle.

    def narrate(self, text: str) -> None:
        """Say a text to its end, without the model; what the caller says over it is answered after it.

        Raises:
            RuntimeError: the call has not begun. So do all controls.
        """
        self._running.narrate(text)

    def interrupt(self) -> None:
        """Cut whatever is being said, a narration too, and stop what the agent does for it."""
        self._running.interrupt()

    def commit_turn(self) -> None:
        """Answer what the caller has said, without waiting for more; a word in progress is waited for.

        In manual turn taking this lets the button go, like ``mute``. When nothing was said, that is told as an event.
        """
        self._running.commit_turn()

    def type_in(self, text: str) -> None:
        """Take words that the caller typed: with what they said before, they are a turn at once.

        An agent that speaks falls silent, unless what it says is heard to its end; then they are answered after it.

        Args:
            text: at most ``LONGEST_TYPED`` characters, and not blank.

        Raises:
            ValueError: it is blank or longer.
        """
        if not text.strip() or len(text) > LONGEST_TYPED:
            raise ValueError(f"{len(text)} characters were typed; type a word at least and {LONGEST_TYPED:,} at most")
        self._running.type_in(text)

    def mute(self) -> None:
        """Do not listen to the caller; a word begun ends here, and its turn still ends. The agent goes on.

        In manual turn taking this lets the button go: what was said since ``unmute`` is a turn. Idempotent.
        """
        self._running.mute()

    def unmute(self) -> None:
        """Listen to the caller from here on.

        In manual turn taking this presses the button: an agent that speaks falls silent for good. Idempotent.
        """
        self._running.unmute()

    def suspend(self) -> None:
        """Say nothing before ``restore``: the line broke, so that nobody would hear it. Idempotent.

        The agent goes on with what it is at, and what it makes is kept. What was played and not reported counts as
        not heard.
        """
        self._running.suspend()

    def restore(self) -> None:
        """The line is there again: say what was not heard, and what there is to say since. Idempotent."""
        self._running.restore()

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return self._running.muted

    @property
    def _running(self) -> Pipeline:
        if self._pipeline is None:
            raise RuntimeError("the call has not begun, so there is nothing to steer; run it first")
        return self._pipeline

    async def _hold(self, group: asyncio.TaskGroup) -> None:
        async with self._open_output():
            pipeline = self._pipeline = self._begin(
                clock=self._clock, output=self._output, group=group, tell=self._tell
            )
            try:
                pipeline.start()
                await self._caller.run(pipeline.hear, lambda: pipeline.idle)
            finally:
                await pipeline.aclose()

    @asynccontextmanager
    async def _open_output(self) -> AsyncIterator[None]:
        """Close the output in the end, within ``CLOSE_LIMIT_S``."""
        try:
            yield
        finally:
            try:
                async with asyncio.timeout(CLOSE_LIMIT_S):
                    await self._output.aclose()
            except Exception as error:  # noqa: BLE001 - an output's boundary
                self._tell(trouble("output", error))
