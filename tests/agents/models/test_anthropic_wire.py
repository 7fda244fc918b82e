from __future__ import annotations

from typing import Any

import pytest

from agents.core.messages import ContentPart, Message, ToolCall, ToolResult, ToolResultData
from agents.core.model import ModelRequest, ToolSpec
from agents.models.anthropic_wire import CLOSING, OPENING, EventReader, write_body
from agents.models.wording import CONTEXT_PREFIX
from tests.agents.models.messages_server import SIGNED, complaints

MARK = {"cache_control": {"type": "ephemeral"}}
TOOL = ToolSpec(name="t", description="Tells.", input_schema={"type": "object"}, examples=("a", "b"))
THOUGHT = {"type": "thinking", "thinking": "Let me think.", "signature": SIGNED["Let me think."]}


def user(text: str, **more: Any) -> Message:
    return Message(sender="user", text=text, **more)


def now(text: str) -> Message:
    return user(text, framework_context="runtime")


def agent(text: str, *calls: str, **more: Any) -> Message:
    made = tuple(ToolCall(id=id, tool_name="t", input_args={}) for id in calls)
    return Message(sender="agent", text=text, tool_calls=made, **more)


def results(*ids: str) -> Message:
    done = ToolResultData(status="success", data="ok")
    return user("Results.", tool_results=tuple(ToolResult(tool_name="t", call_id=id, result=done) for id in ids))


def body(*messages: Message, system_prompt: str = "", tools: tuple[ToolSpec, ...] = ()) -> dict[str, Any]:
    request = ModelRequest(system_prompt=system_prompt, messages=messages, tools=tools)
    written = write_body(request, model="m")
    assert complaints({**written, "model": "m", "max_tokens": 1, "stream": True}) == []
    return written


def marked(written: dict[str, Any]) -> list[str]:
    blocks = [block for message in written["messages"] for block in message["content"]]
    return [block.get("text", block["type"]) for block in blocks if "cache_control" in block]


def kept(*blocks: dict[str, Any], model: str = "m") -> dict[str, Any]:
    return {"anthropic": {"model": model, "blocks": list(blocks)}}


def test_tools_and_system_prompt_are_one_cached_prefix() -> None:
    both = body(user("Hello"), system_prompt="Be brief.", tools=(TOOL,))
    assert both["system"] == [{"type": "text", "text": "Be brief.", **MARK}]
    assert "cache_control" not in both["tools"][-1]
    assert body(user("Hello"), tools=(TOOL, TOOL))["tools"][-1]["cache_control"] == MARK["cache_control"]
    assert body(user("Hello"), system_prompt=" \n").keys() == {"messages"}


def test_the_last_two_user_turns_are_marked_and_what_is_true_just_now_is_behind_the_marks() -> None:
    written = body(
        user("One"), agent("1"), user("Two"), agent("2", "a"), results("a"), now("It rains."), now("It is ten.")
    )
    assert marked(written) == ["Two", "tool_result"]
    assert [block["type"] for block in written["messages"][-1]["content"]] == ["tool_result", "text", "text"]


def test_a_note_in_the_middle_of_history_is_history() -> None:
    written = body(user("One"), agent("1"), now("The caller interrupted you."), user("Two"), now("It rains."))
    assert marked(written) == ["One", "Two"]
    assert written["messages"][2]["content"][0]["text"] == f"{CONTEXT_PREFIX}The caller interrupted you."


def test_turns_alternate_and_the_user_is_first_and_last() -> None:
    written = body(agent("Hello."), agent("This is the desk."), user("A"), user("B"), agent("Well."))
    assert [(turn["role"], [block["text"] for block in turn["content"]]) for turn in written["messages"]] == [
        ("user", [OPENING]),
        ("assistant", ["Hello.", "This is the desk."]),
        ("user", ["A", "B"]),
        ("assistant", ["Well."]),
        ("user", [CLOSING]),
    ]


