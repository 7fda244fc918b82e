from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from agents.core import running
from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, StoreError
from agents.core.executor import TOOL_INPUT_INVALID
from agents.core.messages import ToolResult, ToolResultData
from agents.core.model import ModelEvent
from agents.core.pace import UNPACED, Work
from agents.core.results import TOOL_RESULT_UNREADABLE
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Anything, Diary, asking, echo, hanging, outline, talking


class Guests(BaseModel):
    people: int = Field(ge=1)
    names: list[str] = []


async def run(tool: Tool | tuple[Tool, ...], *calls: ScriptedCall, **options: Any) -> list[ToolResultData]:
    glove, _ = talking(list(calls), "Done.", tools=tool if isinstance(tool, tuple) else (tool,), **options)
    diary = Diary()
    glove.add_subscriber(diary)
    await glove.process_request("Go")
    assert all(data["duration_ms"] >= 0 for data in diary.of("tool_use_result"))
    (message,) = [message for message in await glove.store.get_messages() if message.tool_results]
    assert [result.result for result in message.tool_results] == [d["result"] for d in diary.of("tool_use_result")]
    return [result.result for result in message.tool_results]


async def test_calls_run_one_after_the_other_in_the_models_order() -> None:
    order: list[str] = []

    async def do(given: Anything, ctx: ToolContext) -> None:
        order.append(f"begin {given.word}")
        order.append(f"end {given.word}")

    tool = Tool(name="note", description="", input=Anything, do=do)
    await run(tool, *(ScriptedCall(name="note", input={"word": word}) for word in "abc"))
    assert order == ["begin a", "end a", "begin b", "end b", "begin c", "end c"]


async def test_names_are_looked_up_whatever_their_case() -> None:
    (result,) = await run(echo("tell_time"), ScriptedCall(name="Tell_Time", input={"word": "x"}))
    assert result.data == "tell_time:x"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("time", "Did you mean 'tell_time'?"), ("tell_time_now", "Did you mean 'tell_time'?"), ("xyz", None), ("", None)],
)
async def test_an_unknown_tool_is_an_error_that_names_the_others(asked: str, hint: str | None) -> None:
    (result,) = await run((echo("tell_time"), echo("calculate")), ScriptedCall(name=asked))
    assert result.status == "error" and result.message is not None
    assert "tell_time, calculate" in result.message
    assert (hint in result.message) if hint else ("Did you mean" not in result.message)


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({}, {"people"}),
        ({"people": 0}, {"people"}),
        ({"people": 2, "names": ["a", 1]}, {"names.1"}),
        ("not json", {"(input)"}),
        ([1], {"(input)"}),
    ],
)
async def test_input_that_does_not_fit_is_refused_before_the_tool_runs(given: Any, paths: set[str]) -> None:
    ran: list[Any] = []
    tool = Tool(name="book", description="", input=Guests, do=lambda given, ctx: ran.append(given))
    (result,) = await run(tool, ScriptedCall(name="book", input=given))
    assert (result.status, result.message) == ("error", TOOL_INPUT_INVALID)
    assert set(result.data["problems"]) == paths
    assert ran == []


async def test_a_raw_schema_passes_its_input_on_unchecked() -> None:
    tool = Tool(name="raw", description="", input={"type": "object"}, do=lambda given, ctx: given)
    (result,) = await run(tool, ScriptedCall(name="raw", input={"anything": [1]}))
    assert result.data == {"anything": [1]}


async def test_an_exception_is_an_error_result_and_the_next_call_runs() -> None:
    def do(given: Anything, ctx: ToolContext) -> str:
        raise LookupError("no such room" + "!" * 5000)

    broken = Tool(name="broken", description="", input=Anything, do=do)
    first, second = await run((broken, echo()), ScriptedCall(name="broken"), ScriptedCall(name="echo"))
    assert first.status == "error" and first.message is not None
    assert first.message.startswith("LookupError: no such room!") and len(first.message) <= 2000
    assert "4 of 4 attempts" in first.data
    assert second.status == "success"


@pytest.mark.parametrize(
    ("returned", "data"),
    [("text", "text"), (None, None), ([1], [1]), (Guests(people=2), {"people": 2, "names": []})],
)
async def test_a_plain_return_value_is_a_success(returned: Any, data: Any) -> None:
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: returned)
    (result,) = await run(tool, ScriptedCall(name="t"))
    assert result == ToolResultData(status="success", data=data)


