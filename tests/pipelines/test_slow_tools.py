"""A tool of thirty seconds, in a call on virtual time with fixed charges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.core.cancellation import CANCEL_TOOL
from agents.core.messages import Message
from agents.core.prompt import History, assemble
from agents.core.tools import Tool, ToolContext
from agents.display import DisplayManager
from agents.models.scripted import ScriptedCall, ScriptedResponse
from pipelines.clock import VirtualClock
from pipelines.events import ToolCalled, ToolReturned, TurnCommitted, UtteranceEnded, UtteranceStarted
from pipelines.glove import GloveResponder
from pipelines.turns.settings import TurnSettings
from tests.agents.core.scenes import Anything, outline, talking
from tests.pipelines.line import Line, Tale

SLOW_S = 30.0
MODEL_S = 0.1
"""What an item of a model's stream costs."""


class Scene:
    """A call with an agent that has a slow tool."""

    def __init__(self, *responses: ScriptedResponse, **options: Any) -> None:
        self.stored: list[Message] = []
        self.over_at = 0.0
        self.glove, self.model = talking(*responses, **options)
        costs = iter([SLOW_S])
        self.clock = VirtualClock(lambda holder, _: MODEL_S if holder == "model" else next(costs, 0.0))
        # Without drafts, so that what is compared is compared like with like: none is written while a tool runs.
        self.line = Line(self.clock, responder=lambda clock, _: GloveResponder(self.glove, clock), drafts=0)

    def hold(self, tale: Tale) -> Scene:
        async def call() -> None:
            await self.line.call(tale)
            self.over_at = self.clock.now()
            self.stored = await self.glove.store.get_messages()

        self.clock.run(call())
        return self

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(event.kind, event.text) for event in self.line.all(UtteranceEnded)]

    def latencies(self) -> list[float]:
        """From the commit of each turn to the first sound of its reply."""
        began = {e.turn: at for at, e in self.line.events if isinstance(e, UtteranceStarted)}
        return [
            began[event.turn] - at
            for at, event in self.line.events
            if isinstance(event, TurnCommitted) and event.turn in began
        ]


def search(do: Callable[..., Any] = lambda given, ctx: {"flights": 3}, **options: Any) -> Tool:
    return Tool(name="search", description="Searches.", input=Anything, do=do, **options)


CALL = ScriptedCall(name="search", id="c1")


def test_a_question_in_the_meantime_is_answered_at_normal_latency_and_the_result_is_told_once() -> None:
    async def tale(line: Line) -> None:
        await line.says("hello", "there")
        await line.silence(3)
        await line.says("find", "flights")
        await line.silence(6)
        await line.says("what", "time", "is", "it")
        await line.silence(40)

    scene = Scene("Hello.", ["Searching now. ", CALL], "Nine.", "Three flights.", tools=(search(),)).hold(tale)
    assert scene.said == [
        ("reply", "Hello."),
        ("reply", "Searching now. "),
        ("reply", "Nine."),
        ("tool_result", "Three flights."),
    ]
    normal, _, meanwhile = scene.latencies()
    assert meanwhile == pytest.approx(normal, rel=0.1)
    (called,), (returned,) = scene.line.all(ToolCalled), scene.line.all(ToolReturned)
    assert (called.turn, returned.turn, returned.status) == (1, 1, "success")
    assert returned.duration_ms == pytest.approx(SLOW_S * 1000)
    asked_at = scene.line.times(ToolCalled)[0]
    told_at = scene.line.times(UtteranceStarted)[-1]
    assert asked_at + SLOW_S < told_at < asked_at + SLOW_S + 1.5
    assert all(event.heard.strip() == event.text.strip() for event in scene.line.all(UtteranceEnded))
    assert outline(scene.model.requests[2].messages)[2:6] == [
        "user: find flights",
        "agent: Searching now.  +search",
        "results search=success",
        "user: what time is it",
    ]


def test_a_caller_who_goes_on_before_a_word_was_said_is_answered_at_once_too() -> None:
    async def tale(line: Line) -> None:
        await line.says("hello", "there")
        await line.silence(3)
        await line.says("find", "flights")
        await line.silence(5)
        await line.says("hello")
        await line.silence(40)

    scene = Scene("Hello.", [CALL], "Still searching.", "Three flights.", tools=(search(),)).hold(tale)
    assert scene.said[-2:] == [("reply", "Still searching."), ("tool_result", "Three flights.")]
    normal, meanwhile = scene.latencies()
    assert meanwhile == pytest.approx(normal, rel=0.1)


