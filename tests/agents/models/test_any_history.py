"""Whatever a conversation has come to, its next request is one that both wires take."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.core.messages import ContentPart, Message, Settlement, ToolCall, ToolResult, ToolResultData
from agents.core.model import ModelRequest
from agents.core.prompt import History, assemble
from agents.models.anthropic_wire import write_body
from agents.models.openai_wire import Dialect, write_messages
from tests.agents.models import completions_server, messages_server

WORDS = st.sampled_from(["Hello", "é 🙂", "Two words.\nTwo lines."])
BLANK = st.sampled_from(["", " ", "\n"])
INPUTS: st.SearchStrategy[Any] = st.sampled_from([{}, {"word": "é"}, "", '{"word": ', [1], None, 7])
PARTS = st.sampled_from(
    [
        ContentPart(type="image", data="QUJD"),
        ContentPart(type="image", url="https://example.org/a.png"),
        ContentPart(type="document", name="a.pdf"),
        ContentPart(type="text", text="More."),
    ]
)
OUTCOMES = st.builds(
    ToolResultData,
    status=st.sampled_from(["success", "error", "aborted"]),
    data=st.sampled_from([None, "", "text", {"a": 1}]),
    message=st.sampled_from([None, "no"]),
)
THOUGHT = {"type": "thinking", "thinking": "Let me think.", "signature": "EqQBsigned"}


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Message], dict[str, Settlement]]:
    """Messages in any order, calls with and without results, replies heard whole, in part and not at all."""
    messages: list[Message] = []
    settlements = {}
    calls: list[ToolCall] = []
    for number in range(draw(st.integers(0, 8))):
        id = f"m{number}"
        kind = draw(st.sampled_from(["user", "agent", "results", "inbox"]))
        if kind == "user":
            content = tuple(draw(st.lists(PARTS, max_size=2)))
            messages.append(Message(sender="user", text=draw(WORDS), content=content, id=id))
        elif kind == "inbox":
            messages.append(Message(sender="user", text=draw(WORDS), framework_context="inbox", id=id))
        elif kind == "results" and calls:
            told = [calls.pop(0) for _ in range(draw(st.integers(1, len(calls))))]
            results = tuple(
                ToolResult(tool_name=call.tool_name, call_id=call.id, result=draw(OUTCOMES)) for call in told
            )
            messages.append(Message(sender="user", text="Results.", tool_results=results, id=id))
        elif kind == "agent":
            made = tuple(
                ToolCall(
                    id=f"functions.{id}:{index}", tool_name=draw(st.sampled_from(["t", "no such"])), input_args=args
                )
                for index, args in enumerate(draw(st.lists(INPUTS, max_size=3)))
            )
            text = draw(WORDS if not made else WORDS | BLANK)
            layout = [THOUGHT, {"type": "text", "characters": draw(st.integers(0, 9))}, {"type": "tool_use"}]
            options = {"anthropic": {"model": draw(st.sampled_from(["m", "n"])), "blocks": layout}}
            kept = draw(st.sampled_from([None, options]))
            messages.append(Message(sender="agent", text=text, tool_calls=made, id=id, provider_options=kept))
            calls += made
            if draw(st.booleans()):
                heard = text[: draw(st.integers(0, len(text)))]
                settlements[id] = Settlement(message_id=id, heard=heard, interrupted=heard != text)
    return messages, settlements


@given(conversations(), st.lists(WORDS, max_size=2))
def test_any_history_is_one_that_both_services_take(
    conversation: tuple[list[Message], dict[str, Settlement]], context: list[str]
) -> None:
    messages, settlements = conversation
    runtime = [Message(sender="user", text=text, framework_context="runtime") for text in context]
    shown = assemble(History(messages=messages, settlements=settlements), runtime)
    request = ModelRequest(system_prompt="Be brief.", messages=shown)
    body = {"model": "m", "stream": True, **write_body(request, model="m")}
    assert messages_server.complaints({**body, "max_tokens": 9}) == []
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    assert completions_server.complaints({**body, "messages": write_messages(request)}) == []
    wanted = write_messages(request, Dialect(thoughts="reasoning_content"))
    assert completions_server.complaints({**body, "messages": wanted}, wants="reasoning_content") == []
