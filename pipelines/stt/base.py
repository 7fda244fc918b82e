"""What a recogniser is to a call: segments of speech in, partial and final texts out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pipelines.audio.frame import Samples
from pipelines.clock import Clock

__all__ = ["Emit", "Final", "Hearing", "Partial", "Recognition", "RecognitionFailed", "Recognizer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """The text of a segment so far; replaces the segment's earlier partials."""

    segment: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The whole text of a segment that ended; may be empty. Exactly one per ended segment, or a failure."""

    segment: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionFailed:
    """The engine could not do a segment; the hearing is dead and is to be closed and reopened."""

    segment: int
    reason: str


Recognition: TypeAlias = Partial | Final | RecognitionFailed
Emit: TypeAlias = Callable[[Recognition], None]


class Hearing(Protocol):
    """One call's use of a recogniser. All methods are called on the call's loop and return at once.

    One that raises has failed, as if it had emitted ``RecognitionFailed``; see ``lasting``.
    """

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        """Open a segment.

        Args:
            segment: ascending number, the caller's choice.
            spelling: whether letters are expected (helps engines that take a prompt).
        """
        ...

    def feed(self, segment: int, samples: Samples) -> None:
        """Take audio of the open segment: int16 mono, 16 kHz, any length. Not copied: the caller does not reuse it."""
        ...

    def pause(self, segment: int) -> None:
        """Speech fell silent just now: a good moment to decode ahead. More audio may follow."""
        ...

    def end(self, segment: int) -> None:
        """No more audio for the segment: its final is due."""
        ...

    def drop(self, segment: int) -> None:
        """Forget the segment; nothing more is emitted for it."""
        ...

    async def aclose(self) -> None:
        """Release what the call holds, within two seconds. Idempotent; nothing is emitted afterwards."""
        ...


class Recognizer(Protocol):
    """A speech recogniser, loaded once per process and shared by its calls; not bound to an event loop."""

    name: str

    def warm(self) -> None:
        """Load what is needed. Blocking; call it from a thread or before the loop. Idempotent, thread-safe."""
        ...

    def open(self, clock: Clock, emit: Emit) -> Hearing:
        """Begin hearing a call.

        Args:
            clock: the call's clock; all engine work is leased from it.
            emit: called on the call's loop with every recognition.
        """
        ...
