"""A pipeline, as a call sees it: it hears a caller, takes turns, and speaks to an output.

Above: ``call`` begins one and steers it. Below: :class:`~pipelines.cascade.Cascade` is one.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from pipelines.audio.frame import Frame
from pipelines.clock import Clock
from pipelines.events import Tell
from pipelines.playout.output import AudioOutput

__all__ = ["Begin", "Pipeline"]


class Pipeline(Protocol):
    """How a call's speech becomes turns, and turns become speech. Its controls return at once."""

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        ...

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, no tool runs, nothing is being made, and nothing waits to be answered or settled."""
        ...

    def start(self) -> None:
        """Begin; greet, if there is a greeting. Once."""
        ...

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio, at any rate."""
        ...

    def narrate(self, text: str) -> None:
        """Say a text to its end, without the model."""
        ...

    def interrupt(self) -> None:
        """Cut whatever is being said."""
        ...

    def commit_turn(self) -> None:
        """Answer what there is without waiting for more."""
        ...

    def type_in(self, text: str) -> None:
        """Take words that were typed for the caller's turn."""
        ...

    def mute(self) -> None:
        """Stop listening to the caller. Idempotent."""
        ...

    def unmute(self) -> None:
        """Listen to the caller from here on. Idempotent."""
        ...

    def suspend(self) -> None:
        """Say nothing before ``restore``: nobody would hear it. Idempotent."""
        ...

    def restore(self) -> None:
        """Go on with what was not heard. Idempotent."""
        ...

    async def aclose(self) -> None:
        """Stop: settle what was heard, and leave nothing behind. Idempotent."""
        ...


class Begin(Protocol):
    """Makes a call's pipeline: a pipeline's class, with what it works with filled in by ``functools.partial``."""

    def __call__(self, *, clock: Clock, output: AudioOutput, group: asyncio.TaskGroup, tell: Tell) -> Pipeline:
        """Make it.

        Args:
            clock: the call's.
            output: where its voice goes; the call closes it.
            group: the call's task group: what the pipeline starts dies with it.
            tell: takes what the outside is told.
        """
        ...
