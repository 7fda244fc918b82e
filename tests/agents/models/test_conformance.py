"""One table for all adapters: the same script over each wire, with the same outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, ModelError
from agents.core.glove import Glove
from agents.core.messages import ContentPart, Message, ToolCall, ToolResult, ToolResultData, Usage
from agents.core.model import (
    Model,
    ModelEvent,
    ModelFinished,
    ModelRequest,
    TextChunk,
    ToolCalled,
    UsageTold,
    close_model,
)
from agents.core.tools import Tool, ToolContext
from agents.models.wording import CONTEXT_PREFIX
from tests.agents.core.scenes import Anything, echo, hanging
from tests.agents.models.wire_server import Answer, WireServer
from tests.agents.models.wires import WIRES, Ask, Say, Think, Wire

pytestmark = [pytest.mark.wire, pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)]

USAGE = Usage(tokens_in=20, tokens_out=7, cache_read_input_tokens=10, cache_creation_input_tokens=6)
THOUGHT = Think(pieces=("Let me ", "think."))
HELLO = ModelRequest(system_prompt="Be brief.", messages=(Message(sender="user", text="Hello"),))


@asynccontextmanager
async def talking_to(wire: Wire, *answers: Answer, **settings: Any) -> AsyncIterator[tuple[WireServer, Model]]:
    """A server and a model that speaks to it; whatever the server would have refused fails the test."""
    async with wire.serve(*answers) as server:
        model = wire.model(server, **settings)
        try:
            yield server, model
        finally:
            await close_model(model)
        assert server.complaints == []


async def spoken(stream: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
    """A stream without what some providers tell of its cost before the end."""
    async with aclosing(stream):
        async for event in stream:
            if not isinstance(event, UsageTold):
                yield event


@pytest.mark.parametrize("piece_bytes", [None, 1, 13])
async def test_events_come_in_order_however_the_stream_is_torn(wire: Wire, piece_bytes: int | None) -> None:
    steps = (THOUGHT, Say(pieces=("Grüß ", "dich 🙂")), Ask(id="a", name="x", pieces=('{"wo', 'rd": "é"}')))
    answer = wire.answer(*steps, Ask(id="b", name="y"), end="tool_calls", piece_bytes=piece_bytes)
    async with talking_to(wire, answer) as (_, model):
        *events, finished = [event async for event in spoken(model.stream(HELLO))]
    assert events == [
        TextChunk(text="Grüß "),
        TextChunk(text="dich 🙂"),
        ToolCalled(call=ToolCall(id="a", tool_name="x", input_args={"word": "é"})),
        ToolCalled(call=ToolCall(id="b", tool_name="y", input_args={})),
    ]
    assert isinstance(finished, ModelFinished)
    assert (finished.stop_reason, finished.usage, finished.reasoning_content) == (
        "tool_calls", USAGE, "Let me think.",
    )  # fmt: skip


async def test_closing_the_stream_closes_the_connection_and_the_next_call_works(wire: Wire) -> None:
    stalled = wire.answer(Say(pieces=("Twelve ",)), stall=asyncio.Event())
    async with talking_to(wire, stalled, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        async with aclosing(spoken(model.stream(HELLO))) as stream:
            assert await anext(stream) == TextChunk(text="Twelve ")
            await asyncio.wait_for(server.waiting.wait(), 5)
        await asyncio.wait_for(server.gone.wait(), 5)
        events = [event async for event in spoken(model.stream(HELLO))]
        assert events[0] == TextChunk(text="Fine.")


@pytest.mark.parametrize("silent", [True, False], ids=["before the first byte", "in the middle"])
async def test_abort_closes_the_connection_and_keeps_the_conversation_usable(wire: Wire, silent: bool) -> None:
    hanging_up = wire.answer(Say(pieces=("Twelve ",)), silent=silent, stall=asyncio.Event())
    async with talking_to(wire, hanging_up, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        glove, signal = Glove(model=model), AbortSignal()
        running = asyncio.ensure_future(glove.process_request("Go", signal))
        await asyncio.wait_for(server.waiting.wait(), 5)
        signal.abort()
        with pytest.raises(AbortError):
            await running
        await asyncio.wait_for(server.gone.wait(), 5)
        assert (await glove.process_request("Stop")).text == "Fine."
        assert wire.outline(server.bodies[1]) == ["user: Go", "user: Stop"]


@pytest.mark.parametrize("stall", [True, False], ids=["stalls", "breaks off"])
async def test_a_stream_that_dies_in_the_middle_is_one_retryable_error(wire: Wire, stall: bool) -> None:
    dying = wire.answer(Say(pieces=("Well, ",)), stall=asyncio.Event() if stall else None, cut=not stall)
    async with talking_to(wire, dying, silence_timeout_s=0.2) as (_, model):
        stream = spoken(model.stream(HELLO))
        assert await anext(stream) == TextChunk(text="Well, ")
        with pytest.raises(ModelError) as caught:
            await anext(stream)
        assert caught.value.retryable


async def test_tokens_are_counted_once_a_call_cached_ones_beside(wire: Wire) -> None:
    answers = [wire.answer(Ask(id="a", name="echo"), end="tool_calls"), wire.answer(Say(pieces=("Done.",)))]
    async with talking_to(wire, *answers) as (_, model):
        glove = Glove(model=model).fold(echo())
        await glove.process_request("Hello")
        assert await glove.store.get_token_count() == 2 * 27


async def test_thoughts_go_back_with_their_call_where_they_are_wanted_and_are_never_said(wire: Wire) -> None:
    first = wire.answer(THOUGHT, Say(pieces=("One ", "moment.")), Ask(id="a", name="echo"), end="tool_calls")
    async with talking_to(wire, first, wire.answer(Say(pieces=("Done.",)))) as (server, model):
        glove = Glove(model=model).fold(echo())
        assert (await glove.process_request("Hello")).text == "Done."
    thoughts = ["thought Let me think."] if wire is not WIRES["openai"] else []
    assert wire.outline(server.bodies[1]) == [
        "user: Hello",
        *thoughts,
        "assistant: One moment.",
        "call a echo {}",
        "result a echo:",
    ]


async def test_a_call_that_lost_its_result_has_one_that_says_so(wire: Wire) -> None:
    lost = wire.answer(Ask(id="a", name="hang"), Ask(id="b", name="echo"), end="tool_calls")
    hang, started, _ = hanging()
    async with talking_to(wire, lost, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        glove = Glove(model=model).fold(hang, echo())
        running = asyncio.ensure_future(glove.process_request("Go"))
        await asyncio.wait_for(started.wait(), 5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await glove.process_request("And?")
    said, call_a, call_b, result_a, result_b, asked = wire.outline(server.bodies[1])
    assert (said, call_a, call_b, asked) == ("user: Go", "call a hang {}", "call b echo {}", "user: And?")
    assert result_a.startswith("result a Aborted: ") and result_b.startswith("result b Aborted: ")


async def test_context_stands_at_the_tail_and_never_between_a_call_and_its_result(wire: Wire) -> None:
    answers = [wire.answer(Ask(id="a", name="echo"), end="tool_calls"), wire.answer(Say(pieces=("Done.",)))]
    async with talking_to(wire, *answers) as (server, model):
        glove = Glove(model=model).fold(echo())
        glove.add_context_provider(lambda signal: f"It is {len(server.bodies)} o'clock.")
        await glove.process_request("Hello")
    context = f"user: {CONTEXT_PREFIX}It is "
    assert wire.outline(server.bodies[0]) == ["user: Hello", f"{context}0 o'clock."]
    assert wire.outline(server.bodies[1]) == ["user: Hello", "call a echo {}", "result a echo:", f"{context}1 o'clock."]


@pytest.mark.parametrize(
    ("name", "written", "end", "shown", "problem"),
    [
        ("echo", '{"word": ', "tool_calls", r'{"INVALID_JSON": "{\"word\": "}', "TOOL_INPUT_INVALID"),
        ("echo", "[1]", "tool_calls", '{"INVALID_JSON": "[1]"}', "TOOL_INPUT_INVALID"),
        ("echo", '{"word": 1}', "tool_calls", '{"word": 1}', "TOOL_INPUT_INVALID"),
        ("echo", "", "length", '{"INVALID_JSON": ""}', "TOOL_INPUT_INVALID"),
        ("echo", '{"word": "tw', "length", r'{"INVALID_JSON": "{\"word\": \"tw"}', "TOOL_INPUT_INVALID"),
        ("ecoh", "{}", "tool_calls", "{}", "There is no tool 'ecoh'"),
    ],
    ids=["broken JSON", "no object", "wrong type", "cut before its input", "cut in its input", "unknown tool"],
)
async def test_a_call_that_cannot_run_is_an_error_the_model_reads(
    wire: Wire, name: str, written: str, end: str, shown: str, problem: str
) -> None:
    bad = Ask(id="a", name=name, pieces=(written,))
    good = Ask(id="b", name="echo", pieces=('{"word": "x"}',))
    answers = [
        wire.answer(bad, end=end),
        wire.answer(good, end="tool_calls"),
        wire.answer(Say(pieces=("Done.",))),
    ]
    async with talking_to(wire, *answers) as (server, model):
        glove = Glove(model=model).fold(echo())
        assert (await glove.process_request("Hello")).text == "Done."
    (_, call, result) = wire.outline(server.bodies[1])
    assert call == f"call a {name} {shown}"
    assert result.startswith(f"result a Error: {problem}") and ("cut off" in result) == ("INVALID_JSON" in shown)
    assert wire.outline(server.bodies[2])[-1] == "result b echo:x"


async def test_the_same_id_twice_is_two_calls_with_a_result_each(wire: Wire) -> None:
    twice = [Ask(id="a", name="echo", pieces=(f'{{"word": "{word}"}}',)) for word in ("x", "y")]
    again = Ask(id="a", name="echo", pieces=('{"word": "z"}',))
    answers = [wire.answer(*twice, end="tool_calls"), wire.answer(again, end="tool_calls"), wire.answer()]
    async with talking_to(wire, *answers) as (server, model):
        await Glove(model=model).fold(echo()).process_request("Hello")
    lines = wire.outline(server.bodies[2])
    assert [line.split()[-1] for line in lines if line.startswith("result")] == ["echo:x", "echo:y", "echo:z"]
    assert len({line.split()[1] for line in lines if line.startswith("call")}) == 3


async def test_what_a_provider_held_back_is_not_run_and_silence_is_an_error(wire: Wire) -> None:
    answers = [
        wire.answer(Say(pieces=("I could ",)), Ask(id="a", name="echo"), end="refusal"),
        wire.answer(THOUGHT, end="refusal"),
        wire.answer(Say(pieces=("Fine.",))),
    ]
    async with talking_to(wire, *answers) as (server, model):
        glove = Glove(model=model).fold(echo())
        assert (await glove.process_request("Hello")).text == "I could "
        with pytest.raises(ModelError, match="held the answer back"):
            await glove.process_request("Well?")
        assert (await glove.process_request("Then not.")).text == "Fine."
    assert wire.outline(server.bodies[2]) == [
        "user: Hello",
        "assistant: I could ",
        "user: Well?",
        "user: Then not.",
    ]


async def test_only_what_was_heard_of_a_reply_goes_back(wire: Wire) -> None:
    cut = wire.answer(THOUGHT, Say(pieces=("It is x, ", "and much more.")))
    async with talking_to(wire, cut, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        glove = Glove(model=model)
        request = glove.begin("Hello")
        await request.run()
        await request.settle("It is x", interrupted=True)
        await glove.process_request("Stop")
    lines = [line for line in wire.outline(server.bodies[1]) if not line.startswith("thought")]
    assert lines[:2] == ["user: Hello", "assistant: It is x"]
    assert lines[2].startswith(f"user: {CONTEXT_PREFIX}The caller interrupted you here.")
    assert lines[3:] == ["user: Stop"]


async def test_a_result_that_comes_late_is_told_in_words_and_its_call_says_that_it_ran(wire: Wire) -> None:
    answers = [
        wire.answer(THOUGHT, Ask(id="a", name="search"), end="tool_calls"),
        wire.answer(Say(pieces=("Nine.",))),
        wire.answer(Say(pieces=("Three.",))),
    ]
    started, free = asyncio.Event(), asyncio.Event()

    async def search(given: Anything, ctx: ToolContext) -> dict[str, int]:
        started.set()
        await free.wait()
        return {"flights": 3}

    async with talking_to(wire, *answers) as (server, model):
        glove = Glove(model=model).fold(Tool(name="search", description="Searches.", input=Anything, do=search))
        first = asyncio.ensure_future(glove.process_request("Find flights"))
        await asyncio.wait_for(started.wait(), 5)
        assert (await glove.process_request("What time is it?")).text == "Nine."
        await first
        free.set()
        await glove.errands.drain()
    meanwhile, later = ([line for line in wire.outline(body) if line[:7] != "thought"] for body in server.bodies[1:])
    assert meanwhile[:2] == later[:2] == ["user: Find flights", "call a search {}"]
    assert meanwhile[2].startswith("result a ") and meanwhile[3] == "user: What time is it?"
    assert later[2:5] == [meanwhile[2], "user: What time is it?", "assistant: Nine."]
    assert later[5].startswith(f"user: {CONTEXT_PREFIX}") and '{"flights": 3}' in later[5]


async def test_the_agent_may_speak_first(wire: Wire) -> None:
    async with talking_to(wire, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        glove = Glove(model=model, system_prompt="Be brief.")
        await glove.record("Hello, this is the desk.")
        await glove.process_request("Hello")
    assert wire.outline(server.bodies[0])[-2:] == ["assistant: Hello, this is the desk.", "user: Hello"]


async def test_pictures_are_shown_and_what_cannot_be_shown_is_named(wire: Wire) -> None:
    parts = (
        ContentPart(type="image", media_type="image/jpeg", data="QUJD"),
        ContentPart(type="image", url="https://example.org/a.png"),
        ContentPart(type="video", name="b.mp4"),
    )
    request = ModelRequest(system_prompt="", messages=(Message(sender="user", text="Look.", content=parts),))
    async with talking_to(wire, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        _ = [event async for event in model.stream(request)]
    assert sorted(wire.outline(server.bodies[0])) == sorted(
        ["user: Look.", "user: <image>", "user: <image>", "user: [video b.mp4]"]
    )


@pytest.mark.parametrize("before", WIRES.values(), ids=[f"after {name}" for name in WIRES])
async def test_a_conversation_goes_on_with_another_model(wire: Wire, before: Wire) -> None:
    first = before.answer(
        THOUGHT, Say(pieces=("One moment.",)), Ask(id="functions.echo:0", name="echo"), end="tool_calls"
    )
    async with talking_to(before, first, before.answer(Say(pieces=("Done.",)))) as (_, model):
        glove = Glove(model=model).fold(echo())
        await glove.process_request("Hello")
    async with talking_to(wire, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        glove.model = model
        assert (await glove.process_request("And now?")).text == "Fine."
    lines = [line for line in wire.outline(server.bodies[0]) if not line.startswith("thought")]
    assert [line.split()[0] for line in lines] == ["user:", "assistant:", "call", "result", "assistant:", "user:"]


async def test_what_was_sent_before_is_the_beginning_of_what_is_sent_next(wire: Wire) -> None:
    """The prefix stays, so that the service finds it in its cache; only the tail is new each time."""
    answers = [
        wire.answer(Ask(id="a", name="echo"), end="tool_calls"),
        wire.answer(Say(pieces=("Done.",))),
        wire.answer(Say(pieces=("Fine.",))),
    ]
    async with talking_to(wire, *answers) as (server, model):
        glove = Glove(model=model, system_prompt="Be brief.").fold(echo())
        glove.add_context_provider(lambda signal: f"It is {len(server.bodies)} o'clock.")
        await glove.process_request("Hello")
        await glove.process_request("And?")
    stable = [wire.outline(body)[:-1] for body in server.bodies]
    for earlier, later in pairwise(stable):
        assert later[: len(earlier)] == earlier and len(later) > len(earlier)


async def test_a_result_that_failed_says_so_and_one_that_is_empty_is_no_fault(wire: Wire) -> None:
    def result(id: str, **data: Any) -> ToolResult:
        return ToolResult(tool_name="x", call_id=id, result=ToolResultData(**data))

    calls = tuple(ToolCall(id=id, tool_name="x", input_args={}) for id in ("a", "b", "c"))
    results = (
        result("a", status="error", message="no", data={"why": "é"}),
        result("b", status="success", data=""),
        result("c", status="success", data=1, render_data="for the screen"),
    )
    history = (
        Message(sender="user", text="Hello"),
        Message(sender="agent", tool_calls=calls),
        Message(sender="user", text="Results.", tool_results=results),
    )
    async with talking_to(wire, wire.answer(Say(pieces=("Fine.",)))) as (server, model):
        _ = [event async for event in model.stream(ModelRequest(system_prompt="", messages=history))]
    assert wire.outline(server.bodies[0])[4:] == ['result a Error: no\n{"why": "é"}', "result b ", "result c 1"]
