from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from inspect import iscoroutinefunction
from itertools import count
from typing import Any, cast

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, ModelError
from agents.core.events import EventType
from agents.core.messages import Message, Usage
from agents.core.prompt import INTERRUPTED_NOTE
from agents.core.request import TURN_LIMIT_TEXT
from agents.core.store import Store
from agents.core.tools import Tool, ToolContext
from agents.models.openai_wire import write_messages
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Anything, Diary, echo, hanging, outline, talking
from tests.agents.models.completions_server import complaints


async def test_a_request_calls_tools_until_the_model_only_speaks() -> None:
    glove, model = talking(
        ["Let me see. ", ScriptedCall(name="echo", input={"word": "a"})], "It is a.", tools=(echo(),)
    )
    answer = await glove.process_request("What is it?")
    assert answer.text == "It is a."
    expected = ["user: What is it?", "agent: Let me see.  +echo", "results echo=success", "agent: It is a."]
    assert outline(await glove.store.get_messages()) == expected
    assert outline(model.requests[1].messages) == expected[:3]
    assert await glove.store.get_turn_count() == 2


async def test_events_come_in_the_order_of_the_loop() -> None:
    glove, _ = talking(["Hm. ", ScriptedCall(name="echo")], ["It ", "is."], tools=(echo(),))
    diary = Diary()
    glove.add_subscriber(diary)
    glove.add_context_provider(lambda signal: "It rains.")
    await glove.process_request("Hello")
    assert diary.types() == [
        "runtime_context",
        "text_delta",
        "tool_use",
        "model_response_complete",
        "token_consumption",
        "tool_use_result",
        "runtime_context",
        "text_delta",
        "text_delta",
        "model_response_complete",
        "token_consumption",
    ]
    assert set(diary.of("tool_use")[0]) == {"id", "name", "input"}
    assert set(diary.of("tool_use_result")[0]) == {"tool_name", "call_id", "result", "duration_ms", "id", "name"}
    complete = diary.of("model_response_complete")[1]
    assert complete["text"] == "It is." and {"tool_calls", "stop_reason", "tokens_in", "tokens_out"} <= set(complete)


async def test_a_response_is_announced_before_it_is_stored_and_counted_after() -> None:
    glove, _ = talking("Yes.")
    stored: dict[str, int] = {}

    class Counting:
        async def record(self, type: EventType, data: dict[str, Any]) -> None:
            stored[type] = len(await glove.store.get_messages())

    glove.add_subscriber(Counting())
    await glove.process_request("Hello")
    assert stored == {"text_delta": 1, "model_response_complete": 1, "token_consumption": 2}


async def test_every_subscriber_is_awaited_and_an_exception_ends_the_request() -> None:
    glove, _ = talking("Yes.", "Yes.")
    first, second = Diary(), Diary()
    glove.add_subscriber(first)
    leave = glove.add_subscriber(second)
    await glove.process_request("Hello")
    assert first.types() == second.types() != []
    leave()

    class Broken:
        async def record(self, type: EventType, data: dict[str, Any]) -> None:
            raise ValueError("full disk")

    glove.add_subscriber(Broken())
    with pytest.raises(ValueError, match="full disk"):
        await glove.process_request("Again")


async def test_runtime_context_is_last_fresh_every_time_and_never_stored() -> None:
    glove, model = talking([ScriptedCall(name="echo")], "Done.", tools=(echo(),))
    answers = iter(["first", "second"])
    glove.add_context_provider(lambda signal: next(answers))
    glove.add_context_provider(lambda signal: "")
    await glove.process_request("Go")
    assert outline(model.requests[0].messages) == ["user: Go", "[runtime] first"]
    assert outline(model.requests[1].messages) == [
        "user: Go",
        "agent:  +echo",
        "results echo=success",
        "[runtime] second",
    ]
    assert not any(message.framework_context for message in await glove.store.get_messages())


async def test_changing_the_runtime_context_event_changes_nothing_for_the_model() -> None:
    glove, model = talking("Yes.")

    class Vandal:
        async def record(self, type: EventType, data: dict[str, Any]) -> None:
            if type == "runtime_context":
                data["messages"].clear()

    glove.add_subscriber(Vandal())
    glove.add_context_provider(lambda signal: "It rains.")
    await glove.process_request("Hello")
    assert outline(model.requests[0].messages)[-1] == "[runtime] It rains."


