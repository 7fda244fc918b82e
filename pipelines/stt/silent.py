"""A recogniser that hears nothing: every segment ends in an empty text. For trying what a call does then."""

from __future__ import annotations

from pipelines.audio.frame import Samples
from pipelines.clock import Clock, Timer
from pipelines.stt.base import Emit, Final, Hearing

__all__ = ["Silent", "SilentHearing"]


class Silent:
    """A ``Recognizer`` with no engine."""

    name = "silent"

    def warm(self) -> None:
        """Do nothing: there is nothing to load."""

    def open(self, clock: Clock, emit: Emit) -> Hearing:
        """Begin not hearing a call."""
        return SilentHearing(clock, emit)


class SilentHearing:
    """One call's use of it."""

    def __init__(self, clock: Clock, emit: Emit) -> None:
        self._clock = clock
        self._emit = emit
        self._due: dict[int, Timer] = {}

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        """Take a segment's number; nothing else is needed."""

    def feed(self, segment: int, samples: Samples) -> None:
        """Let the audio pass."""

    def pause(self, segment: int) -> None:
        """Have nothing to decode ahead."""

    def end(self, segment: int) -> None:
        """Say that nothing was understood; as in a real engine, not before the caller has returned."""
        self._due[segment] = self._clock.call_at(self._clock.now(), self._say_nothing, segment)

    def drop(self, segment: int) -> None:
        """Forget the segment."""
        if (timer := self._due.pop(segment, None)) is not None:
            timer.cancel()

    async def aclose(self) -> None:
        """Emit nothing afterwards."""
        for segment in list(self._due):
            self.drop(segment)

    def _say_nothing(self, segment: int) -> None:
        del self._due[segment]
        self._emit(Final(segment=segment, text=""))
