from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, ModelError
from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.messages import ToolCall, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.selection import ToolSelection
from agents.models.openai_compat import OpenAICompatible
from tests.agents.core.scenes import Diary, echo, hanging, outline
from tests.agents.models.completions_server import CompletionsServer, call, completions_server, text
from tests.agents.models.wire_server import Answer

pytestmark = pytest.mark.wire

HELLO = ModelRequest(system_prompt="", messages=())


@asynccontextmanager
async def model_of(server: CompletionsServer, silence_timeout_s: float = 5.0) -> AsyncIterator[OpenAICompatible]:
    model = OpenAICompatible(
        "m", provider="test", base_url=server.url, api_key="sk-secret", silence_timeout_s=silence_timeout_s
    )
    try:
        yield model
    finally:
        await model.aclose()


async def answer(*answers: Answer) -> list[ModelEvent]:
    async with completions_server(*answers) as server, model_of(server) as model:
        events = [event async for event in model.stream(HELLO)]
        assert server.complaints == []
        return events


@pytest.mark.parametrize("piece_bytes", [None, 1, 7])
async def test_text_streams_whole_however_the_frames_are_torn(piece_bytes: int | None) -> None:
    events = await answer(Answer(chunks=[text("Grüß "), text("dich, "), text("日本 🙂")], piece_bytes=piece_bytes))
    assert events == [
        TextChunk(text="Grüß "),
        TextChunk(text="dich, "),
        TextChunk(text="日本 🙂"),
        ModelFinished(stop_reason="stop", usage=Usage(tokens_in=20, tokens_out=7, cache_read_input_tokens=16)),
    ]


async def test_tool_calls_are_put_together_from_their_pieces() -> None:
    events = await answer(
        Answer(
            chunks=[
                text("Let me see."),
                call(0, id="a", name="tell_time"),
                call(0, arguments='{"zo'),
                call(1, id="b", name="calculate", arguments='{"question":'),
                call(0, arguments='ne": "Rome"}'),
                call(1, arguments=' "1+1"}'),
            ],
            finish="tool_calls",
            piece_bytes=11,
        )
    )
    assert events[1:-1] == [
        ToolCalled(call=ToolCall(id="a", tool_name="tell_time", input_args={"zone": "Rome"})),
        ToolCalled(call=ToolCall(id="b", tool_name="calculate", input_args={"question": "1+1"})),
    ]


async def test_whole_calls_that_share_an_index_stay_apart() -> None:
    events = await answer(Answer(chunks=[call(0, id="a", name="x", arguments="{}"), call(0, id="b", name="y")]))
    assert [event.call.tool_name for event in events if isinstance(event, ToolCalled)] == ["x", "y"]


async def test_arguments_that_are_no_json_are_left_for_the_executor_to_refuse() -> None:
    (called, _) = await answer(Answer(chunks=[call(0, id="a", name="x", arguments='{"word": ')]))
    assert isinstance(called, ToolCalled) and called.call.input_args == '{"word": '


@pytest.mark.parametrize(
    ("status", "reason", "retryable"),
    [
        (400, "not understood", False),
        (401, "key was refused", False),
        (404, "no such model", False),
        (429, "too many requests", True),
        (500, r"server failed \(500\)", True),
        (503, r"server failed \(503\)", True),
    ],
)
async def test_a_refusal_is_one_clear_sentence_that_quotes_nobody(status: int, reason: str, retryable: bool) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        await answer(Answer(status=status))
    assert (caught.value.status, caught.value.retryable, caught.value.model) == (status, retryable, "test:m")
    assert "secret" not in str(caught.value) and "279413862" not in str(caught.value)


@pytest.mark.parametrize(
    "broken",
    [
        Answer(chunks=[text("Well, ")], cut=True),
        Answer(chunks=[text("Well, ")], finish=None),
        Answer(chunks=[text("Well, "), "{not json"]),
        Answer(chunks=[text("Well, "), '{"error": {"message": "overloaded sk-secret"}}']),
    ],
    ids=["connection dropped", "no finish", "no JSON", "error in the stream"],
)
async def test_a_stream_that_breaks_is_a_model_error_after_what_had_come(broken: Answer) -> None:
    events = []
    async with completions_server(broken) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            async for event in model.stream(HELLO):
                events.append(event)  # noqa: PERF401 - what came before the error is wanted
    assert events == [TextChunk(text="Well, ")]
    assert "secret" not in str(caught.value)