async def test_a_result_is_passed_on_as_it_is() -> None:
    made = ToolResultData(status="error", message="closed", render_data={"card": 1})
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: made)
    assert await run(tool, ScriptedCall(name="t")) == [made]


@pytest.mark.parametrize(
    ("failures", "options", "attempts", "status"),
    [
        (0, {}, 1, "success"),
        (3, {}, 4, "success"),
        (4, {}, 4, "error"),
        (9, {"retries": 0}, 1, "error"),
        (1, {"retries": 1}, 2, "success"),
    ],
)
async def test_a_tool_that_raises_is_run_again(
    failures: int, options: dict[str, Any], attempts: int, status: str
) -> None:
    tried: list[str] = []

    def do(given: Anything, ctx: ToolContext) -> str:
        tried.append(ctx.idempotency_key)
        if len(tried) <= failures:
            raise ConnectionError("reset")
        return "done"

    (result,) = await run(Tool(name="t", description="", input=Anything, do=do, **options), ScriptedCall(name="t"))
    assert (len(tried), result.status) == (attempts, status)
    assert len(set(tried)) == 1


async def test_an_error_a_tool_returns_is_final() -> None:
    tried: list[int] = []

    def do(given: Anything, ctx: ToolContext) -> ToolResultData:
        tried.append(1)
        return ToolResultData(status="error", message="fully booked")

    (result,) = await run(Tool(name="t", description="", input=Anything, do=do), ScriptedCall(name="t"))
    assert tried == [1] and result.message == "fully booked"


async def test_a_tool_that_cancels_something_of_its_own_has_failed_and_nothing_else_has() -> None:
    async def do(given: Anything, ctx: ToolContext) -> str:
        raise asyncio.CancelledError

    tool = Tool(name="t", description="", input=Anything, do=do, retries=0)
    first, second = await run((tool, echo()), ScriptedCall(name="t"), ScriptedCall(name="echo"))
    assert (first.status, second.status) == ("error", "success")


async def test_a_tool_that_takes_too_long_is_stopped_and_not_run_again() -> None:
    hang, _, ended = hanging()
    (result,) = await run(replace(hang, timeout_s=0.01), ScriptedCall(name="hang"))
    assert result.status == "error" and result.message is not None and "0.01 seconds" in result.message
    assert ended == ["cancelled"]


async def test_a_tool_that_will_not_be_stopped_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CLEANUP_LIMIT_S", 0.01)
    over = asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> str:
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()
        return "never mind"

    stubborn = Tool(name="t", description="", input=Anything, do=do, timeout_s=0.01)
    (result,) = await run(stubborn, ScriptedCall(name="t"))
    over.set()
    assert result.status == "aborted" and result.message is not None and "did not" in result.message


class Opaque:
    pass


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize("returned", [Opaque(), {"deep": [Opaque()]}, LOOP, "\ud800", b"\xff"])
@pytest.mark.parametrize("part", ["data", "render_data", "generate_summary_args"])
async def test_a_result_that_is_no_json_is_an_error_that_says_so(returned: Any, part: str) -> None:
    made = replace(ToolResultData(status="success"), **{part: returned})
    (result,) = await run(
        Tool(name="t", description="", input=Anything, do=lambda given, ctx: made), ScriptedCall(name="t")
    )
    assert (result.status, result.message) == ("error", TOOL_RESULT_UNREADABLE)
    assert f"its {part} is no JSON" in result.data["reason"] and "ran to its end" in result.data["note"]
    json.dumps(result.data).encode()


async def test_what_has_a_plain_json_form_gets_it() -> None:
    returned = {"day": date(2026, 3, 3), "price": Decimal("1.50"), "none": float("nan"), "set": {1}, "many": (1, 2)}
    (result,) = await run(
        Tool(name="t", description="", input=Anything, do=lambda given, ctx: returned), ScriptedCall(name="t")
    )
    assert result.data == {"day": "2026-03-03", "price": "1.50", "none": None, "set": [1], "many": [1, 2]}


