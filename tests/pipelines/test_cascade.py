"""A call with scripted engines: trouble, narration, hang-up. Interruptions are told in ``turns/test_machine``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from pipelines.audio.frame import HEARING_RATE
from pipelines.events import EngineTrouble, SoundIgnored, TurnCommitted, UtteranceEnded, UtteranceStarted
from tests.pipelines.line import Line, Tale, hold
from tests.pipelines.scripted import Answer, frames, spoken


def conversation(*phrases: Sequence[str]) -> Tale:
    async def tale(line: Line) -> None:
        for phrase in phrases:
            await line.says(*phrase)
            await line.silence(6)

    return tale


def test_a_failing_model_is_apologised_for_and_the_next_turn_is_answered() -> None:
    line = hold(conversation(["tell", "me"], ["and", "this"]), answers=(Answer(words=2, fails=True), Answer(words=3)))
    assert [event.engine for event in line.all(EngineTrouble)] == ["model"]
    assert line.apologies == 1
    first, apology, second = line.all(UtteranceEnded)
    assert (first.kind, first.interrupted, first.heard) == ("reply", True, "raxa raxb.")
    assert (apology.kind, apology.interrupted) == ("apology", False)
    assert (second.kind, second.interrupted) == ("reply", False)
    assert line.responder.recorded == [(apology.text, "apology", False)]
    assert [reply.settled for reply in line.responder.replies] == [[("raxa raxb.", True)], [(second.text, False)]]


def test_a_dead_synthesiser_is_still_apologised_for_with_the_sentence_rendered_beforehand() -> None:
    line = hold(conversation(["tell", "me"], ["and", "this"]), broken_voice=frozenset({1}), answers=(Answer(words=7),))
    assert [event.engine for event in line.all(EngineTrouble)] == ["synthesizer"]
    assert line.apologies == 1
    first, _, second = line.all(UtteranceEnded)
    # Four words were made into audio before it broke: they were said and heard, and no more is claimed.
    assert (first.interrupted, first.heard) == (True, "raxa raxb raxc raxd.")
    assert second.heard == second.text


def test_an_apology_is_said_once_in_thirty_seconds_however_often_an_engine_fails() -> None:
    line = hold(conversation(*[["tell", "me"]] * 4), answers=(Answer(words=1, fails=True),))
    assert len(line.all(EngineTrouble)) == 4
    assert line.apologies == 1


def test_a_recogniser_that_fails_is_reopened_and_hears_again_what_it_failed_on() -> None:
    line = hold(conversation(["tell", "me", "that"]), broken_ears=frozenset({0}))
    assert [event.engine for event in line.all(EngineTrouble)] == ["recognizer"]
    assert line.recognizer.opened == 2
    assert line.committed == ["tell me that"]
    assert line.apologies == 0


def test_words_are_owned_up_to_when_a_recogniser_fails_on_them_twice_and_the_call_goes_on() -> None:
    line = hold(conversation(["me"], ["and", "this"]), broken_ears=frozenset({0, 1}))
    assert [event.kind for event in line.all(SoundIgnored)] == ["unheard"]
    assert line.apologies == 1
    assert line.committed == ["and this"]


def test_a_recogniser_is_reopened_less_and_less_often() -> None:
    line = hold(conversation(*[["tell"]] * 4), broken_ears=frozenset(range(6)))
    troubles = line.times(EngineTrouble)
    gaps = [later - earlier for earlier, later in pairwise(troubles)]
    assert gaps[0] == pytest.approx(0.6)
    assert max(gaps) > 2


def test_a_caller_who_mutes_in_mid_word_is_answered() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.clock.sleep(5)

    line = hold(tale)
    assert line.committed == ["tell me"]
    assert line.all(UtteranceEnded)[0].heard == line.all(UtteranceEnded)[0].text


def test_a_greeting_is_spoken_and_becomes_part_of_the_conversation() -> None:
    async def tale(line: Line) -> None:
        await line.silence(3)

    line = hold(tale, greeting="good day to you.")
    assert line.responder.recorded == [("good day to you.", "greeting", False)]


def test_words_over_a_narration_are_answered_after_it() -> None:
    async def tale(line: Line) -> None:
        line.cascade.narrate("this is a long text that is heard to its very end.")
        await line.silence(0.5)
        await line.says("tell", "me", "that")
        await line.silence(8)

    line = hold(tale)
    narration, reply = line.all(UtteranceEnded)
    assert (narration.kind, narration.heard) == ("narration", narration.text)
    assert line.committed == ["tell me that"]
    assert line.times(TurnCommitted)[0] >= line.times(UtteranceEnded)[0] - 0.001
    assert reply.kind == "reply"


def test_the_host_may_cut_what_is_being_said() -> None:
    async def tale(line: Line) -> None:
        line.cascade.narrate("this is a long text that is cut somewhere in its middle by the host.")
        await line.silence(1.4)
        line.cascade.interrupt()
        await line.silence(2)

    line = hold(tale)
    (narration,) = line.all(UtteranceEnded)
    assert narration.interrupted
    assert narration.heard == "this is a long text"
    assert line.cascade.idle


def test_a_committed_turn_does_not_wait_for_its_hold() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me", "and")
        await line.silence(0.5)
        line.cascade.commit_turn()
        await line.silence(3)

    line = hold(tale)
    assert line.committed == ["tell me and"]
    assert line.times(TurnCommitted)[0] == pytest.approx(0.9 + 0.5, abs=0.03)


def test_hanging_up_in_mid_reply_settles_what_was_heard() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(3)

    line = hold(tale, answers=(Answer(words=40, pace_s=0.05),))
    (ended,) = line.all(UtteranceEnded)
    assert ended.interrupted
    assert ended.heard
    assert ended.text.startswith(ended.heard)
    assert len(ended.heard) < len(ended.text)
    assert line.responder.replies[0].settled == [(ended.heard, True)]


def test_the_first_sound_of_a_reply_does_not_wait_for_its_end() -> None:
    line = hold(conversation(["tell", "me"]), answers=(Answer(words=12, pace_s=0.3),))
    started, ended = line.times(UtteranceStarted)[0], line.times(TurnCommitted)[0]
    assert started - ended < 2.0


@pytest.mark.parametrize("burst", [1, 5, 20])
def test_a_caller_whose_frames_come_in_bursts_is_answered_as_soon_as_any_other(burst: int) -> None:
    async def tale(line: Line) -> None:
        said = frames(np.concatenate([spoken(line.vocabulary, ["tell", "me"], 0.3), np.zeros(50_000, np.int16)]))
        for first in range(0, len(said), burst):
            await line.clock.sleep(burst * 0.02)
            for frame in said[first : first + burst]:
                line.cascade.hear(frame)

    line = hold(tale)
    assert line.committed == ["tell me"]
    (committed,) = line.all(TurnCommitted)
    assert committed.ended_at == pytest.approx(0.6, abs=0.025)
    assert line.times(TurnCommitted)[0] == pytest.approx(1.8, abs=0.025)


def test_words_are_answered_although_the_sound_they_came_in_goes_on_for_ever() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.sends(np.full(30 * HEARING_RATE, 7, np.int16))

    line = hold(tale, partial_every_s=0.5)
    assert line.committed == ["tell me"]
    assert line.times(TurnCommitted)[0] < 12
    # The reply is not held by the hum either.
    assert line.times(UtteranceStarted)[0] < 13