async def test_a_server_that_stays_silent_is_given_up() -> None:
    async with completions_server(Answer(silent=True)) as server, model_of(server, silence_timeout_s=0.05) as model:
        with pytest.raises(ModelError, match="did not answer in time"):
            await anext(model.stream(HELLO))


async def test_a_server_that_is_not_there_is_named() -> None:
    async with completions_server() as server:
        url = server.url
    model = OpenAICompatible("m", provider="ollama", base_url=url, api_key="none")
    with pytest.raises(ModelError, match=r"ollama:m.*127\.0\.0\.1.*is the server running"):
        await anext(model.stream(HELLO))
    await model.aclose()


async def test_a_failed_request_is_not_tried_again_behind_the_callers_back() -> None:
    async with completions_server(Answer(status=500), Answer(status=500)) as server, model_of(server) as model:
        with pytest.raises(ModelError):
            await anext(model.stream(HELLO))
        assert len(server.bodies) == 1


async def test_abort_closes_the_connection_at_once_and_the_next_request_works() -> None:
    stalled = Answer(chunks=[text("Twelve "), text("times ")], stall=asyncio.Event())
    async with completions_server(stalled, Answer(chunks=[text("Fine.")])) as server, model_of(server) as model:
        glove = Glove(model=model)
        heard = asyncio.Event()

        class Listening:
            async def record(self, type: EventType, data: dict[str, Any]) -> None:
                if data.get("text") == "times ":
                    heard.set()

        glove.add_subscriber(Listening())
        signal = AbortSignal()
        request = glove.begin("Go", signal=signal)
        running = asyncio.ensure_future(request.run())
        await asyncio.wait_for(server.waiting.wait(), 5)
        await asyncio.wait_for(heard.wait(), 5)
        signal.abort()
        with pytest.raises(AbortError):
            await running
        await asyncio.wait_for(server.gone.wait(), 5)
        await request.settle("Twelve ", interrupted=True)
        assert (await glove.process_request("Stop")).text == "Fine."
        assert server.complaints == []


async def test_abort_before_the_first_byte_ends_the_wait() -> None:
    async with completions_server(Answer(silent=True)) as server, model_of(server) as model:
        signal = AbortSignal()
        running = asyncio.ensure_future(Glove(model=model).process_request("Go", signal))
        await asyncio.wait_for(server.waiting.wait(), 5)
        signal.abort()
        with pytest.raises(AbortError):
            await running
        await asyncio.wait_for(server.gone.wait(), 5)


async def test_a_conversation_with_tools_an_interruption_and_a_lost_call_is_one_the_server_accepts() -> None:
    answers = [
        Answer(chunks=[text("Let me see."), call(0, id="a", name="ECHO", arguments='{"word": "x"}')]),
        Answer(chunks=[text("It is x, and much more.")]),
        Answer(chunks=[call(0, id="a", name="hang"), call(1, id="b", name="nothing")]),
        Answer(chunks=[text("Done.")]),
    ]
    hang, started, _ = hanging()
    async with completions_server(*answers) as server, model_of(server) as model:
        ids = count(1)
        glove = Glove(
            model=model,
            system_prompt="Be brief.",
            new_id=lambda: f"m{next(ids)}",
            framework_tools=ToolSelection(allow=()),
        ).fold(echo(), hang)
        diary = Diary()
        glove.add_subscriber(diary)
        glove.add_context_provider(lambda signal: "It rains.")
        request = glove.begin("Hello")
        await request.run()
        await request.settle("Let me see.It is x", interrupted=True)
        running = asyncio.ensure_future(glove.process_request("Go on"))
        await asyncio.wait_for(started.wait(), 5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await glove.process_request("And?")
        assert server.complaints == []
    assert server.headers[0]["authorization"] == "Bearer sk-secret"
    last = server.bodies[-1]
    assert [tool["function"]["name"] for tool in last["tools"]] == ["echo", "hang"]
    assert [message["role"] for message in last["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "user", "user", "assistant", "tool", "tool", "user", "user",
    ]  # fmt: skip
    assert last["messages"][3] == {"role": "tool", "tool_call_id": "a", "content": "echo:x"}
    assert last["messages"][4]["content"] == "It is x"
    assert last["messages"][-1]["content"].endswith("It rains.")
    assert "agent: It is x, and much more." in outline(await glove.store.get_messages())
    assert await glove.store.get_token_count() == 4 * 27