async def test_an_unabortable_tool_runs_to_its_end_and_those_after_it_do_not_start() -> None:
    signal, ended = AbortSignal(), []

    async def pay(given: Anything, ctx: ToolContext) -> str:
        signal.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ctx.signal.aborted
        ended.append("paid")
        return "paid"

    paying = Tool(name="pay", description="", input=Anything, do=pay, unabortable=True)
    hang, _, _ = hanging()
    calls = [ScriptedCall(name=name) for name in ("pay", "hang", "pay")]
    glove, _ = talking(calls, tools=(paying, hang))
    with pytest.raises(AbortError):
        await glove.process_request("Go", signal)
    assert outline(await glove.store.get_messages())[-1] == "results pay=success,hang=aborted,pay=success"
    assert ended == ["paid", "paid"]


async def test_an_unabortable_tool_that_begins_after_the_abort_has_all_the_time_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "CLEANUP_LIMIT_S", 0.001)
    signal = AbortSignal()

    async def pay(given: Anything, ctx: ToolContext) -> str:
        signal.abort()
        await asyncio.sleep(0.02)
        return "paid"

    paying = Tool(name="pay", description="", input=Anything, do=pay, unabortable=True)
    glove, _ = talking([ScriptedCall(name="pay"), ScriptedCall(name="pay")], tools=(paying,))
    with pytest.raises(AbortError):
        await glove.process_request("Go", signal)
    assert outline(await glove.store.get_messages())[-1] == "results pay=success,pay=success"


async def test_when_an_abort_stops_a_tool_nothing_more_of_the_round_is_begun() -> None:
    hang, started, _ = hanging()
    paying = replace(echo("pay"), unabortable=True)
    glove, _ = talking([ScriptedCall(name="hang"), ScriptedCall(name="pay")], tools=(hang, paying))
    signal = AbortSignal()
    request = asyncio.ensure_future(glove.process_request("Go", signal))
    await started.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await request
    assert outline(await glove.store.get_messages())[-1] == "results hang=aborted,pay=aborted"


async def test_no_retry_is_made_once_aborted_unless_the_tool_may_not_be_stopped() -> None:
    for unabortable, attempts in ((False, 1), (True, 4)):
        signal = AbortSignal()
        tried: list[int] = []

        def do(given: Anything, ctx: ToolContext, tried: list[int] = tried, signal: AbortSignal = signal) -> str:
            tried.append(1)
            signal.abort()
            raise ConnectionError("reset")

        tool = Tool(name="t", description="", input=Anything, do=do, unabortable=unabortable)
        glove, _ = talking([ScriptedCall(name="t")], tools=(tool,))
        with pytest.raises(AbortError):
            await glove.process_request("Go", signal)
        assert len(tried) == attempts


async def test_how_long_a_call_took_is_known_on_every_branch() -> None:
    class Ticking:
        def __init__(self) -> None:
            self.time = 0.0

        def now(self) -> float:
            self.time += 1.0
            return self.time

        def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
            return UNPACED.model(events)

        def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
            return UNPACED.tool(name)

    def refuse(given: Anything, ctx: ToolContext) -> str:
        raise LookupError

    tools = (echo(), Tool(name="broken", description="", input=Guests, do=refuse), asking("book"))
    names = ("echo", "nothing", "broken", "book")
    glove, _ = talking([ScriptedCall(name=name) for name in names], "Done.", tools=tools)
    diary = Diary()
    glove.add_subscriber(diary)
    await glove.begin("Go", pace=Ticking()).run()
    assert [data["duration_ms"] >= 1000 for data in diary.of("tool_use_result")] == [True] * 4


async def test_a_summary_is_made_of_what_the_tool_gives_for_it_and_shown_in_later_turns_only() -> None:
    async def read(given: Anything, ctx: ToolContext) -> ToolResultData:
        args = {"lines": 3} if given.word == "long" else None
        return ToolResultData(status="success", data=f"{given.word} text", generate_summary_args=args)

    reading = Tool(
        name="read",
        description="",
        input=Anything,
        do=read,
        generate_summary=lambda args: f"{args['lines']} lines",
    )
    calls = [ScriptedCall(name="read", input={"word": word}) for word in ("long", "short")]
    glove, model = talking(calls, "Done.", "Yes.", tools=(reading,), enable_tool_result_summary=True)
    glove.add_context_provider(lambda signal: "It rains.")
    await glove.process_request("Read")
    await glove.process_request("Again")

    def shown(number: int) -> list[str]:
        return [r.result.data for message in model.requests[number].messages for r in message.tool_results]

    assert shown(1) == ["long text", "short text"]
    assert shown(2) == ["3 lines", "short text"]
    stored = [result.result for message in await glove.store.get_messages() for result in message.tool_results]
    assert [(result.data, result.summary) for result in stored] == [("long text", "3 lines"), ("short text", None)]
    glove.enable_tool_result_summary = False
    glove.model = model = ScriptedModel(["Yes."])
    await glove.process_request("Once more")
    assert shown(0) == ["long text", "short text"]


