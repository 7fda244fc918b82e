"""Tools that outlive their rounds, in chat."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.cancellation import CANCEL_TOOL
from agents.core.errors import AbortError, ModelError
from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.models.openai_wire import write_messages
from agents.models.scripted import ScriptedCall
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Anything, Diary, echo, outline, talking
from tests.agents.models.completions_server import complaints


class Slow:
    """A tool that ends when it is told to."""

    def __init__(self, **options: Any) -> None:
        self.started = asyncio.Event()
        self.free = asyncio.Event()
        self.result: Any = {"flights": 3}
        self.ended: list[str] = []
        self.tool = Tool(name="search", description="Searches.", input=Anything, do=self._do, **options)

    async def _do(self, given: Anything, ctx: ToolContext) -> Any:
        self.started.set()
        ctx.expect("choice", choices=("first", "second"))
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("done")
        return self.result


def search(**options: Any) -> ScriptedCall:
    return ScriptedCall(name="search", id="c1", input={"word": "Rome"}, **options)


async def begun(glove: Glove, slow: Slow, signal: AbortSignal | None = None) -> asyncio.Task[Any]:
    running = asyncio.ensure_future(glove.process_request("Find flights", signal))
    await asyncio.wait_for(slow.started.wait(), 5)
    return running


def sound(model: Any) -> None:
    for request in model.requests:
        wire = {"stream": True, "stream_options": {"include_usage": True}, "messages": write_messages(request)}
        assert complaints(wire) == []


async def test_a_message_in_the_meantime_is_answered_at_once_and_the_result_is_told_later_once() -> None:
    slow = Slow()
    glove, model = talking(
        ["Searching. ", search(), ScriptedCall(name="echo")],
        "It is nine.",
        "There are three.",
        tools=(slow.tool, echo()),
    )
    diary = Diary()
    glove.add_subscriber(diary)
    first = await begun(glove, slow)
    assert (await glove.process_request("What time is it?")).text == "It is nine."
    assert (await first).text == "Searching. "
    settled = ["user: Find flights", "agent: Searching.  +search +echo", "results search=success,echo=aborted"]
    *shown, running = outline(model.requests[1].messages)
    assert shown == [*settled, "user: What time is it?"]
    assert running.startswith("[runtime] Tool calls that are running now") and "(call c1)" in running
    assert [tool.name for tool in model.requests[1].tools] == ["search", "echo", CANCEL_TOOL]
    assert [data["call_id"] for data in diary.of("tool_use_result")] == ["call_2"]

    slow.free.set()
    await glove.errands.drain()
    *before, told = outline(model.requests[2].messages)
    assert before == [*settled, "user: What time is it?", "agent: It is nine."]
    assert told.startswith("[tool_result]") and '{"flights": 3}' in told and "(c1)" in told
    assert [tool.name for tool in model.requests[2].tools] == ["search", "echo"]
    assert outline(await glove.store.get_messages())[-1] == "agent: There are three."
    assert [data["call_id"] for data in diary.of("tool_use_result")] == ["call_2", "c1"]
    assert glove.expectation is not None and glove.expectation.choices == ("first", "second")
    assert len(model.requests) == 3
    sound(model)


async def test_a_tool_that_is_quick_enough_is_awaited_though_somebody_waits() -> None:
    slow = Slow()
    glove, _ = talking([search()], "Three.", "Nine.", tools=(slow.tool,))
    first = await begun(glove, slow)
    second = asyncio.ensure_future(glove.process_request("What time is it?"))
    await asyncio.sleep(0)
    slow.free.set()
    assert ((await first).text, (await second).text) == ("Three.", "Nine.")


async def test_a_result_that_comes_while_another_request_runs_waits_for_its_end() -> None:
    slow, go = Slow(), asyncio.Event()
    glove, _ = talking([search()], ["It is ", go.wait, "nine."], "Three.", tools=(slow.tool,))
    first = await begun(glove, slow)
    second = asyncio.ensure_future(glove.process_request("What time is it?"))
    await first
    (running,) = glove.errands.running
    slow.free.set()
    await running.wait()
    assert glove.errands.untold
    go.set()
    await second
    await glove.errands.drain()
    assert [line for line in outline(await glove.store.get_messages()) if line.startswith("agent")] == [
        "agent:  +search",
        "agent: It is nine.",
        "agent: Three.",
    ]


async def test_the_model_can_stop_a_running_call_and_nobody_is_told_of_it_later() -> None:
    slow = Slow()
    cancel = ScriptedCall(name=CANCEL_TOOL, input={"call_id": "c1"})
    glove, model = talking([search()], [cancel], "Stopped.", "Yes.", tools=(slow.tool,))
    first = await begun(glove, slow)
    assert (await glove.process_request("Cancel that")).text == "Stopped."
    await first
    await glove.errands.drain()
    assert slow.ended == ["cancelled"] and glove.errands.running == ()
    await glove.process_request("Well?")
    assert len(model.requests) == 4
    assert [line for line in outline(model.requests[3].messages) if "search" in line][-1].endswith(
        "ended: aborted.\nReason: Stopped: the request was aborted while this ran."
    )
    assert [tool.name for tool in model.requests[3].tools] == ["search"]
    sound(model)


@pytest.mark.parametrize(("call_id", "unabortable", "why"), [("c9", False, "running are: c1"), ("c1", True, "may not")])
async def test_what_cannot_be_stopped_is_said_so(call_id: str, unabortable: bool, why: str) -> None:
    slow = Slow(unabortable=unabortable)
    cancel = ScriptedCall(name=CANCEL_TOOL, input={"call_id": call_id})
    glove, model = talking([search()], [cancel], "Sorry.", "Three.", tools=(slow.tool,))
    await asyncio.gather(await begun(glove, slow), glove.process_request("Cancel that"))
    (refused,) = [r.result for r in model.requests[2].messages[-2].tool_results]
    assert refused.status == "error" and why in str(refused.message)
    slow.free.set()
    await glove.errands.drain()
    assert slow.ended == ["done"]


async def test_closing_ends_what_may_be_ended_and_waits_for_what_may_not() -> None:
    quick, paying = Slow(), Slow(unabortable=True)
    paying.tool = Tool(name="pay", description="", input=Anything, do=paying._do, unabortable=True)
    glove, model = talking([search()], [ScriptedCall(name="pay", id="c2")], "Yes.", tools=(quick.tool, paying.tool))
    first = await begun(glove, quick)
    second = asyncio.ensure_future(glove.process_request("Pay"))
    await asyncio.wait_for(paying.started.wait(), 5)
    await glove.process_request("Well?")
    await asyncio.gather(first, second)
    stopped, _ = glove.errands.running
    closing = asyncio.ensure_future(glove.aclose())
    await stopped.wait()
    assert quick.ended and not closing.done()
    paying.free.set()
    await closing
    assert (quick.ended, paying.ended) == (["cancelled"], ["done"])
    late = [m for m in await glove.store.get_messages() if m.framework_context == "tool_result"]
    assert [(r.call_id, r.result.status) for m in late for r in m.tool_results] == [
        ("c1", "aborted"),
        ("c2", "success"),
    ]
    assert len(model.requests) == 3


async def test_an_explicit_abort_ends_a_call_that_outlived_its_round() -> None:
    slow, signal = Slow(), AbortSignal()
    glove, _ = talking([search()], "Nine.", "It was stopped.", tools=(slow.tool,))
    first = await begun(glove, slow, signal)
    await glove.process_request("What time is it?")
    await first
    signal.abort()
    await glove.errands.drain()
    assert slow.ended == ["cancelled"]


async def test_a_request_that_gives_way_says_nothing_more_though_its_tool_ended_in_time() -> None:
    slow = Slow()
    glove, model = talking([search(), ScriptedCall(name="echo")], "Nine.", tools=(slow.tool, echo()))
    request = glove.begin("Find flights")
    running = asyncio.ensure_future(request.run())
    await asyncio.wait_for(slow.started.wait(), 5)
    request.give_way()
    slow.free.set()
    with pytest.raises(AbortError, match="gave way"):
        await running
    await glove.process_request("What time is it?")
    assert outline(model.requests[1].messages)[2:] == ["results search=success,echo=aborted", "user: What time is it?"]


async def test_a_request_that_is_cancelled_while_it_makes_way_leaves_no_tool_behind() -> None:
    slow = Slow()
    glove, _ = talking([search()], "Nine.", tools=(slow.tool,))
    first = await begun(glove, slow)
    second = asyncio.ensure_future(glove.process_request("What time is it?"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).text == "Nine."
    assert slow.ended == ["cancelled"] and glove.errands.running == ()


async def test_a_cancelled_request_leaves_a_tool_that_may_not_be_stopped_to_its_end() -> None:
    slow = Slow(unabortable=True)
    glove, model = talking([search()], "Three.", "Yes.", tools=(slow.tool,))
    first = await begun(glove, slow)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    slow.free.set()
    await glove.errands.drain()
    assert slow.ended == ["done"]
    await glove.process_request("Well?")
    # The round was never stored, so the result stands where it belongs and is not told twice.
    assert outline(model.requests[-1].messages)[:3] == [
        "user: Find flights",
        "agent:  +search",
        "results search=success",
    ]
    sound(model)


async def test_after_a_crash_a_recorded_result_is_shown_and_what_was_running_is_known_to_be_lost() -> None:
    for recorded in (False, True):
        slow, store = Slow(), MemoryStore()
        glove, _ = talking([search()], "Nine.", tools=(slow.tool,), store=store)
        await asyncio.gather(await begun(glove, slow), glove.process_request("What time is it?"))
        if recorded:
            made = next(message for message in await store.get_messages() if message.tool_calls)
            outcome = (await store.get_messages())[2].tool_results[0]
            done = ToolResultData(status="success", data="three")
            await store.record_result(made.id, type(outcome)(tool_name="search", call_id="c1", result=done))
        after, model = talking("Yes.", store=store)
        after.new_id = iter(map(str, range(9))).__next__
        await after.process_request("Hello again")
        (shown,) = [r.result for m in model.requests[0].messages for r in m.tool_results]
        assert (shown.data if recorded else str(shown.message)).startswith("three" if recorded else "The program ended")
        await glove.aclose()


async def test_a_result_that_cannot_be_told_is_in_the_conversation_all_the_same() -> None:
    slow = Slow()
    glove, model = talking([search()], "Nine.", [ModelError("scripted", "down")], "Three.", tools=(slow.tool,))
    await asyncio.gather(await begun(glove, slow), glove.process_request("What time is it?"))
    slow.free.set()
    await glove.errands.drain()
    await glove.process_request("Well?")
    assert sum('{"flights": 3}' in message.text for message in model.requests[-1].messages) == 1


async def test_a_slow_tool_that_asks_its_own_agent_something_does_not_wait_for_itself() -> None:
    async def do(given: Anything, ctx: ToolContext) -> str:
        return (await ctx.glove.process_request("Inside")).text

    tool = Tool(name="nested", description="", input=Anything, do=do)
    glove, _ = talking([ScriptedCall(name="nested")], "Inner.", "Outer.", tools=(tool,))
    await asyncio.wait_for(glove.process_request("Go"), 5)
    await asyncio.wait_for(glove.errands.drain(), 5)
    assert outline(await glove.store.get_messages())[-1] == "agent: Outer."


async def test_a_caller_who_waits_behind_another_is_answered_though_that_one_becomes_slow() -> None:
    slow, go = Slow(), asyncio.Event()
    glove, _ = talking([go.wait, "One."], [search()], "Three.", "Result.", tools=(slow.tool,))
    waiting = [asyncio.ensure_future(glove.process_request(said)) for said in ("a", "b", "c")]
    await asyncio.sleep(0)
    go.set()
    answers = await asyncio.wait_for(asyncio.gather(*waiting), 5)
    assert [answer.text for answer in answers] == ["One.", "", "Three."]
    with pytest.raises(AbortError):
        await glove.process_request("d", _aborted())
    slow.free.set()
    await glove.errands.drain()


def _aborted() -> AbortSignal:
    signal = AbortSignal()
    signal.abort()
    return signal
