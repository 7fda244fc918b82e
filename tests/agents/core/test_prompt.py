from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.core.messages import Message, Settlement, ToolCall, ToolResult, ToolResultData
from agents.core.prompt import INTERRUPTED_NOTE, History
from agents.core.prompt import assemble as assemble_history
from tests.agents.core.scenes import outline


def assemble(
    messages: list[Message], settlements: dict[str, Settlement], runtime: Sequence[Message] = (), **more: Any
) -> tuple[Message, ...]:
    return assemble_history(History(messages=messages, settlements=settlements, **more), runtime)


def person(text: str) -> Message:
    return Message(sender="user", text=text, id=text)


def agent(text: str, *calls: str) -> Message:
    made = tuple(ToolCall(id=call, tool_name=call, input_args={}) for call in calls)
    return Message(sender="agent", text=text, id=text or "-".join(calls), tool_calls=made)


def results(*calls: str) -> Message:
    done = ToolResultData(status="success")
    return Message(
        sender="user",
        id="r" + "".join(calls),
        tool_results=tuple(ToolResult(tool_name=c, call_id=c, result=done) for c in calls),
    )


def heard(message_id: str, words: str, *, interrupted: bool = True) -> dict[str, Settlement]:
    return {message_id: Settlement(message_id=message_id, heard=words, interrupted=interrupted)}


def test_an_interrupted_message_is_cut_and_marked() -> None:
    history = [person("go"), agent("one two three"), person("stop")]
    assert outline(assemble(history, heard("one two three", "one two "))) == [
        "user: go",
        "agent: one two",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: stop",
    ]


def test_a_message_heard_to_its_end_is_whole_even_when_the_report_is_short() -> None:
    history = [agent("one two three")]
    assert outline(assemble(history, heard("one two three", "one", interrupted=False))) == ["agent: one two three"]


def test_the_mark_stands_behind_the_results_never_between() -> None:
    history = [agent("one two", "a"), results("a")]
    assert outline(assemble(history, heard("one two", "one"))) == [
        "agent: one +a",
        "results a=success",
        f"[runtime] {INTERRUPTED_NOTE}",
    ]


def test_a_message_of_which_nothing_was_heard_leaves_only_its_calls() -> None:
    assert outline(assemble([agent("one"), agent("two", "a"), results("a")], heard("one", "") | heard("two", ""))) == [
        "agent:  +a",
        "results a=success",
    ]


def test_calls_without_results_get_one_and_results_without_calls_go() -> None:
    history = [agent("", "a", "b"), results("b", "x"), person("go"), agent("", "c"), person("on")]
    assert outline(assemble(history, {})) == [
        "agent:  +a +b",
        "results a=aborted,b=success",
        "user: go",
        "agent:  +c",
        "results c=aborted",
        "user: on",
    ]


def test_what_was_stored_between_a_call_and_its_result_comes_after_both() -> None:
    history = [agent("", "a"), agent("One moment."), person("well?"), results("a")]
    assert outline(assemble(history, {})) == ["agent:  +a", "results a=success", "agent: One moment.", "user: well?"]


def test_the_first_result_of_a_call_holds() -> None:
    history = [agent("", "a"), results("a"), results("a")]
    assert outline(assemble(history, {})) == ["agent:  +a", "results a=success"]


def test_context_is_last() -> None:
    context = Message(sender="user", text="It rains.", framework_context="runtime")
    assert outline(assemble([agent("", "a")], {}, [context])) == [
        "agent:  +a",
        "results a=aborted",
        "[runtime] It rains.",
    ]


_PARTS = st.one_of(
    st.builds(person, st.sampled_from(["p", "q"])),
    st.builds(agent, st.sampled_from(["", "one two", "three"])),
    st.builds(lambda calls: agent("x", *calls), st.lists(st.sampled_from("abcdef"), unique=True, max_size=3)),
    st.builds(lambda calls: results(*calls), st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=3)),
)


@given(st.lists(_PARTS, max_size=12), st.sampled_from(["", "one"]))
def test_whatever_is_stored_every_call_is_followed_by_its_results(history: list[Message], words: str) -> None:
    shown = assemble(history, heard("one two", words))
    for place, message in enumerate(shown):
        if message.tool_calls:
            assert [call.id for call in message.tool_calls] == [r.call_id for r in shown[place + 1].tool_results]
        if message.tool_results:
            assert shown[place - 1].tool_calls
        assert message.text or message.tool_calls