async def test_a_failing_context_provider_stops_the_request_before_the_model_call() -> None:
    glove, model = talking("Yes.", "Yes.")

    def broken(signal: AbortSignal | None) -> str:
        raise RuntimeError("no state")

    leave = glove.add_context_provider(broken)
    with pytest.raises(RuntimeError, match="no state"):
        await glove.process_request("Hello")
    assert model.requests == []
    leave()
    assert (await glove.process_request("Hello")).text == "Yes."


async def test_a_tool_folded_by_a_tool_is_offered_in_the_next_model_call() -> None:
    def learn(given: Anything, ctx: ToolContext) -> str:
        ctx.glove.fold(echo("new"))
        return "learned"

    glove, model = talking(
        [ScriptedCall(name="learn")],
        [ScriptedCall(name="new")],
        "Done.",
        tools=(Tool(name="learn", description="Learns.", input=Anything, do=learn),),
    )
    await glove.process_request("Go")
    assert [[tool.name for tool in request.tools] for request in model.requests[:2]] == [["learn"], ["learn", "new"]]
    assert outline(await glove.store.get_messages())[-2] == "results new=success"


async def test_the_turn_limit_counts_per_request() -> None:
    loop = [ScriptedCall(name="echo")]
    glove, _ = talking(loop, loop, loop, loop, tools=(echo(),), max_turns=2)
    for _ in range(2):
        assert (await glove.process_request("Go")).text == TURN_LIMIT_TEXT


async def test_call_ids_that_a_server_repeats_are_made_unique() -> None:
    repeated = ScriptedCall(name="echo", id="call_0")
    glove, _ = talking([repeated, repeated], [repeated], "Done.", tools=(echo(),))
    await glove.process_request("Go")
    messages = await glove.store.get_messages()
    calls = [call.id for message in messages for call in message.tool_calls]
    assert len(set(calls)) == 3
    assert calls == [result.call_id for message in messages for result in message.tool_results]


async def test_abort_before_the_first_step_keeps_the_callers_words() -> None:
    glove, model = talking("Yes.")
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(AbortError):
        await glove.process_request("Hello", signal)
    assert model.requests == []
    assert outline(await glove.store.get_messages()) == ["user: Hello"]


async def test_abort_in_mid_generation_ends_the_call_at_once_and_stores_nothing_of_it() -> None:
    waiting = asyncio.Event()
    glove, model = talking(["Twelve ", "times ", asyncio.Event().wait], "All right.")
    signal = AbortSignal()

    class Watching:
        async def record(self, type: EventType, data: dict[str, Any]) -> None:
            if data.get("text") == "times ":
                waiting.set()

    glove.add_subscriber(Watching())
    request = glove.begin("Go", signal=signal)
    running = asyncio.ensure_future(request.run())
    await waiting.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await running
    assert model.closed == 1
    assert outline(await glove.store.get_messages()) == ["user: Go"]
    assert request.partial == "Twelve times "
    await request.settle("Twelve ", interrupted=True)
    assert outline(await glove.store.get_messages()) == ["user: Go", "agent: Twelve times "]
    await glove.process_request("Stop")
    assert outline(model.requests[1].messages) == [
        "user: Go",
        "agent: Twelve",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: Stop",
    ]


async def test_abort_while_a_context_provider_waits_is_at_once() -> None:
    glove, model = talking("Yes.")
    signal = AbortSignal()
    asked = asyncio.Event()

    async def slow(_: AbortSignal | None) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "never"

    glove.add_context_provider(slow)
    running = asyncio.ensure_future(glove.process_request("Go", signal))
    await asked.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await running
    assert model.requests == []


async def test_abort_in_a_tool_keeps_what_had_run_and_the_next_request_works() -> None:
    hang, started, ended = hanging()
    calls = [ScriptedCall(name=name) for name in ("echo", "hang", "echo")]
    glove, model = talking(calls, "All right.", tools=(echo(), hang))
    signal = AbortSignal()
    running = asyncio.ensure_future(glove.process_request("Go", signal))
    await started.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await running
    assert ended == ["cancelled"]
    assert outline(await glove.store.get_messages())[-1] == "results echo=success,hang=aborted,echo=aborted"
    await glove.process_request("Next")
    assert outline(model.requests[1].messages)[-2:] == [
        "results echo=success,hang=aborted,echo=aborted",
        "user: Next",
    ]


