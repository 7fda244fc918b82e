"""The servers are strict: what the real services refuse, they refuse, to the official SDKs too."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.agents.models import completions_server as completions
from tests.agents.models import messages_server as messages
from tests.agents.models.wire_server import Answer

pytestmark = pytest.mark.wire


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def asked(*ids: str) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": id, "name": "t", "input": {}} for id in ids]
    return {"role": "assistant", "content": calls}


def answered(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ids]}


def turn(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


HELLO = turn("user", said("Hello"))
MARK = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "Let me think."}

REFUSED_MESSAGES: dict[str, dict[str, Any]] = {
    "nothing said": {"messages": []},
    "the agent first": {"messages": [turn("assistant", said("Hello")), HELLO]},
    "the agent last": {"messages": [HELLO, turn("assistant", said("Hello"))]},
    "two turns of one side": {"messages": [HELLO, HELLO]},
    "empty text": {"messages": [turn("user", said(""))]},
    "blank text": {"messages": [turn("user", said("Hello"), said(" \n"))]},
    "empty turn": {"messages": [turn("user")]},
    "empty system prompt": {"messages": [HELLO], "system": [said("")]},
    "call without result": {"messages": [HELLO, asked("a"), HELLO]},
    "one result of two": {"messages": [HELLO, asked("a", "b"), answered("a")]},
    "result without call": {"messages": [answered("a")]},
    "result of another call": {"messages": [HELLO, asked("a"), answered("b")]},
    "result not first": {"messages": [HELLO, asked("a"), turn("user", said("Hm."), *answered("a")["content"])]},
    "id that is none": {"messages": [HELLO, asked("t:0"), answered("t:0")]},
    "call by the user": {"messages": [turn("user", *asked("a")["content"]), answered("a")]},
    "unknown field": {"messages": [HELLO], "extra_body": {"frequency_penalty": 1}},
    "temperature": {"messages": [HELLO], "extra_body": {"temperature": 1.0}},
    "unknown field of a block": {"messages": [turn("user", said("Hello") | {"characters": 5})]},
    "unsigned thought": {"messages": [HELLO, turn("assistant", THOUGHT | {"signature": ""}, said("Hm.")), HELLO]},
    "changed thought": {
        "messages": [HELLO, turn("assistant", {**THOUGHT, "thinking": "Let", "signature": "EqQBsigned"}), HELLO]
    },
    "five marks": {"messages": [turn("user", *[said(str(number)) | MARK for number in range(5)])]},
    "marked thought": {
        "messages": [HELLO, turn("assistant", THOUGHT | MARK | {"signature": "EqQBsigned"}, said("Hm.")), HELLO]
    },
    "picture without a source": {
        "messages": [turn("user", {"type": "image", "source": {"type": "url", "url": "data:image/png;base64,QUJD"}})]
    },
    "tool that takes no object": {"messages": [HELLO], "tools": [{"name": "t", "input_schema": {"type": "string"}}]},
    "tool with a bad name": {"messages": [HELLO], "tools": [{"name": "my tool", "input_schema": {"type": "object"}}]},
    "no tokens": {"messages": [HELLO], "max_tokens": 0},
}


@pytest.mark.parametrize("request_", REFUSED_MESSAGES.values(), ids=REFUSED_MESSAGES)
async def test_a_messages_request_that_anthropic_refuses_is_refused(request_: dict[str, Any]) -> None:
    async with messages.messages_server(Answer()) as server:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client:
            create: Any = client.messages.create
            with pytest.raises(anthropic.BadRequestError):
                await create(**{"model": "m", "max_tokens": 9, "stream": True} | request_)
        assert server.complaints


CALL = {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "ok"}
USER = {"role": "user", "content": "Hello"}
BROKEN = {**CALL, "function": {"name": "t", "arguments": "[1]"}}

REFUSED_COMPLETIONS: dict[str, dict[str, Any]] = {
    "call without result": {"messages": [USER, CALLED, USER]},
    "call without result at the end": {"messages": [USER, CALLED]},
    "result without call": {"messages": [USER, RESULT]},
    "result behind a message": {"messages": [USER, CALLED, USER, RESULT]},
    "the same id twice": {"messages": [USER, CALLED | {"tool_calls": [CALL, CALL]}, RESULT, RESULT]},
    "empty message": {"messages": [{"role": "user", "content": ""}]},
    "unknown role": {"messages": [{"role": "robot", "content": "Hello"}]},
    "unknown field": {"messages": [USER], "extra_body": {"thinking": {}}},
    "unknown field of a message": {"messages": [USER, CALLED | {"reasoning": "Hm."}, RESULT]},
    "input that is no object": {"messages": [USER, CALLED | {"tool_calls": [BROKEN]}, RESULT]},
    "no tools": {"messages": [USER], "tools": []},
    "part without content": {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]},
}


@pytest.mark.parametrize("request_", REFUSED_COMPLETIONS.values(), ids=REFUSED_COMPLETIONS)
async def test_a_completions_request_that_services_refuse_is_refused(request_: dict[str, Any]) -> None:
    async with completions.completions_server(Answer()) as server:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            create: Any = client.chat.completions.create
            with pytest.raises(openai.BadRequestError):
                await create(model="m", stream=True, stream_options={"include_usage": True}, **request_)
        assert server.complaints


async def test_thoughts_that_must_come_back_are_missed() -> None:
    async with completions.completions_server(Answer(), wants="reasoning_content") as server:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            create: Any = client.chat.completions.create
            with pytest.raises(openai.BadRequestError):
                await create(
                    model="m", stream=True, stream_options={"include_usage": True}, messages=[USER, CALLED, RESULT]
                )
        assert server.complaints == [f"reasoning_content must be passed back: {CALLED}"]
