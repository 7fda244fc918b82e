"""What somebody outside does to a call that runs: mute, unmute, narrate, interrupt, commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import Frame
from pipelines.call import LONGEST_TYPED, Call
from pipelines.cascade import Cascade, CascadeSettings, Engines
from pipelines.clock import Clock, VirtualClock
from pipelines.events import (
    CallerMuted,
    CallEvent,
    SoundIgnored,
    SpeechOver,
    TurnCommitted,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceStarted,
)
from pipelines.stt.base import Emit
from pipelines.turns.events import Cause, NoteKind
from pipelines.turns.settings import TurnTaking
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import (
    Answer,
    ScriptedActivity,
    ScriptedHearing,
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


# ----------------------------------------------------------------------------------------------------- push to talk

MANUAL = {"turn_taking": TurnTaking.MANUAL}


async def presses(line: Line, *words: str, pause_s: float = 0.0) -> None:
    """Hold the button, say words, be silent, and let it go."""
    line.cascade.unmute()
    if words:
        await line.says(*words)
    await line.silence(pause_s)
    line.cascade.mute()


def test_in_manual_turn_taking_a_call_starts_muted() -> None:
    async def tale(line: Line) -> None:
        assert line.cascade.muted
        await line.says("nobody", "hears", "this")
        await line.silence(5)

    line = hold(tale, settings=MANUAL)
    assert line.recognizer.finals == []
    assert [event.muted for event in line.all(CallerMuted)] == [True]


def test_what_is_said_while_the_button_is_held_is_one_segment_and_answered_at_once() -> None:
    async def tale(line: Line) -> None:
        line.cascade.unmute()
        await line.says("one")
        await line.silence(2)
        await line.says("and", word_s=0.1)
        line.cascade.mute()
        await line.silence(3)

    line = hold(tale, settings=MANUAL)
    assert line.recognizer.finals == ["one and"]
    (committed,) = line.all(TurnCommitted)
    assert committed.ended_at == pytest.approx(2.4)
    assert line.times(TurnCommitted) == [pytest.approx(2.5)], "the recogniser's tenth of a second, and no hold"
    (over,) = line.all(SpeechOver)
    assert [over.started_at, over.ended_at] == pytest.approx([0.0, 2.4])


def test_committing_the_turn_lets_the_button_go() -> None:
    async def tale(line: Line) -> None:
        line.cascade.unmute()
        await line.says("tell", "me")
        line.cascade.commit_turn()
        assert line.cascade.muted
        await line.says("nobody", "hears", "this")
        await line.silence(3)

    line = hold(tale, settings=MANUAL)
    assert line.committed == ["tell me"]
    assert line.cascade.idle


def test_letting_go_and_committing_is_one_turn() -> None:
    async def tale(line: Line) -> None:
        await presses(line, "tell", "me")
        line.cascade.commit_turn()
        await line.silence(3)

    line = hold(tale, settings=MANUAL)
    assert line.committed == ["tell me"]
    assert line.all(SoundIgnored) == []


def test_the_button_interrupts_what_the_agent_says_before_any_word() -> None:
    async def tale(line: Line) -> None:
        await presses(line, "tell", "me")
        await line.silence(2)
        await presses(line, pause_s=0.2)
        await line.silence(3)

    line = hold(tale, settings=MANUAL, answers=(Answer(words=40),))
    assert [event.cause for event in line.all(UtteranceCancelled)] == [Cause.PRESSED]
    assert line.times(UtteranceCancelled) == [pytest.approx(2.6)]
    assert [event.kind for event in line.all(SoundIgnored)] == [NoteKind.NOTHING_SAID]
    (ended,) = line.all(UtteranceEnded)
    assert ended.interrupted and ended.heard


def test_nothing_said_in_manual_turn_taking_is_told_and_commits_nothing() -> None:
    async def tale(line: Line) -> None:
        line.cascade.commit_turn()
        await presses(line, pause_s=5.0)
        await line.silence(1)

    line = hold(tale, settings=MANUAL)
    assert [event.kind for event in line.all(SoundIgnored)] == [NoteKind.NOTHING_SAID] * 2
    assert line.committed == []
    assert line.apologies == 0
    assert line.cascade.idle


def test_a_line_that_stutters_while_the_button_is_held_ends_no_turn() -> None:
    async def tale(line: Line) -> None:
        line.cascade.unmute()
        await line.says("tell")
        await line.clock.sleep(3)
        await line.says("me")
        line.cascade.mute()
        await line.silence(3)

    assert hold(tale, settings=MANUAL).committed == ["tell me"]


def test_the_engine_hears_of_pauses_so_that_it_can_decode_ahead() -> None:
    class Ears(ScriptedRecognizer):
        paused = 0

        def open(self, clock: Clock, emit: Emit) -> ScriptedHearing:
            return Hearing(self, clock, emit)

    class Hearing(ScriptedHearing):
        def pause(self, segment: int) -> None:
            Ears.paused += 1

    async def tale(line: Line) -> None:
        await presses(line, "tell", pause_s=0.3)
        await line.silence(3)

    hold(tale, settings=MANUAL, recognizer=Ears)
    assert Ears.paused == 1


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

    def __init__(self, clock: VirtualClock, *words: str, **settings: Any) -> None:
        self.clock = clock
        self.events: list[CallEvent] = []
        caller, voice = Caller(clock, *words), ScriptedVoice()
        self.recognizer = ScriptedRecognizer(caller.vocabulary)
        self.call = Call(
            clock=clock,
            caller=caller,
            output=RecordedOutput(clock, rate=voice.rate),
            pipeline=partial(
                Cascade,
                engines=Engines(activity=ScriptedActivity(), recognizer=self.recognizer, synthesizer=voice),
                responder=ScriptedResponder(clock, (Answer(words=20),)),
                settings=CascadeSettings(**settings),
            ),
            tell=self.events.append,
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
        call.type_in("  as I typed ")
        await clock.sleep(0.5)
        call.interrupt()
        call.narrate("this is told.")
        call.mute()
        assert call.muted
        await running
        told = len(steered.events)
        for control in (call.interrupt, call.commit_turn, call.mute, call.unmute):
            control()
        for say in (call.narrate, call.type_in):
            say("too late")
        assert len(steered.events) == told
        return steered

    events = clock.run(main()).events
    assert [event.text for event in events if isinstance(event, TurnCommitted)] == ["tell me and", "as I typed"]
    assert [event.kind for event in events if isinstance(event, UtteranceEnded)] == ["reply", "reply", "narration"]
    assert [event.interrupted for event in events if isinstance(event, UtteranceEnded)] == [True, True, False]
    assert not [event for event in events if isinstance(event, SoundIgnored)]


@pytest.mark.parametrize("control", ["interrupt", "commit_turn", "mute", "unmute"])
def test_a_call_that_has_not_begun_cannot_be_steered(control: str) -> None:
    clock = VirtualClock()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="run it first"):
            getattr(Steered(clock, "hello").call, control)()

    clock.run(main())


@pytest.mark.parametrize("text", ["", " \n ", "x" * (LONGEST_TYPED + 1)])
def test_nothing_and_too_much_cannot_be_typed(text: str) -> None:
    clock = VirtualClock()

    async def main() -> None:
        with pytest.raises(ValueError, match="type a word at least"):
            Steered(clock, "hello").call.type_in(text)

    clock.run(main())