async def test_a_summary_that_fails_leaves_the_result_whole() -> None:
    def fail(args: Any) -> str:
        raise KeyError(args)

    made = ToolResultData(status="success", data="text", generate_summary_args=1)
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: made, generate_summary=fail)
    (result,) = await run(tool, ScriptedCall(name="t"))
    assert (result.status, result.data, result.summary) == ("success", "text", None)


async def test_a_call_made_again_after_a_crash_has_the_key_of_the_one_that_was_lost() -> None:
    keys: list[str] = []
    crash, begun = True, asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> str:
        keys.append(ctx.idempotency_key)
        begun.set()
        if crash:
            await asyncio.Event().wait()
        return "booked"

    booking = Tool(name="book", description="", input=Anything, do=do)
    call, other = (ScriptedCall(name="book", input={"word": word}) for word in ("Rome", "Oslo"))
    glove, _ = talking([call], [call, other], "Done.", [call], "Done.", tools=(booking,))
    running = asyncio.ensure_future(glove.process_request("Go"))
    await asyncio.wait_for(begun.wait(), 5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    crash = False
    await glove.process_request("Well?")
    await glove.process_request("Once more")
    assert keys[0] == keys[1] and len(set(keys)) == 3
    assert all(key.startswith(f"{glove.store.identifier}:") for key in keys)


async def test_a_call_that_is_lost_twice_keeps_its_first_key() -> None:
    keys: list[str] = []
    begun = asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> str:
        keys.append(ctx.idempotency_key)
        begun.set()
        if len(keys) < 3:
            await asyncio.Event().wait()
        return "booked"

    call = [ScriptedCall(name="book", input={"word": "Rome"})]
    tool = Tool(name="book", description="", input=Anything, do=do)
    glove, _ = talking(call, call, call, "Done.", tools=(tool,))
    for _ in range(2):
        begun.clear()
        running = asyncio.ensure_future(glove.process_request("Go"))
        await asyncio.wait_for(begun.wait(), 5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await glove.process_request("Go")
    assert len(keys) == 3 and len(set(keys)) == 1


async def test_a_result_recorded_before_a_crash_of_the_round_is_shown_and_not_lost() -> None:
    hang, started, _ = hanging()
    glove, model = talking([ScriptedCall(name="echo"), ScriptedCall(name="hang")], "Done.", tools=(echo(), hang))
    running = asyncio.ensure_future(glove.process_request("Go"))
    await started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await glove.process_request("Well?")
    assert outline(model.requests[1].messages)[2] == "results echo=success,hang=aborted"


async def test_a_store_that_fails_in_a_round_ends_the_request_and_the_next_one_works() -> None:
    class Failing(MemoryStore):
        broken = True

        async def record_result(self, message_id: str, result: ToolResult) -> None:
            if self.broken:
                raise StoreError("the disk is full")
            await super().record_result(message_id, result)

    store = Failing()
    calls = [ScriptedCall(name="echo"), ScriptedCall(name="echo")]
    glove, model = talking(calls, "Done.", tools=(echo(),), store=store)
    with pytest.raises(StoreError, match="disk is full"):
        await glove.process_request("Go")
    store.broken = False
    assert (await glove.process_request("Well?")).text == "Done."
    assert outline(model.requests[1].messages)[1:3] == [
        "agent:  +echo +echo",
        "results echo=aborted,echo=aborted",
    ]


async def test_a_tool_knows_its_call_its_glove_and_that_nobody_has_a_screen() -> None:
    seen: list[ToolContext] = []
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: seen.append(ctx))
    await run(tool, ScriptedCall(name="t", id="c7"))
    (ctx,) = seen
    assert (ctx.call_id, ctx.display, ctx.signal.aborted) == ("c7", None, False)
    assert [tool.name for tool in ctx.glove.tools] == ["t"]