async def test_a_tool_that_aborts_its_own_request_ends_it_after_the_round() -> None:
    async def do(given: Anything, ctx: ToolContext) -> str:
        ctx.signal.abort("hung up")
        await asyncio.Event().wait()
        return "never"

    glove, _ = talking([ScriptedCall(name="bye")], tools=(Tool(name="bye", description="", input=Anything, do=do),))
    with pytest.raises(AbortError, match="hung up"):
        await glove.process_request("Go")
    assert outline(await glove.store.get_messages())[-1] == "results bye=aborted"


async def test_cancelling_the_task_is_no_abort_and_leaves_a_history_that_is_mended() -> None:
    hang, started, _ = hanging()
    glove, model = talking([ScriptedCall(name="hang")], "All right.", tools=(hang,))
    running = asyncio.ensure_future(glove.process_request("Go"))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await glove.process_request("Next")
    assert outline(model.requests[1].messages) == ["user: Go", "agent:  +hang", "results hang=aborted", "user: Next"]


async def test_a_model_error_leaves_the_conversation_usable() -> None:
    glove, model = talking(["Well, ", ModelError("scripted", "the line is down")], "Here I am.")
    request = glove.begin("Hello")
    with pytest.raises(ModelError, match="the line is down"):
        await request.run()
    assert request.partial == "Well, "
    await request.settle("", interrupted=True)
    await glove.process_request("Hello?")
    assert outline(model.requests[1].messages) == ["user: Hello", "user: Hello?"]


async def test_settling_lays_the_heard_words_over_the_messages_of_a_reply() -> None:
    glove, model = talking(
        ["Let me see. ", ScriptedCall(name="echo")], "It is half past nine in the morning.", "Fine.", tools=(echo(),)
    )
    request = glove.begin("Go")
    await request.run()
    first, second = request.replies
    await request.settle("Let me see. It is half past", interrupted=True)
    settlements = await glove.store.get_settlements()
    assert (settlements[first.id].heard, settlements[first.id].interrupted) == ("Let me see. ", False)
    assert (settlements[second.id].heard, settlements[second.id].interrupted) == ("It is half past", True)
    assert (await glove.store.get_messages())[-1].text == "It is half past nine in the morning."
    await glove.process_request("Thanks")
    assert outline(model.requests[2].messages)[1:] == [
        "agent: Let me see.  +echo",
        "results echo=success",
        "agent: It is half past",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: Thanks",
    ]


async def test_a_reply_of_which_nothing_was_heard_is_not_shown_but_its_tool_results_are() -> None:
    glove, model = talking(["Hm. ", ScriptedCall(name="echo")], "It is nine.", "Fine.", tools=(echo(),))
    request = glove.begin("What time")
    await request.run()
    await request.settle("", interrupted=True)
    await glove.process_request("is it in Rome?")
    assert outline(model.requests[2].messages) == [
        "user: What time",
        "agent:  +echo",
        "results echo=success",
        "user: is it in Rome?",
    ]


async def test_a_reply_heard_whole_is_not_marked_even_when_the_caller_spoke_at_its_end() -> None:
    glove, model = talking("It is nine.", "Fine.")
    request = glove.begin("Go")
    await request.run()
    await request.settle("It is nine.", interrupted=True)
    await glove.process_request("Thanks")
    assert outline(model.requests[1].messages) == ["user: Go", "agent: It is nine.", "user: Thanks"]


async def test_an_expectation_lasts_until_a_reply_that_does_not_ask() -> None:
    def ask(given: Anything, ctx: ToolContext) -> str:
        ctx.expect("digits", length=9)
        return "asked"

    tool = Tool(name="ask", description="Asks.", input=Anything, do=ask)
    broken = ModelError("scripted", "down")
    glove, _ = talking([ScriptedCall(name="ask")], "Which number?", [broken], "It is nine.", tools=(tool,))
    await glove.process_request("Go")
    assert glove.expectation is not None and (glove.expectation.kind, glove.expectation.length) == ("digits", 9)
    with pytest.raises(ModelError):
        await glove.process_request("Two seven")
    assert glove.expectation is not None
    await glove.process_request("What time is it?")
    assert glove.expectation is None


async def test_recorded_words_join_the_history() -> None:
    glove, model = talking("Yes.")
    await glove.record("Hello, this is", interrupted=True)
    await glove.record("  ")
    await glove.process_request("Hello")
    assert outline(model.requests[0].messages) == [
        "agent: Hello, this is",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: Hello",
    ]


