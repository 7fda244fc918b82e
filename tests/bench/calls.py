"""Recorded calls held in this process, without the server's model and agent: what the measurements run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from pipelines.call import Call
from pipelines.cascade import Cascade, Engines
from pipelines.clock import Clock
from pipelines.events import CallEvent
from pipelines.responder import (
    OPEN_QUESTION,
    Expectation,
    Responder,
    ResponderEvent,
    SpokenKind,
    TextCompleted,
    TextDelta,
)
from voice_server.house import House
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording

__all__ = ["HeldCall", "Listener", "engines_of"]

Event = TypeVar("Event", bound=CallEvent)


def engines_of(house: House) -> Engines:
    """Give a call its engines: the house's, and a stream of voice activity of its own."""
    return Engines(
        activity=house.vad.open(),
        recognizer=house.recognizer,
        synthesizer=house.synthesizer,
        phrases=house.phrases,
    )


class Listener:
    """A ``Responder`` that says the same to everything, or nothing: who measures the way to it needs no more.

    Args:
        answer: makes the answer to the caller's words.
    """

    def __init__(self, answer: Callable[[str], str] = lambda _: "") -> None:
        self._answer = answer

    def expects(self) -> Expectation:
        return OPEN_QUESTION

    def blocked(self) -> bool:
        return False

    def draft(self, text: str) -> _Answer:
        return _Answer(self._answer(text))

    def overheard(self, text: str) -> None:
        pass

    def watch(self, on_result: Callable[[], None], on_said: Callable[[str], None]) -> None:
        pass

    def report(self) -> _Answer:
        return _Answer("")

    async def aclose(self) -> None:
        pass

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        pass


class _Answer:
    """A draft and the reply it becomes: they differ in nothing here."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._aborted = False

    def commit(self) -> _Answer:
        return self

    def discard(self) -> None:
        pass

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        if self._text and not self._aborted:
            yield TextDelta(text=self._text)
            yield TextCompleted()

    def abort(self) -> None:
        self._aborted = True

    def give_way(self) -> None:
        self._aborted = True

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        pass


@dataclass(slots=True)
class HeldCall:
    """One call and what it told."""

    recordings: Sequence[Recording]
    events: list[tuple[float, CallEvent]] = field(default_factory=list)
    """What happened, with the second of the call's clock."""

    async def run(self, clock: Clock, engines: Engines, responder: Responder | None = None) -> None:
        """Hold it to its end, with somebody who listens and says nothing unless a responder is given."""
        output = RecordedOutput(clock, rate=engines.synthesizer.rate)
        caller = RecordedCaller(clock, self.recordings)

        def tell(event: CallEvent) -> None:
            self.events.append((clock.now(), event))
            caller.notice(event)

        await Call(
            clock=clock,
            caller=caller,
            output=output,
            pipeline=partial(
                Cascade,
                engines=engines,
                responder=responder or Listener(),
            ),
            tell=tell,
        ).run()

    def told(self, kind: type[Event]) -> list[Event]:
        """Pick the events of one kind."""
        return [event for _, event in self.events if isinstance(event, kind)]
