"""Where services that speak chat completions differ from OpenAI's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.core.errors import ModelError
from agents.core.glove import Glove
from agents.core.messages import Message, ToolCall
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.models.openai_compat import OpenAICompatible
from agents.models.openai_wire import Dialect, write_messages
from tests.agents.core.scenes import echo
from tests.agents.models.completions_server import CompletionsServer, call, chunk, completions_server, frame, text
from tests.agents.models.wire_server import Answer

pytestmark = pytest.mark.wire

HELLO = ModelRequest(system_prompt="", messages=(Message(sender="user", text="Hello"),))
ROUTER = Dialect(provider="test", model="m", thoughts="reasoning_details")


@asynccontextmanager
async def model_of(server: CompletionsServer, **settings: Any) -> AsyncIterator[OpenAICompatible]:
    model = OpenAICompatible("m", provider="test", base_url=server.url, api_key="sk-secret", **settings)
    try:
        yield model
    finally:
        await model.aclose()


async def answer(*chunks: dict[str, Any] | str, finish: str = "stop", **settings: Any) -> list[ModelEvent]:
    async with (
        completions_server(Answer(chunks=chunks, finish=finish), **settings) as server,
        model_of(server) as model,
    ):
        events = [event async for event in model.stream(HELLO)]
        assert server.complaints == []
        return events


def end(events: list[ModelEvent]) -> ModelFinished:
    assert isinstance(events[-1], ModelFinished)
    return events[-1]


@pytest.mark.parametrize("names", [("reasoning",), ("reasoning_content",), ("reasoning", "reasoning_content")])
async def test_a_thought_is_kept_once_under_whatever_names_it_comes(names: tuple[str, ...]) -> None:
    pieces = [dict.fromkeys(names, piece) for piece in ("Let me ", "think.")]
    events = await answer(*pieces, text("Fine."))
    assert events[0] == TextChunk(text="Fine.")
    assert end(events).reasoning_content == "Let me think."


async def test_parts_of_thoughts_are_put_together_and_sent_back_with_their_call() -> None:
    def part(**more: Any) -> dict[str, Any]:
        return {"reasoning_details": [more]}

    first = [
        part(type="reasoning.text", index=0, format="claude", text="Let me "),
        part(type="reasoning.text", index=0, text="think.", signature=None),
        part(type="reasoning.text", index=0, signature="Eq"),
        part(type="reasoning.encrypted", index=1, data="xyz", id="r1"),
        call(0, id="a", name="echo", arguments="{}"),
    ]
    answers = [Answer(chunks=first, finish="tool_calls"), Answer(chunks=[text("Done.")])]
    async with completions_server(*answers, wants="reasoning_details") as server:
        async with model_of(server, thoughts="reasoning_details") as model:
            await Glove(model=model).fold(echo()).process_request("Hello")
        assert server.complaints == []
    (asked,) = [message for message in server.bodies[1]["messages"] if message["role"] == "assistant"]
    assert asked["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "format": "claude", "text": "Let me think.", "signature": "Eq"},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz", "id": "r1"},
    ]


@pytest.mark.parametrize("dialect", [Dialect(provider="test", model="n", thoughts="reasoning_details"), Dialect()])
def test_parts_of_thoughts_go_to_nobody_else(dialect: Dialect) -> None:
    asked = Message(
        sender="agent",
        tool_calls=(ToolCall(id="a", tool_name="echo", input_args={}),),
        provider_options={"test": {"model": "m", "thoughts": [{"type": "reasoning.text"}]}},
    )
    request = ModelRequest(system_prompt="", messages=(asked,))
    assert "reasoning_details" in write_messages(request, ROUTER)[0]
    assert write_messages(request, dialect)[0].keys() == {"role", "content", "tool_calls"}


async def test_what_is_attached_to_a_call_goes_back_with_it() -> None:
    signed = call(0, id="a", name="echo", arguments="{}")
    signed["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "Eq"}}
    answers = [Answer(chunks=[signed], finish="tool_calls"), Answer(chunks=[text("Done.")])]
    async with completions_server(*answers) as server, model_of(server) as model:
        await Glove(model=model).fold(echo()).process_request("Hello")
        assert server.complaints == []
    (made,) = server.bodies[1]["messages"][-2]["tool_calls"]
    assert made["extra_content"] == {"google": {"thought_signature": "Eq"}}
    other = ToolCall(id="a", tool_name="echo", input_args={}, provider_options={"gemini": {"extra_content": {}}})
    (written,) = write_messages(
        ModelRequest(system_prompt="", messages=(Message(sender="agent", tool_calls=(other,)),))
    )
    assert written["tool_calls"][0].keys() == {"id", "type", "function"}


async def test_a_refusal_is_said_and_named_as_one_and_its_calls_are_not_run() -> None:
    events = await answer({"refusal": "I cannot "}, {"refusal": "do that."}, call(0, id="a", name="echo"))
    assert events[:-1] == [TextChunk(text="I cannot "), TextChunk(text="do that.")]
    assert end(events).stop_reason == "refusal"


async def test_what_is_cached_is_counted_where_the_service_counts_it_elsewhere() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 7, "prompt_cache_hit_tokens": 12, "prompt_cache_miss_tokens": 8}
    assert end(await answer(text("Fine."), usage=usage)).usage.cache_read_input_tokens == 12
    plain = {"prompt_tokens": 20, "completion_tokens": 7}
    assert end(await answer(text("Fine."), usage=plain)).usage.cache_read_input_tokens is None


async def test_keep_alive_comments_say_nothing() -> None:
    events = await answer(": OPENROUTER PROCESSING", text("Fine."), ": OPENROUTER PROCESSING")
    assert events[:-1] == [TextChunk(text="Fine.")]


@pytest.mark.parametrize(
    ("error", "reason", "status"),
    [
        ({"code": 429, "message": "sk-secret"}, "too many requests", 429),
        ({"code": 502, "message": "sk-secret"}, r"server failed \(502\)", 502),
        ({"code": "server_error", "message": "sk-secret"}, "broke off", None),
    ],
)
async def test_an_error_in_the_stream_is_the_error_it_stands_for(
    error: dict[str, Any], reason: str, status: int | None
) -> None:
    broken = frame({}, "error")[:-1] + f', "error": {error}}}'.replace("'", '"')
    with pytest.raises(ModelError, match=reason) as caught:
        await answer(text("Well, "), broken)
    assert caught.value.status == status and caught.value.retryable
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("finish", ["error", "insufficient_system_resource"])
async def test_an_end_that_is_none_is_a_response_that_broke_off(finish: str) -> None:
    with pytest.raises(ModelError, match="broke off"):
        await answer(text("Well, "), finish=finish)


async def test_a_call_that_was_cut_at_the_token_limit_is_no_call_that_can_run() -> None:
    whole, cut = call(0, id="a", name="x"), call(1, id="b", name="x")
    (first, second, finished) = await answer(whole, cut, finish="length")
    assert isinstance(first, ToolCalled) and first.call.input_args == {}
    assert isinstance(second, ToolCalled) and second.call.input_args == ""
    assert isinstance(finished, ModelFinished) and finished.stop_reason == "length"


async def test_a_limit_that_was_spent_on_thinking_is_an_error_and_not_silence() -> None:
    with pytest.raises(ModelError, match="token limit was reached before the first word"):
        await answer({"reasoning": "Let me think."}, finish="length")


async def test_arguments_that_are_null_are_none() -> None:
    (called, _) = await answer(call(0, id="a", name="x", arguments="null"))
    assert isinstance(called, ToolCalled) and called.call.input_args == {}


async def test_options_are_fields_of_the_request_and_a_wait_is_passed_on() -> None:
    busy = Answer(status=429, headers={"retry-after": "2"})
    async with completions_server(busy) as server, model_of(server, options={"reasoning_effort": "low"}) as model:
        with pytest.raises(ModelError, match="wait 2 s") as caught:
            await anext(model.stream(HELLO))
        assert server.complaints == []
    assert server.bodies[0]["reasoning_effort"] == "low"
    assert caught.value.retry_after_s == 2


async def test_a_chunk_that_is_not_what_the_wire_has_is_an_error() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        await answer(text("Well, "), f'{{"choices": [5], "id": "{chunk()["id"]}"}}')
