from __future__ import annotations

from pipelines.turns.settings import TurnSettings
from tests.e2e.agents import STORY
from tests.e2e.faults import FailingRecognizer, FailingVoice
from tests.e2e.stage import Call, Stage, heard_by
from tests.fixtures.wer import normalised

SORRY = TurnSettings().engine_failed


def apologies(call: Call) -> list[str]:
    return [utterance.text for utterance in call.report.utterances if utterance.kind == "apology"]


def assert_honest_once(call: Call, engine: str) -> None:
    """One sentence was said and heard, an event names the engine, and nothing was interrupted by it."""
    assert {event.data["engine"] for event in call.events("engine_trouble")} == {engine}
    assert apologies(call) == [SORRY]
    (sorry,) = (each for each in call.report.utterances if each.kind == "apology")
    assert (sorry.heard, sorry.interrupted) == (SORRY, False)
    heard = normalised(heard_by(call.between(sorry.start_s, sorry.end_s)))
    assert heard[-5:] == normalised("could you say that again")


def test_a_recogniser_that_fails_once_is_opened_again_and_hears_what_it_had_failed_on(stage: Stage) -> None:
    ears = FailingRecognizer(stage.house.recognizer, {1})
    call = stage.call("what-time-is-it", "twelve-times-seven", house=stage.with_engines(recognizer=ears))
    assert [normalised(turn.caller) for turn in call.turns] == [
        normalised("what time is it"),
        normalised("what is twelve times seven"),
    ]
    assert [tool.name for turn in call.turns for tool in turn.tools] == ["tell_time", "calculate"]
    assert len(call.events("engine_trouble")) == 1
    assert apologies(call) == []
    first, second = ears.opened_at
    assert second - first >= 0.5


def test_a_recogniser_that_fails_again_is_apologised_for_once_and_the_next_turn_is_answered(stage: Stage) -> None:
    ears = FailingRecognizer(stage.house.recognizer, {1, 2}, partials=False)
    call = stage.call("what-time-is-it", "what-time-is-it", house=stage.with_engines(recognizer=ears))
    assert_honest_once(call, "recognizer")
    assert [normalised(turn.caller) for turn in call.turns] == [normalised("what time is it")]
    assert call.turns[0].heard == call.turns[0].agent
    waits = [later - earlier for earlier, later in zip(ears.opened_at, ears.opened_at[1:], strict=False)]
    assert waits[0] >= 0.5
    assert waits[1] >= 1.0, "it backs off"


def test_a_partial_text_makes_do_for_a_final_that_will_not_come(stage: Stage) -> None:
    ears = FailingRecognizer(stage.house.recognizer, {1, 2})
    call = stage.call("what-can-you-do", house=stage.with_engines(recognizer=ears))
    assert [normalised(turn.caller) for turn in call.turns] == [normalised("what can you do for me")]
    assert len(call.events("engine_trouble")) == 2
    assert apologies(call) == []


def test_words_recognised_before_a_failure_are_part_of_the_turn(stage: Stage) -> None:
    ears = FailingRecognizer(stage.house.recognizer, {2})
    call = stage.call("number-in-groups", agent="echo", house=stage.with_engines(recognizer=ears))
    heard = [word for turn in call.turns for word in normalised(turn.caller)]
    assert heard[:2] == ["one", "four"]
    assert heard[-1:] == ["seven"]


def test_a_voice_that_fails_is_apologised_for_with_the_sentence_rendered_beforehand(stage: Stage) -> None:
    voice = FailingVoice(stage.house.synthesizer, {1})
    call = stage.call("what-time-is-it", "what-time-is-it", house=stage.with_engines(synthesizer=voice))
    assert_honest_once(call, "synthesizer")
    first, second = call.turns
    assert (first.heard, first.interrupted) == ("", True)
    assert (second.heard, second.interrupted) == (second.agent, False)


def test_a_voice_that_dies_in_mid_answer_has_said_what_was_heard_before(stage: Stage) -> None:
    voice = FailingVoice(stage.house.synthesizer, {3})
    call = stage.call(
        "what-can-you-do", "twelve-times-seven", agent="storyteller", house=stage.with_engines(synthesizer=voice)
    )
    assert_honest_once(call, "synthesizer")
    sentences = STORY.split(". ")
    assert call.turns[0].heard.strip() == ". ".join(sentences[:2]) + "."
    assert call.turns[0].interrupted
    assert normalised(heard_by(call.between(0.0, call.report.utterances[0].end_s))) == normalised(call.turns[0].heard)
    assert (call.turns[1].heard, call.turns[1].interrupted) == (call.turns[1].agent, False)


def test_a_model_that_fails_is_apologised_for_and_the_next_turn_is_answered(stage: Stage) -> None:
    call = stage.call("yes", "what-time-is-it", "what-day-is-it", agent="tests.e2e.faults:failing_model")
    assert_honest_once(call, "model")
    assert [turn.agent.strip() for turn in call.turns] == ["You said Yes.", "", "You said What day is it today?"]


def test_a_model_that_fails_in_mid_answer_keeps_what_it_said(stage: Stage) -> None:
    call = stage.call("yes", "what-time-is-it", "what-day-is-it", agent="tests.e2e.faults:breaking_model")
    assert_honest_once(call, "model")
    broken = call.turns[1]
    assert broken.heard.startswith("The first of the three answers is simple.")
    assert broken.interrupted
    assert call.turns[2].heard.strip() == "You said What day is it today?"


def test_everything_may_fail_in_one_call_and_it_still_goes_on(stage: Stage) -> None:
    house = stage.with_engines(
        recognizer=FailingRecognizer(stage.house.recognizer, {2}),
        synthesizer=FailingVoice(stage.house.synthesizer, {2}),
    )
    call = stage.call(
        "yes", "what-time-is-it", "what-day-is-it", "no", agent="tests.e2e.faults:failing_model", house=house
    )
    assert {event.data["engine"] for event in call.events("engine_trouble")} == {"recognizer", "model", "synthesizer"}
    assert apologies(call) == [SORRY]
    assert [normalised(turn.caller) for turn in call.turns] == [
        ["yes"],
        normalised("what time is it"),
        normalised("what day is it today"),
        ["no"],
    ]
    assert [turn.heard.strip() for turn in call.turns] == ["You said Yes.", "", "", "You said No."]
