"""How calls end: hung up, cancelled, on a broken line, with parts that will not close."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import HEARING_RATE, Frame
from pipelines.call import Call
from pipelines.cascade import Cascade, Engines
from pipelines.clock import VirtualClock
from pipelines.events import CallEvent, EngineTrouble, TurnCommitted, UtteranceEnded
from pipelines.responder import ResponderEvent, TextDelta
from tests.pipelines.scripted import (
    Answer,
    ScriptedActivity,
    ScriptedHearing,
    ScriptedRecognizer,
    ScriptedReply,
    ScriptedResponder,
    ScriptedVoice,
    frames,
    spoken,
)
from voice_server.transports.recorded import RecordedOutput


class Caller:
    """Says two words, then listens, and hangs up or breaks."""

    def __init__(self, clock: VirtualClock, *, listens_s: float = 60.0, breaks: bool = False) -> None:
        self._clock = clock
        self._listens_s = listens_s
        self._breaks = breaks
        self.vocabulary: list[str] = []

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        words = spoken(self.vocabulary, ["tell", "me"], 0.3)
        silence = np.zeros(int(self._listens_s * HEARING_RATE), np.int16)
        for frame in frames(np.concatenate([words, silence])):
            await self._clock.sleep(frame.duration)
            hear(frame)
        if self._breaks:
            raise ConnectionResetError("the line broke")


class Scene:
    """A call, and what was told of it."""

    def __init__(self, clock: VirtualClock, caller: Caller, **parts: Any) -> None:
        self.clock = clock
        self.voice = ScriptedVoice()
        self.responder: ScriptedResponder = parts.get("responder", ScriptedResponder)(clock, (Answer(words=40),))
        self.output: RecordedOutput = parts.get("output", RecordedOutput)(clock, rate=self.voice.rate)
        self.events: list[CallEvent] = []
        self.call = Call(
            clock=clock,
            caller=caller,
            output=self.output,
            pipeline=partial(
                Cascade,
                engines=Engines(
                    activity=ScriptedActivity(),
                    recognizer=parts.get("recognizer", ScriptedRecognizer)(caller.vocabulary),
                    synthesizer=self.voice,
                ),
                responder=self.responder,
            ),
            tell=self.events.append,
        )

    def all(self, kind: type[CallEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def cancelled_after(seconds: float, **parts: Any) -> tuple[Scene, float]:
    """Cancel a call in the middle; return what came of it and how long its end took."""
    clock = VirtualClock()

    async def main() -> tuple[Scene, float]:
        scene = Scene(clock, Caller(clock), **parts)
        running = asyncio.create_task(scene.call.run())
        await clock.sleep(seconds)
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()
        took = clock.now() - seconds
        told = len(scene.events)
        assert len(asyncio.all_tasks()) == 1
        await clock.sleep(60)
        assert len(scene.events) == told
        return scene, took

    return clock.run(main())


@pytest.mark.parametrize("seconds", [0.0, 0.4, 0.75, 1.3, 1.5, 1.7, 2.0, 3.3, 6.1])
def test_a_call_can_be_cancelled_at_any_moment_and_settles_what_was_heard(seconds: float) -> None:
    scene, took = cancelled_after(seconds)
    assert took < 0.1
    assert scene.all(EngineTrouble) == []
    turns, ended = scene.all(TurnCommitted), scene.all(UtteranceEnded)
    assert len(turns) == len(ended)
    assert [reply.settled for reply in scene.responder.replies] == [[(end.heard, True)] for end in ended]
    assert bool(ended and ended[0].heard) == (seconds > 2.0)


class DeafReply(ScriptedReply):
    """Does not stop when it is told to."""

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        yield TextDelta(text="this much was said. And then it ")
        await asyncio.Event().wait()


class DeafResponder(ScriptedResponder):
    def reply(self, text: str) -> ScriptedReply:
        self.replies.append(DeafReply(self, 0, Answer()))
        return self.replies[-1]


class OpenEnded(ScriptedHearing):
    async def aclose(self) -> None:
        await asyncio.Event().wait()


class OpenEndedRecognizer(ScriptedRecognizer):
    def open(self, clock: Any, emit: Any) -> ScriptedHearing:
        return OpenEnded(self, clock, emit)


class StuckOutput(RecordedOutput):
    async def aclose(self) -> None:
        await super().aclose()
        await asyncio.Event().wait()


class BrokenOutput(RecordedOutput):
    async def aclose(self) -> None:
        raise BrokenPipeError


@pytest.mark.parametrize(
    "parts", [{"responder": DeafResponder}, {"recognizer": OpenEndedRecognizer}, {"output": StuckOutput}]
)
def test_a_part_that_will_not_end_does_not_keep_the_call(parts: dict[str, Any]) -> None:
    scene, took = cancelled_after(4.0, **parts)
    assert took < 5.0
    assert len(scene.all(UtteranceEnded)) == 1


def test_what_was_heard_of_a_reply_that_will_not_end_is_kept() -> None:
    scene, _ = cancelled_after(4.0, responder=DeafResponder)
    assert [reply.settled for reply in scene.responder.replies] == [[("this much was said.", True)]]


def test_a_broken_line_ends_the_call_and_is_told_as_it_is() -> None:
    clock = VirtualClock()
    scenes = []

    async def main() -> None:
        scenes.append(Scene(clock, Caller(clock, listens_s=3.0, breaks=True)))
        await scenes[0].call.run()

    with pytest.raises(ConnectionResetError, match="the line broke"):
        clock.run(main())
    (ended,) = scenes[0].all(UtteranceEnded)
    assert ended.interrupted
    assert scenes[0].responder.replies[0].settled == [(ended.heard, True)]


def test_an_output_that_cannot_be_closed_is_told_of() -> None:
    clock = VirtualClock()
    scenes = []

    async def main() -> None:
        scenes.append(Scene(clock, Caller(clock, listens_s=1.0), output=BrokenOutput))
        await scenes[0].call.run()

    clock.run(main())
    assert [(event.engine, event.reason) for event in scenes[0].all(EngineTrouble)] == [
        ("output", "it raised BrokenPipeError")
    ]