async def test_words_recorded_while_a_tool_runs_do_not_part_a_call_from_its_result() -> None:
    async def do(given: Anything, ctx: ToolContext) -> str:
        await ctx.glove.record("One moment.")
        return "done"

    glove, model = talking(
        [ScriptedCall(name="slow")], "Done.", tools=(Tool(name="slow", description="", input=Anything, do=do),)
    )
    await glove.process_request("Go")
    assert outline(model.requests[1].messages) == [
        "user: Go",
        "agent:  +slow",
        "results slow=success",
        "agent: One moment.",
    ]


async def test_tokens_are_counted_once_per_model_call() -> None:
    glove, _ = talking()
    glove.model = ScriptedModel(["Yes."], usage=Usage(tokens_in=10, tokens_out=2, cache_read_input_tokens=8))
    diary = Diary()
    glove.add_subscriber(diary)
    await glove.process_request("Hello")
    assert await glove.store.get_token_count() == 12
    assert diary.of("token_consumption") == [
        {"consumption": {"tokens_in": 10, "tokens_out": 2, "cache_read_input_tokens": 8}}
    ]
    await glove.store.reset_counters()
    assert (await glove.store.get_token_count(), await glove.store.get_turn_count()) == (0, 0)


async def test_context_providers_may_return_messages() -> None:
    glove, model = talking("Yes.")

    async def provide(signal: AbortSignal | None) -> list[Message]:
        return [Message(sender="user", text=text, framework_context="runtime") for text in ("a", "b")]

    glove.add_context_provider(provide)
    await glove.process_request("Hello")
    assert outline(model.requests[0].messages) == ["user: Hello", "[runtime] a", "[runtime] b"]


class Yielding:
    """A store whose operations can be interrupted before they begin and after they are done, as a database's can."""

    def __init__(self) -> None:
        self.store = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.store, name)
        return self._yielding(attribute) if iscoroutinefunction(attribute) else attribute

    def _yielding(self, operation: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def yielding(*args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            result = await operation(*args, **kwargs)
            await asyncio.sleep(0)
            return result

        return yielding


async def aborted_after(ticks: int) -> tuple[str, str]:
    """Abort a request at a moment, look at what is left of it, and go on.

    Returns:
        What the store held, and how the request ended.
    """

    async def pause() -> None:
        await asyncio.sleep(0)

    async def slow(given: Anything, ctx: ToolContext) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        return "done"

    async def context(signal: AbortSignal | None) -> str:
        await asyncio.sleep(0)
        return "It rains."

    call = ScriptedCall(name="slow")
    glove, model = talking(
        [pause, "Let me ", pause, "see. ", pause, call, pause, call],
        [pause, "It is ", pause, "done."],
        tools=(Tool(name="slow", description="", input=Anything, do=slow),),
        store=cast(Store, Yielding()),
    )
    glove.add_context_provider(context)
    signal = AbortSignal()
    request = glove.begin("Go", signal=signal)
    running = asyncio.ensure_future(request.run())
    for _ in range(ticks):
        await asyncio.sleep(0)
    signal.abort()
    (outcome,) = await asyncio.gather(running, return_exceptions=True)
    assert isinstance(outcome, (AbortError, Message)), outcome
    held = " / ".join(outline(await glove.store.get_messages()))
    said = "".join(message.text for message in request.replies) + request.partial
    await request.settle(said[: len(said) // 2], interrupted=True)

    glove.model = model = ScriptedModel(["Fine."])
    await glove.process_request("Next")
    wire = write_messages(model.requests[0])
    assert complaints({"stream": True, "stream_options": {"include_usage": True}, "messages": wire}) == []
    assert [message["content"] for message in wire if message["content"] in ("Go", "Next")] == ["Go", "Next"]
    shown = "".join(message["content"] or "" for message in wire if message["role"] == "assistant")
    assert shown.replace(" ", "") == said[: len(said) // 2].replace(" ", "")
    return held, type(outcome).__name__


async def test_abort_at_any_moment_leaves_whole_rounds_in_the_store_and_a_conversation_the_wire_accepts() -> None:
    met: dict[str, None] = {}
    for ticks in count():
        held, outcome = await aborted_after(ticks)
        met[held] = None
        if outcome == "Message":
            break
    calls = "user: Go / agent: Let me see.  +slow +slow / results slow="
    assert list(met) == [
        "user: Go",
        f"{calls}aborted,slow=aborted",
        f"{calls}success,slow=aborted",
        f"{calls}success,slow=success",
        f"{calls}success,slow=success / agent: It is done.",
    ]
    assert ticks > 30, "every wait of the request was met"
