from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.core.errors import ModelError
from agents.core.messages import ToolCall, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, UsageTold
from agents.models.anthropic import AnthropicModel
from tests.agents.models.messages_server import (
    MessagesServer,
    call,
    delta,
    error,
    messages_server,
    ping,
    redacted,
    start,
    stop,
    text,
    thought,
)
from tests.agents.models.wire_server import Answer

pytestmark = pytest.mark.wire

HELLO = ModelRequest(system_prompt="", messages=())
TOLD = UsageTold(usage=Usage(tokens_in=20, tokens_out=1, cache_read_input_tokens=10, cache_creation_input_tokens=6))
"""What the service tells when it begins."""
USAGE = Usage(tokens_in=20, tokens_out=7, cache_read_input_tokens=10, cache_creation_input_tokens=6)


@asynccontextmanager
async def model_of(server: MessagesServer, **options: Any) -> AsyncIterator[AnthropicModel]:
    settings = {"silence_timeout_s": 5.0} | options
    model = AnthropicModel("claude", provider="test", base_url=server.url, api_key="sk-secret", **settings)
    try:
        yield model
    finally:
        await model.aclose()


async def answer(*answers: Answer) -> list[ModelEvent]:
    async with messages_server(*answers) as server, model_of(server) as model:
        told, *events = [event async for event in model.stream(HELLO)]
        assert told == TOLD
        assert server.complaints == []
        return events


@pytest.mark.parametrize("piece_bytes", [None, 1, 7])
async def test_text_streams_whole_however_the_frames_are_torn(piece_bytes: int | None) -> None:
    chunks = [*text(0, "Grüß ", "dich, "), ping(), *text(1, "日本 🙂")]
    assert await answer(Answer(chunks=chunks, finish="end_turn", piece_bytes=piece_bytes)) == [
        TextChunk(text="Grüß "),
        TextChunk(text="dich, "),
        TextChunk(text="日本 🙂"),
        ModelFinished(stop_reason="stop", usage=USAGE),
    ]


async def test_tool_calls_are_put_together_from_their_pieces() -> None:
    chunks = [
        *text(0, "Let me see."),
        *call(1, "toolu_1", "tell_time", "", '{"zo', 'ne": "Rome"}'),
        *call(2, "toolu_2", "list_everything"),
    ]
    assert (await answer(Answer(chunks=chunks, finish="tool_use", piece_bytes=11)))[1:] == [
        ToolCalled(call=ToolCall(id="toolu_1", tool_name="tell_time", input_args={"zone": "Rome"})),
        ToolCalled(call=ToolCall(id="toolu_2", tool_name="list_everything", input_args={})),
        ModelFinished(stop_reason="tool_calls", usage=USAGE),
    ]


@pytest.mark.parametrize(
    ("pieces", "given"),
    [((), {"word": "y"}), (('{"word": ', '"y", "more": 1}'), {"word": "y", "more": 1})],
    ids=["whole", "whole and in pieces"],
)
async def test_a_call_that_begins_with_an_input_is_never_read_twice(
    pieces: tuple[str, ...], given: dict[str, Any]
) -> None:
    begun = start(0, type="tool_use", id="a", name="x", input={"word": "y"})
    deltas = [delta(0, "input_json_delta", partial_json=piece) for piece in pieces]
    (called, _) = await answer(Answer(chunks=[begun, *deltas, stop(0)], finish="tool_use"))
    assert isinstance(called, ToolCalled) and called.call.input_args == given


async def test_thoughts_are_kept_apart_from_what_is_said_with_what_proves_them() -> None:
    chunks = [*thought(0, "Let me ", "think."), *redacted(1, "xyz"), *text(2, "Twelve."), *call(3, "a", "x", "{}")]
    (said, called, finished) = await answer(Answer(chunks=chunks, finish="tool_use"))
    assert said == TextChunk(text="Twelve.") and isinstance(called, ToolCalled)
    assert isinstance(finished, ModelFinished)
    assert finished.reasoning_content == "Let me think."
    assert finished.provider_options == {
        "anthropic": {
            "model": "claude",
            "blocks": [
                {"type": "thinking", "thinking": "Let me think.", "signature": "EqQBsigned"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "characters": 7},
                {"type": "tool_use"},
            ],
        }
    }


@pytest.mark.parametrize("pieces", [(), ('{"word": "tw',)], ids=["before its input", "in its input"])
async def test_a_call_that_was_cut_at_the_token_limit_is_no_call_that_can_run(pieces: tuple[str, ...]) -> None:
    chunks = [*call(0, "a", "x", "{}"), *call(1, "b", "x", *pieces)]
    (whole, cut, finished) = await answer(Answer(chunks=chunks, finish="max_tokens"))
    assert isinstance(whole, ToolCalled) and whole.call.input_args == {}
    assert isinstance(cut, ToolCalled) and cut.call.input_args == "".join(pieces)
    assert isinstance(finished, ModelFinished) and finished.stop_reason == "length"


