from __future__ import annotations

import pytest

from tests.e2e.agents import STORY
from tests.e2e.stage import ALL_OUTPUTS, Call, Stage, heard_by, replayed
from tests.fixtures.wer import normalised, word_errors
from voice_server.options import OutputKind

outputs = pytest.mark.parametrize("output", ALL_OUTPUTS)

NO_LATER_THAN_S = 0.2
"""Seconds from the caller's first sound to the agent's silence: detection takes two windows and a frame."""


@pytest.fixture(scope="module")
def uninterrupted(stage: Stage) -> Call:
    return stage.call("what-can-you-do", agent="storyteller")


def assert_heard_is_what_was_played(call: Call) -> None:
    """The first turn's answer was cut, and what is said of it is what a listener hears in the audio."""
    turn, cut = call.turns[0], call.audible_until(call.spoke_at[1][1])
    assert turn.interrupted
    assert turn.agent.startswith(turn.heard)
    assert len(turn.heard) < len(turn.agent.strip())
    assert turn.heard.strip()
    assert not (turn.heard[-1] + turn.agent[len(turn.heard)]).isalnum(), f"{turn.heard!r} ends inside a word"
    said, whole = normalised(turn.heard), normalised(turn.agent)
    heard = normalised(heard_by(call.between(0.0, cut)))
    # What follows the words that are the agent's was made of a word's beginning.
    understood = next((at for at, word in enumerate(heard) if word != whole[at]), len(heard))
    assert said == whole[: len(said)]
    assert understood - 1 <= len(said) <= understood, f"claims {said[-3:]}, played {heard[-3:]}"


@pytest.mark.parametrize(
    ("output", "after_s"),
    [*((output, 3.0) for output in ALL_OUTPUTS), (OutputKind.PAUSING, 1.6), (OutputKind.LATE, 5.3)],
)
def test_a_caller_who_speaks_over_the_answer_is_answered_and_what_they_heard_of_it_is_known(
    stage: Stage, output: OutputKind, after_s: float
) -> None:
    call = stage.call("what-can-you-do", ("stop-tell-me-the-time", after_s), output=output)
    assert_heard_is_what_was_played(call)
    _first, second = call.turns
    assert normalised(second.caller) == normalised("stop tell me the time instead")
    assert [tool.name for tool in second.tools] == ["tell_time"]
    assert second.heard == second.agent
    assert not second.interrupted


@outputs
def test_the_agent_falls_silent_as_soon_as_the_caller_begins(stage: Stage, output: OutputKind) -> None:
    call = stage.call("what-can-you-do", ("stop-tell-me-the-time", 3.0), agent="storyteller", output=output)
    began, ended = call.spoke_at[1]
    assert call.audible_until(ended) <= began + NO_LATER_THAN_S
    assert call.audible_from(began + NO_LATER_THAN_S) > ended


@pytest.mark.parametrize(
    ("output", "word"), [*((output, "stop") for output in ALL_OUTPUTS), (OutputKind.LATE, "wait-a-second")]
)
def test_stop_alone_ends_the_answer(stage: Stage, output: OutputKind, word: str) -> None:
    call = stage.call("what-can-you-do", (word, 3.0), agent="storyteller", output=output)
    assert_heard_is_what_was_played(call)
    assert normalised(call.turns[1].caller) == normalised(word.replace("-", " "))
    assert [event.data["cause"] for event in call.events("cancelled")] == ["interrupting_word"]
    assert call.turns[1].agent.startswith("You said")


@outputs
def test_after_a_cough_the_agent_goes_on_within_0_8_s_at_the_word_where_it_stopped(
    stage: Stage, uninterrupted: Call, output: OutputKind
) -> None:
    call = stage.call("what-can-you-do", ("cough", 3.0), agent="storyteller", output=output)
    _began, ended = call.spoke_at[1]
    assert call.events("held"), "a cough that nobody took for speech shows nothing"
    assert call.audible_from(ended) <= ended + 0.8
    assert len(call.turns) == 1
    assert (call.turns[0].interrupted, call.turns[0].heard) == (False, call.turns[0].agent)
    assert_continuous(uninterrupted, call, output)


@outputs
def test_a_hum_of_assent_does_not_end_the_answer_and_is_no_turn_and_no_prefix_of_one(
    stage: Stage, uninterrupted: Call, output: OutputKind
) -> None:
    call = stage.call("what-can-you-do", ("mm-hm", 3.0), "what-time-is-it", agent="storyteller", output=output)
    assert [turn.interrupted for turn in call.turns] == [False, False]
    assert call.turns[0].heard == call.turns[0].agent
    assert normalised(call.turns[1].caller) == normalised("what time is it")
    assert call.kinds() == ["backchannel"]
    story = call.report.utterances[0]
    assert_continuous(uninterrupted, call, output, until_s=story.end_s)


def assert_continuous(whole: Call, call: Call, output: OutputKind, until_s: float = float("inf")) -> None:
    """The story is heard once, whole; at most the word it stopped in is said again, where the output cannot pause."""
    story = whole.between(whole.audible_from(0.0), whole.audible_until(1e9))
    until_s = min(until_s, len(call.agent))
    track = call.between(call.audible_from(0.0), call.audible_until(until_s))
    again = replayed(story, track)
    if output is OutputKind.PAUSING:
        assert again == []
    else:
        assert len(again) <= len(call.events("resumed"))
        assert all(seconds <= 0.7 for seconds in again), f"said again: {again} s"
    heard, said = normalised(heard_by(track)), normalised(STORY)
    assert word_errors(said, heard) <= (0 if output is OutputKind.PAUSING else len(again))
