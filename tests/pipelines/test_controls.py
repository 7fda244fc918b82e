"""What somebody outside does to a call that runs: mute, unmute, narrate, interrupt, commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from pipelines.audio.frame import Frame
from pipelines.call import Call
from pipelines.cascade import CascadeSettings, Engines
from pipelines.clock import VirtualClock
from pipelines.events import CallerMuted, CallEvent, SoundIgnored, TurnCommitted, UtteranceEnded, UtteranceStarted
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import (
    Answer,
    ScriptedActivity,
    ScriptedRecognizer,
    ScriptedResponder,
    ScriptedVoice,
    frames,
    spoken,
)
from voice_server.transports.recorded import RecordedOutput

# ----------------------------------------------------------------------------------------------------------- muting


def test_what_is_said_while_muted_reaches_no_recogniser() -> None:
    async def tale(line: Line) -> None:
        line.cascade.mute()
        await line.says("this", "is", "private")
        await line.silence(1)
        line.cascade.unmute()
        await line.says("this", "is", "not")
        await line.silence(3)

    line = hold(tale)
    assert line.recognizer.finals == ["this is not"]
    assert line.committed == ["this is not"]
    assert [event.muted for event in line.all(CallerMuted)] == [True, False]


def test_the_moment_before_the_unmuting_is_not_in_the_preroll() -> None:
    async def tale(line: Line) -> None:
        line.cascade.mute()
        await line.says("secret", word_s=0.4)
        line.cascade.unmute()
        await line.says("open", word_s=0.4)
        await line.silence(3)

    assert hold(tale).recognizer.finals == ["open"]


def test_a_word_begun_before_the_mute_ends_at_once_and_its_turn_still_ends() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        line.cascade.mute()
        await line.says("the", "rest")
        await line.silence(3)

    line = hold(tale)
    assert line.recognizer.finals == ["tell me"]
    assert line.committed == ["tell me"]
    (committed,) = line.all(TurnCommitted)
    assert committed.ended_at == pytest.approx(0.6, abs=0.04)
    assert committed.heard_at == pytest.approx(0.7, abs=0.04), "100 ms of recognising after the mute"


def test_a_word_too_short_to_be_believed_yet_is_a_segment_all_the_same() -> None:
    async def tale(line: Line) -> None:
        await line.says("soon", word_s=0.2)
        line.cascade.mute()
        await line.silence(3)

    assert hold(tale).committed == ["soon"]


def test_a_mute_does_not_stop_the_agent() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(2)
        line.cascade.mute()
        await line.says("nobody", "hears", "this")
        await line.silence(6)

    line = hold(tale, answers=(Answer(words=12),))
    (ended,) = line.all(UtteranceEnded)
    assert not ended.interrupted
    assert line.cascade.idle


def test_a_mute_in_the_middle_of_an_interruption_lets_its_words_decide() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(2)
        await line.says("stop")
        line.cascade.mute()
        await line.silence(4)

    line = hold(tale, answers=(Answer(words=40), Answer(words=1)))
    assert line.committed == ["tell me", "stop"]
    assert line.all(UtteranceEnded)[0].interrupted


def test_muting_twice_is_told_once() -> None:
    async def tale(line: Line) -> None:
        line.cascade.unmute()
        line.cascade.mute()
        line.cascade.mute()
        assert line.cascade.muted
        line.cascade.unmute()
        line.cascade.unmute()
        assert not line.cascade.muted

    assert [event.muted for event in hold(tale).all(CallerMuted)] == [True, False]


def test_a_host_that_mutes_on_hearing_that_somebody_speaks_is_obeyed() -> None:
    def host(line: Line, event: CallEvent) -> None:
        if isinstance(event, TurnCommitted):
            line.cascade.mute()

    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(3)
        await line.says("and", "more")
        await line.silence(3)

    line = hold(tale, host=host)
    assert line.committed == ["tell me"]
    assert line.cascade.muted


def test_a_call_can_start_muted() -> None:
    async def tale(line: Line) -> None:
        assert line.cascade.muted
        await line.says("too", "early")
        await line.silence(1)
        line.cascade.unmute()
        await line.says("tell", "me")
        await line.silence(3)

    line = hold(tale, settings={"start_muted": True}, greeting="good day to you.")
    assert line.committed == ["tell me"]
    assert [event.muted for event in line.all(CallerMuted)] == [True, False]
    assert line.all(UtteranceStarted)[0].kind == "greeting"


def test_speech_probability_is_told_while_muted() -> None:
    probed: list[float] = []

    async def tale(line: Line) -> None:
        line.cascade.mute()
        await line.says("nobody", "hears", "this")

    hold(tale, probe=lambda _at, probability: probed.append(probability))
    assert probed
    assert min(probed[1:]) > 0.9


# ---------------------------------------------------------------------------------------------------------- the call


class Caller:
    """Says words, and listens for ten seconds."""

    def __init__(self, clock: VirtualClock, *words: str) -> None:
        self.clock = clock
        self.vocabulary: list[str] = []
        said = spoken(self.vocabulary, words, 0.3)
        self._frames = frames(np.concatenate([said, np.zeros(160_000, np.int16)]))

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        for frame in self._frames:
            await self.clock.sleep(frame.duration)
            hear(frame)


class Steered:
    """A call that is steered while it runs."""

    def __init__(self, clock: VirtualClock, *words: str, **settings: object) -> None:
        self.clock = clock
        self.events: list[CallEvent] = []
        caller, voice = Caller(clock, *words), ScriptedVoice()
        self.recognizer = ScriptedRecognizer(caller.vocabulary)
        self.call = Call(
            clock=clock,
            caller=caller,
            output=RecordedOutput(clock, rate=voice.rate),
            engines=Engines(activity=ScriptedActivity(), recognizer=self.recognizer, synthesizer=voice),
            responder=ScriptedResponder(clock, (Answer(words=20),)),
            tell=self.events.append,
            settings=CascadeSettings(**settings),  # type: ignore[arg-type]
        )


def test_a_call_is_steered_while_it_runs_and_in_vain_when_it_is_over() -> None:
    clock = VirtualClock()

    async def main() -> Steered:
        steered = Steered(clock, "tell", "me", "and")
        call = steered.call
        running = asyncio.create_task(call.run())
        await clock.sleep(1.0)
        call.commit_turn()
        await clock.sleep(1.5)
        call.interrupt()
        call.narrate("this is told.")
        call.mute()
        assert call.muted
        await running
        told = len(steered.events)
        for control in (call.interrupt, call.commit_turn, call.mute, call.unmute, lambda: call.narrate("too late")):
            control()
        assert len(steered.events) == told
        return steered

    events = clock.run(main()).events
    assert [event.text for event in events if isinstance(event, TurnCommitted)] == ["tell me and"]
    assert [event.kind for event in events if isinstance(event, UtteranceEnded)] == ["reply", "narration"]
    assert [event.interrupted for event in events if isinstance(event, UtteranceEnded)] == [True, False]
    assert not [event for event in events if isinstance(event, SoundIgnored)]


@pytest.mark.parametrize("control", ["interrupt", "commit_turn", "mute", "unmute"])
def test_a_call_that_has_not_begun_cannot_be_steered(control: str) -> None:
    clock = VirtualClock()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="run it first"):
            getattr(Steered(clock, "hello").call, control)()

    clock.run(main())