async def test_what_a_refusal_called_for_is_not_called() -> None:
    chunks = [*text(0, "I could "), *call(1, "a", "x", "{}")]
    assert await answer(Answer(chunks=chunks, finish="refusal")) == [
        TextChunk(text="I could "),
        ModelFinished(stop_reason="refusal", usage=USAGE),
    ]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("refusal", "held the answer back"),
        ("max_tokens", "token limit was reached before the first word"),
        ("pause_turn", r"stopped without a word \(pause_turn\)"),
    ],
)
async def test_an_early_end_without_a_word_is_an_error_and_not_silence(finish: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        await answer(Answer(chunks=[*thought(0, "Let me ", "think.")], finish=finish))


async def test_having_nothing_to_say_is_no_error() -> None:
    assert await answer(Answer(finish="end_turn")) == [ModelFinished(stop_reason="stop", usage=USAGE)]


@pytest.mark.parametrize(
    ("status", "reason", "retryable"),
    [
        (400, "not understood", False),
        (401, "key was refused", False),
        (403, "may not use this model", False),
        (404, "no such model", False),
        (413, "too long", False),
        (429, "too many requests", True),
        (500, r"server failed \(500\)", True),
        (529, "overloaded", True),
    ],
)
async def test_a_refused_request_is_one_clear_sentence_that_quotes_nobody(
    status: int, reason: str, retryable: bool
) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        await answer(Answer(status=status))
    assert (caught.value.status, caught.value.retryable, caught.value.model) == (status, retryable, "test:claude")
    assert "secret" not in str(caught.value) and "279413862" not in str(caught.value)


async def test_how_long_to_wait_is_passed_on() -> None:
    with pytest.raises(ModelError, match="wait 12 s") as caught:
        await answer(Answer(status=429, headers={"retry-after": "12"}))
    assert caught.value.retry_after_s == 12


@pytest.mark.parametrize(
    ("type", "status", "retryable"),
    [("overloaded_error", 529, True), ("rate_limit_error", 429, True), ("invalid_request_error", 400, False)],
)
async def test_an_error_in_the_stream_is_the_error_it_stands_for(type: str, status: int, retryable: bool) -> None:
    events = []
    broken = Answer(chunks=[*text(0, "Well, "), error(type)])
    async with messages_server(broken) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            async for event in model.stream(HELLO):
                events.append(event)  # noqa: PERF401 - what came before the error is wanted
    assert events == [TOLD, TextChunk(text="Well, ")]
    assert (caught.value.status, caught.value.retryable) == (status, retryable)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "broken",
    [
        Answer(chunks=text(0, "Well, "), cut=True),
        Answer(chunks=text(0, "Well, "), finish=None),
        Answer(chunks=[*text(0, "Well, "), "{not json"]),
        Answer(chunks=[*text(0, "Well, "), delta(9, "text_delta", text="?")]),
    ],
    ids=["connection dropped", "no end", "no JSON", "a block that was never begun"],
)
async def test_a_stream_that_breaks_is_a_model_error_after_what_had_come(broken: Answer) -> None:
    events = []
    async with messages_server(broken) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            async for event in model.stream(HELLO):
                events.append(event)  # noqa: PERF401 - what came before the error is wanted
    assert events == [TOLD, TextChunk(text="Well, ")]
    assert caught.value.retryable


async def test_kinds_of_events_and_blocks_that_are_new_are_passed_over() -> None:
    chunks = [
        {"type": "message_hint", "hint": 1},
        start(0, type="weather_report", rain=True),
        delta(0, "weather_delta", more=1),
        stop(0),
        *text(1, "Fine."),
    ]
    events = await answer(Answer(chunks=chunks, finish="end_turn"))
    assert events == [TextChunk(text="Fine."), ModelFinished(stop_reason="stop", usage=USAGE)]


async def test_options_are_fields_of_the_request() -> None:
    options = {"max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    async with messages_server(Answer(finish="end_turn")) as server, model_of(server, options=options) as model:
        await anext(model.stream(HELLO))
        assert server.complaints == []
    assert server.bodies[0]["max_tokens"] == 9000
    assert server.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


async def test_a_server_that_stays_silent_is_given_up() -> None:
    async with messages_server(Answer(silent=True)) as server, model_of(server, silence_timeout_s=0.05) as model:
        with pytest.raises(ModelError, match="did not answer in time"):
            await anext(model.stream(HELLO))


async def test_a_server_that_is_not_there_is_named() -> None:
    async with messages_server() as server:
        pass
    async with model_of(server) as model:
        with pytest.raises(ModelError, match=r"test:claude.*127\.0\.0\.1.*is the server running"):
            await anext(model.stream(HELLO))


async def test_a_server_that_falls_silent_in_the_middle_is_given_up_and_left() -> None:
    stalled = Answer(chunks=text(0, "Well, "), stall=asyncio.Event())
    async with messages_server(stalled) as server, model_of(server, silence_timeout_s=0.1) as model:
        with pytest.raises(ModelError, match="did not answer in time"):
            assert [event async for event in model.stream(HELLO)] == []
        await asyncio.wait_for(server.gone.wait(), 5)