def test_a_short_word_into_the_silence_of_a_tool_is_a_turn() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)
        await line.says("hello")
        await line.silence(40)

    scene = Scene(["Searching now. ", CALL], "Still searching.", "Three.", tools=(search(),)).hold(tale)
    assert scene.line.committed == ["find flights", "hello"]


def test_cancel_that_cancels_it_and_nothing_is_told_later() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)
        await line.says("cancel", "that")
        await line.silence(40)

    cancel = ScriptedCall(name=CANCEL_TOOL, input={"call_id": "c1"})
    scene = Scene(["Searching now. ", CALL], [cancel], "Stopped.", tools=(search(),)).hold(tale)
    assert scene.said == [("reply", "Searching now. "), ("reply", "Stopped.")]
    (returned,) = [event for event in scene.line.all(ToolReturned) if event.name == "search"]
    assert (returned.call_id, returned.status) == ("c1", "aborted") and returned.duration_ms < 10_000


def test_a_result_waits_until_the_caller_has_been_answered() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)
        await line.says("hello")
        await line.silence(20.5)
        await line.says(*["and"] * 30)  # Ten seconds, over the end of the tool.
        await line.silence(20)

    scene = Scene(["Searching. ", CALL], "Yes?", "Right.", "Three flights.", tools=(search(),)).hold(tale)
    assert [text for _, text in scene.said] == ["Searching. ", "Yes?", "Right.", "Three flights."]


def test_a_caller_who_thinks_about_a_question_is_not_talked_to_at_once() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(28)
        await line.says("hello")
        await line.silence(20)

    scene = Scene(["Searching. ", CALL], "Which day?", "Three flights.", tools=(search(),)).hold(tale)
    assert [text for _, text in scene.said] == ["Searching. ", "Which day?", "Three flights."]
    ready_at = scene.line.times(ToolCalled)[0] + SLOW_S
    asked_at, told_at = scene.line.times(UtteranceEnded)[1], scene.line.times(UtteranceStarted)[2]
    assert asked_at < ready_at < asked_at + TurnSettings().result_after_question_s < told_at


def test_hanging_up_stops_a_tool_that_may_be_stopped() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)

    scene = Scene(["Searching. ", CALL], tools=(search(),)).hold(tale)
    assert scene.over_at < 15
    assert outline(scene.stored)[-1] == "results search=aborted"


def test_hanging_up_waits_for_a_tool_that_may_not_be_stopped_and_keeps_its_result() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)
        await line.says("hello")
        await line.silence(3)

    scene = Scene(["Searching. ", CALL], "Yes?", tools=(search(unabortable=True),)).hold(tale)
    assert scene.over_at == pytest.approx(scene.line.times(ToolCalled)[0] + SLOW_S, abs=0.5)
    (late,) = [message for message in scene.stored if message.framework_context == "tool_result"]
    assert [(result.call_id, result.result.status) for result in late.tool_results] == [("c1", "success")]


def test_hanging_up_in_a_round_keeps_a_tool_that_may_not_be_stopped_in_its_place() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)

    scene = Scene(["Searching. ", CALL], tools=(search(unabortable=True),)).hold(tale)
    assert scene.over_at == pytest.approx(scene.line.times(ToolCalled)[0] + SLOW_S, abs=0.5)
    shown = assemble(History(messages=scene.stored))
    assert outline(shown)[-1] == "results search=success"


def test_a_host_that_stops_the_agent_stops_its_tool() -> None:
    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(6)
        line.cascade.interrupt()
        await line.silence(40)

    scene = Scene(["Searching. ", CALL], tools=(search(),)).hold(tale)
    assert [event.status for event in scene.line.all(ToolReturned)] == ["aborted"]
    assert [kind for kind, _ in scene.said] == ["reply"]


def test_a_tool_that_waits_at_a_screen_does_not_stop_time() -> None:
    display = DisplayManager()

    async def do(given: Anything, ctx: ToolContext) -> Any:
        assert ctx.display is not None
        return await ctx.display.push_and_wait("seat", answer=str)

    async def tale(line: Line) -> None:
        await line.says("find", "seats")
        line.clock.call_at(line.clock.now() + 40, lambda: display.resolve("slot_1", "2A"))
        await line.silence(60)

    scene = Scene(["Searching. ", CALL], "Seat 2 A.", tools=(search(do),), display=display).hold(tale)
    (returned,) = scene.line.all(ToolReturned)
    assert 38_000 < returned.duration_ms < 40_000
    assert scene.said[-1] == ("reply", "Searching. Seat 2 A.")