@pytest.mark.parametrize("messages", [(), (user(" "), agent("\n")), (now("It rains."),)])
def test_there_is_something_to_say_to_a_model_that_was_told_nothing(messages: tuple[Message, ...]) -> None:
    (turn,) = body(*messages)["messages"]
    assert turn["role"] == "user" and turn["content"]


def test_a_response_is_written_as_it_was_laid_out() -> None:
    layout = kept(
        THOUGHT,
        {"type": "text", "characters": 5},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "tool_use"},
        {"type": "text", "characters": 3},
        {"type": "tool_use"},
    )
    written = body(user("Go"), agent("One. Two", "a", "b", provider_options=layout), results("a", "b"))
    shape = [block.get("text") or block.get("id") or block["type"] for block in written["messages"][1]["content"]]
    assert shape == ["thinking", "One. ", "redacted_thinking", "a", "Two", "b"]


def test_a_reply_that_was_cut_is_written_as_far_as_it_was_heard() -> None:
    layout = kept(THOUGHT, {"type": "text", "characters": 5}, {"type": "text", "characters": 30})
    written = body(user("Go"), agent("One. Tw", provider_options=layout), user("Stop"))
    assert [block.get("text") for block in written["messages"][1]["content"]] == [None, "One. ", "Tw"]


def test_thoughts_of_another_model_are_left_out_and_nothing_else() -> None:
    layout = kept(THOUGHT, {"type": "text", "characters": 3}, {"type": "tool_use"}, model="other")
    written = body(user("Go"), agent("One", "a", provider_options=layout), results("a"))
    assert [block["type"] for block in written["messages"][1]["content"]] == ["text", "tool_use"]


def test_a_thought_without_a_word_or_a_call_is_no_turn() -> None:
    written = body(user("Go"), agent(" ", provider_options=kept(THOUGHT)), user("Well?"))
    assert [turn["role"] for turn in written["messages"]] == ["user"]


def test_ids_and_names_that_another_provider_made_are_written_so_that_they_are_taken() -> None:
    call = ToolCall(id="functions.t:0", tool_name="my tool", input_args=[1])
    asked = Message(sender="agent", tool_calls=(call,))
    written = body(user("Go"), asked, results("functions.t:0"))
    assert written["messages"][1]["content"] == [
        {"type": "tool_use", "id": "functions_t_0", "name": "my_tool", "input": {"INVALID_JSON": "[1]"}}
    ]


def test_only_what_failed_is_marked_as_an_error() -> None:
    outcomes = [ToolResultData(status=status, message="no") for status in ("success", "error", "aborted")]
    ids = [f"c{number}" for number in range(3)]
    done = tuple(ToolResult(tool_name="t", call_id=id, result=it) for id, it in zip(ids, outcomes, strict=True))
    written = body(user("Go"), agent("", *ids), user("Results.", tool_results=done))
    assert [block.get("is_error") for block in written["messages"][-1]["content"]] == [None, True, True]


def test_pictures_and_documents_go_before_the_words_about_them() -> None:
    parts = (
        ContentPart(type="image", data="QUJD"),
        ContentPart(type="document", data="QUJD", name="a.pdf"),
        ContentPart(type="image", url="https://example.org/a.png"),
        ContentPart(type="image", name="lost.png"),
    )
    (turn,) = body(user("What is this?", content=parts))["messages"]
    assert turn["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "text", "text": "[image lost.png]"},
        {"type": "text", "text": "What is this?", **MARK},
    ]


def test_a_thought_that_was_cut_is_not_kept_for_it_has_no_signature() -> None:
    reader = EventReader(model="m")
    reader.feed({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Let"}})
    (finished,) = reader.finish()
    assert finished.reasoning_content == "Let" and finished.provider_options is None  # type: ignore[union-attr]


def test_examples_are_shown_in_the_description() -> None:
    assert body(user("Hello"), tools=(TOOL,))["tools"][0]["description"] == 'Tells. A caller may say: "a"; "b".'
