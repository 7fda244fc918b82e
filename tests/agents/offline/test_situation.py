from __future__ import annotations

from typing import Any

from agents.core.messages import Message, ToolCall, ToolResult, ToolResultData
from agents.offline.situation import Outcome, read_situation

ASK = {"ask": "Which number?", "field": "number", "so_far": {"message": "x"}}


def person(text: str) -> Message:
    return Message(sender="user", text=text)


def agent(text: str) -> Message:
    return Message(sender="agent", text=text)


def calling(data: Any, *, text: str = "", id: str = "c1", tool: str = "take") -> list[Message]:
    call = ToolCall(id=id, tool_name=tool, input_args={"given": True})
    result = ToolResult(tool_name=tool, call_id=id, result=ToolResultData(status="success", data=data))
    return [Message(sender="agent", text=text, tool_calls=(call,)), Message(sender="user", tool_results=(result,))]


def test_nothing_was_said() -> None:
    situation = read_situation([agent("Hello.")])
    assert (situation.utterance, situation.question, situation.outcomes) == ("", None, ())


def test_a_question_is_open_until_the_next_turn_is_over() -> None:
    history = [person("go"), *calling(ASK), agent("Which number?"), person("two seven")]
    question = read_situation(history).question
    assert question is not None
    assert (question.tool_name, question.field, question.inputs) == ("take", "number", {"message": "x"})
    assert read_situation([*history, agent("Dropped."), person("hello")]).question is None


def test_a_question_outlives_an_apology() -> None:
    history = [
        person("go"),
        *calling(ASK),
        agent("Which number?"),
        agent("Sorry, I did not catch that."),
        person("two"),
    ]
    question = read_situation(history).question
    assert question is not None and question.field == "number"


def test_without_so_far_the_inputs_of_the_call_go_on() -> None:
    asked = [person("go"), *calling({"ask": "Which?", "field": "n"}), agent("Which?"), person("two")]
    question = read_situation(asked).question
    assert question is not None and question.inputs == {"given": True}


def test_what_the_framework_said_is_no_utterance() -> None:
    note = Message(sender="user", text="It rains.", framework_context="runtime")
    assert read_situation([person("hello"), note]).utterance == "hello"


def test_words_that_were_not_answered_are_one_utterance() -> None:
    history = [person("go"), *calling(ASK), agent("Which number?"), person("two seven nine"), person("four one three")]
    situation = read_situation(history)
    assert situation.utterance == "two seven nine four one three"
    assert situation.question is not None and situation.question.field == "number"


def test_a_call_whose_words_nobody_heard_answers_nothing_and_asks_nothing() -> None:
    other = {"ask": "Is that right?", "field": "confirmed"}
    history = [
        *(person("go"), *calling(ASK), agent("Which number?")),
        *(person("two seven nine"), *calling(other, id="c2"), person("four one three")),
    ]
    situation = read_situation(history)
    assert situation.utterance == "two seven nine four one three"
    assert situation.question is not None and situation.question.field == "number"


def test_outcomes_are_those_of_this_turn() -> None:
    history = [
        person("go"),
        *calling(ASK),
        agent("Which number?"),
        person("what time is it"),
        *calling("nine", id="c2"),
    ]
    (outcome,) = read_situation(history).outcomes
    assert outcome.result.data == "nine"


def test_only_a_result_with_a_question_and_a_field_asks() -> None:
    call = ToolCall(id="c", tool_name="t", input_args={})
    for status, data in (
        ("error", ASK),
        ("success", "text"),
        ("success", {"ask": "?"}),
        ("success", {"ask": 1, "field": "x"}),
    ):
        assert Outcome(call=call, result=ToolResultData(status=status, data=data)).question is None  # type: ignore[arg-type]
