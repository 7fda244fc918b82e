"""Outputs, engines, agents and hosts that do not keep their promises: the call goes on, and ends when it must."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import Clock, VirtualClock
from pipelines.events import CallEvent, EngineTrouble, ReplyWorded, TurnCommitted, UtteranceEnded, UtteranceStarted
from pipelines.responder import ResponderEvent, TextDelta
from pipelines.stt.base import Emit, Final, RecognitionFailed
from pipelines.tts.base import SpeechAudio
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import (
    Answer,
    ScriptedHearing,
    ScriptedRecognizer,
    ScriptedReply,
    ScriptedResponder,
    ScriptedVoice,
)
from voice_server.transports.recorded import RecordedOutput


class MuteOutput(RecordedOutput):
    """Plays, and never says so."""

    def attach(self, report: Any) -> None:
        pass


async def one_turn(line: Line) -> None:
    await line.says("tell", "me")
    await line.silence(30)


async def two_turns(line: Line) -> None:
    await one_turn(line)
    await one_turn(line)


# -------------------------------------------------------------------------------------------------------- the output


def test_a_long_reply_is_said_whole_on_an_output_that_never_reports() -> None:
    line = hold(one_turn, output=MuteOutput, answers=(Answer(words=60),))
    (ended,) = line.all(UtteranceEnded)
    assert ended.estimated
    assert ended.heard == ended.text
    assert len(set(line.output.track())) == 60 + 1


# ----------------------------------------------------------------------------------------------------------- the end


class WatchfulOutput(RecordedOutput):
    """Takes offence at whatever comes after the call."""

    closed = False
    late = 0

    def play(self, epoch: int, samples: Samples) -> None:
        self.late += self.closed
        super().play(epoch, samples)

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()


def test_nothing_is_answered_or_played_once_the_caller_has_hung_up_in_the_middle_of_everything() -> None:
    async def tale(line: Line) -> None:
        line.cascade.narrate("this is a long text that is heard to its very end, or so the host had thought.")
        await line.silence(0.5)
        await line.says("tell", "me", "that")
        await line.silence(2.0)

    line = hold(tale, output=WatchfulOutput)
    (narration,) = line.all(UtteranceEnded)
    assert narration.interrupted
    assert line.committed == []
    assert isinstance(line.output, WatchfulOutput)
    assert line.output.late == 0


def test_a_call_that_is_over_leaves_no_task_and_no_timer_and_takes_nothing_more() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(1.5)
        await line.says("and", "more")

    async def over(line: Line) -> None:
        await line.call(tale)
        told = len(line.events)
        line.cascade.hear(Frame(np.full(320, 1000, np.int16), 16_000))
        line.cascade.narrate("too late.")
        line.cascade.interrupt()
        line.cascade.commit_turn()
        await line.cascade.aclose()
        await line.clock.sleep(60)
        assert len(line.events) == told
        assert len(asyncio.all_tasks()) == 1

    clock = VirtualClock()
    line = Line(clock, output=WatchfulOutput, answers=(Answer(words=40),))
    clock.run(over(line))
    assert isinstance(line.output, WatchfulOutput)
    assert line.output.late == 0


# ---------------------------------------------------------------------------------------------------------- the host


def test_what_a_host_says_on_hearing_of_a_turn_is_said_after_the_reply_to_it() -> None:
    def narrate(line: Line, event: CallEvent) -> None:
        if isinstance(event, TurnCommitted):
            line.cascade.narrate("and by the way.")

    line = hold(one_turn, host=narrate)
    assert [event.kind for event in line.all(UtteranceStarted)] == ["reply", "narration"]


def test_a_host_that_cannot_listen_does_not_end_the_call() -> None:
    def broken(_line: Line, _event: CallEvent) -> None:
        raise KeyError("a host's own trouble")

    complaints: list[str] = []

    async def tale(line: Line) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context["message"]))
        await one_turn(line)

    line = hold(tale, host=broken)
    assert line.committed == ["tell me"]
    assert line.responder.replies[0].settled == [(line.all(UtteranceEnded)[0].text, False)]
    assert "who was told of 'turn_committed' failed" in complaints


# --------------------------------------------------------------------------------------------------------- the agent


class RaisingReply(ScriptedReply):
    """Says a word and breaks, in a way nobody announced."""

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        yield TextDelta(text="well ")
        raise KeyError("what the caller said")


class ForgetfulReply(ScriptedReply):
    """Cannot keep what was heard."""

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        raise OSError("disk full")


class Unwilling(ScriptedResponder):
    """Does not take the first turn."""

    def reply(self, text: str) -> ScriptedReply:
        if self.committed:
            return super().reply(text)
        self.committed.append(text)
        return self.first(text)

    def first(self, text: str) -> ScriptedReply:
        raise ValueError(text)


class Raising(Unwilling):
    def first(self, text: str) -> ScriptedReply:
        return RaisingReply(self, 0, Answer())


class Forgetful(Unwilling):
    def first(self, text: str) -> ScriptedReply:
        return ForgetfulReply(self, 0, Answer())


@pytest.mark.parametrize(
    ("responder", "heard", "reason"),
    [
        (Unwilling, "", "it raised ValueError"),
        (Raising, "well", "it raised KeyError"),
    ],
)
def test_an_agent_that_breaks_in_any_way_is_apologised_for_and_asked_again(
    responder: type[ScriptedResponder], heard: str, reason: str
) -> None:
    line = hold(two_turns, responder=responder)
    assert [(event.engine, event.reason) for event in line.all(EngineTrouble)] == [("model", reason)]
    assert line.apologies == 1
    assert len(line.committed) == 2
    first, _, second = line.all(UtteranceEnded)
    assert (first.kind, first.interrupted, first.heard) == ("reply", True, heard)
    assert (second.kind, second.interrupted) == ("reply", False)


def test_an_agent_that_cannot_keep_what_was_heard_goes_on_and_it_is_said() -> None:
    line = hold(two_turns, responder=Forgetful)
    assert [event.reason for event in line.all(EngineTrouble)] == ["it raised OSError"]
    assert [event.interrupted for event in line.all(UtteranceEnded)] == [False, False]
    assert line.apologies == 0


# --------------------------------------------------------------------------------------------------------- the voice


class RaisingVoice(ScriptedVoice):
    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        if not self.words:
            self.words.append("")
            raise ConnectionError(text)
        async for audio in super().synthesize(text, clock):
            yield audio


class SoundlessVoice(ScriptedVoice):
    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        if not self.words:
            self.words.append("")
            return
        async for audio in super().synthesize(text, clock):
            yield audio


@pytest.mark.parametrize("voice", [RaisingVoice, SoundlessVoice])
def test_a_voice_that_breaks_in_any_way_is_apologised_for_and_nothing_is_said_to_be_heard(
    voice: type[ScriptedVoice],
) -> None:
    line = hold(two_turns, voice=voice)
    assert [event.engine for event in line.all(EngineTrouble)] == ["synthesizer"]
    assert line.apologies == 1
    first, _, second = line.all(UtteranceEnded)
    assert (first.heard, first.interrupted) == ("", True)
    assert second.heard == second.text


def test_the_first_words_of_a_reply_are_told_of_once_even_when_its_voice_is_dead() -> None:
    line = hold(one_turn, voice=RaisingVoice, answers=(Answer(words=12, pace_s=0.2),))
    assert len(line.all(ReplyWorded)) == 1


# ---------------------------------------------------------------------------------------------------------- the ears


class StumblingHearing(ScriptedHearing):
    """Breaks the first time it is used as its recogniser says."""

    def _stumble(self, where: str) -> None:
        engine = self._engine
        assert isinstance(engine, Stumbling)
        if engine.where == where and not engine.stumbled:
            engine.stumbled = True
            raise ConnectionError(where)

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        self._stumble("begin")
        super().begin(segment, spelling=spelling)

    def feed(self, segment: int, samples: Samples) -> None:
        self._stumble("feed")
        super().feed(segment, samples)

    def pause(self, segment: int) -> None:
        self._stumble("pause")

    def end(self, segment: int) -> None:
        self._stumble("end")
        super().end(segment)

    async def aclose(self) -> None:
        self._stumble("aclose")
        assert isinstance(self._engine, Stumbling)
        self._engine.closed += 1
        await super().aclose()


class Stumbling(ScriptedRecognizer):
    where = ""
    stumbled = False
    closed = 0

    def open(self, clock: Clock, emit: Emit) -> ScriptedHearing:
        if self.where == "open" and not self.stumbled:
            self.stumbled = True
            raise ConnectionError("open")
        self.opened += 1
        return StumblingHearing(self, clock, emit)


@pytest.mark.parametrize("where", ["open", "begin", "feed", "pause", "end"])
def test_no_word_is_lost_on_a_recogniser_that_raises_once(where: str) -> None:
    line = hold(one_turn, recognizer=type("Stumbler", (Stumbling,), {"where": where}))
    assert line.committed == ["tell me"]
    assert [(event.engine, event.reason) for event in line.all(EngineTrouble)] == [
        ("recognizer", "it raised ConnectionError")
    ]


def test_a_recogniser_that_cannot_be_closed_does_not_keep_the_call() -> None:
    line = hold(one_turn, recognizer=type("Stumbler", (Stumbling,), {"where": "aclose"}))
    assert line.committed == ["tell me"]


def test_a_failed_hearing_is_closed_when_it_is_replaced_and_not_at_the_end_of_the_call() -> None:
    closed: list[int] = []

    async def tale(line: Line) -> None:
        await one_turn(line)
        assert isinstance(line.recognizer, Stumbling)
        closed.append(line.recognizer.closed)

    hold(tale, recognizer=Stumbling, broken_ears=frozenset({0}))
    assert closed == [1]


class BabblingHearing(ScriptedHearing):
    """Gives finals before their time, twice, and after it was closed; and fails then, too."""

    def feed(self, segment: int, samples: Samples) -> None:
        super().feed(segment, samples)
        self._emit(Final(segment=segment, text="too early"))

    def _final(self, segment: int, text: str) -> None:
        emit = self._emit
        super()._final(segment, text)
        emit(Final(segment=segment, text="twice"))
        emit(Final(segment=segment + 40, text="of nothing"))
        emit(RecognitionFailed(segment=segment, reason="it babbles"))
        self._clock.call_at(self._clock.now() + 3, emit, RecognitionFailed(segment=segment, reason="still"))


class Babbling(ScriptedRecognizer):
    def open(self, clock: Clock, emit: Emit) -> ScriptedHearing:
        self.opened += 1
        return BabblingHearing(self, clock, emit)


def test_what_a_recogniser_emits_before_or_after_its_time_is_not_believed() -> None:
    line = hold(two_turns, recognizer=Babbling)
    assert line.committed == ["tell me", "tell me"]
    assert [event.reason for event in line.all(EngineTrouble)] == ["it babbles"] * 2
    assert line.recognizer.opened == 3


def test_a_sound_without_end_does_not_fill_the_memory() -> None:
    async def tale(line: Line) -> None:
        hum = Frame(np.full(16_000, 1000, np.int16), 16_000)
        line.vocabulary.append("hum")
        tracemalloc.start()
        for second in range(600):
            await line.clock.sleep(1)
            line.cascade.hear(Frame(hum.samples.copy(), hum.rate))
            if second == 120:
                tracemalloc.reset_peak()
                before, _ = tracemalloc.get_traced_memory()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert after - before < 1_000_000

    hold(tale, recognizer=Deaf)


class DeafHearing(ScriptedHearing):
    def feed(self, segment: int, samples: Samples) -> None:
        pass


class Deaf(ScriptedRecognizer):
    """Keeps nothing."""

    def open(self, clock: Clock, emit: Emit) -> ScriptedHearing:
        return DeafHearing(self, clock, emit)


# -------------------------------------------------------------------------------------------------- the output again


class RaisingOutput(RecordedOutput):
    """Breaks once."""

    broken = False

    def play(self, epoch: int, samples: Samples) -> None:
        if not self.broken:
            self.broken = True
            raise BrokenPipeError
        super().play(epoch, samples)


def test_an_output_that_breaks_cuts_what_was_being_said_and_is_tried_again() -> None:
    line = hold(two_turns, output=RaisingOutput)
    assert [(event.engine, event.reason) for event in line.all(EngineTrouble)] == [
        ("output", "it raised BrokenPipeError")
    ]
    first, second = line.all(UtteranceEnded)
    assert (first.heard, first.interrupted) == ("", True)
    assert second.heard == second.text
