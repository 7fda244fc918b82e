"""A tool of thirty seconds in a call with real ears and a real voice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

import pytest
from pydantic import BaseModel

from agents.core.cancellation import CANCEL_TOOL
from agents.core.glove import Glove
from agents.core.model import Model
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.engine, pytest.mark.e2e]

SLOW_S = 30.0
SEARCH = ScriptedCall(name="search", id="c1")


class Nothing(BaseModel):
    """No input."""


def _searching(*responses: ScriptedResponse) -> Glove:
    async def search(_: Nothing, ctx: ToolContext) -> str:
        async with ctx.waiting():
            await asyncio.sleep(SLOW_S)
        return "three"

    model = ScriptedModel([["One moment, I am searching. ", SEARCH], *responses])
    return Glove(model=model).fold(Tool(name="search", description="Searches.", input=Nothing, do=search))


def searcher(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Search, tell the time in the meantime, and then the result."""
    return _searching("It is nine o'clock.", "There are three of them.")


def canceller(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Search, and stop when told to."""
    return _searching([ScriptedCall(name=CANCEL_TOOL)], "I have stopped.")


def answerer(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Answer at once, to compare with."""
    return Glove(model=ScriptedModel(["One moment please.", "It is nine o'clock."]))


def test_a_question_in_the_meantime_is_answered_as_fast_as_ever_and_the_result_is_told_once(stage: Stage) -> None:
    says = ("what-can-you-do", ("what-time-is-it", 6.0))
    slow = stage.call(*says, agent="tests.e2e.test_slow_tools:searcher")
    normal = stage.call(*says, agent="tests.e2e.test_slow_tools:answerer")
    assert [(said.kind, said.text.strip()) for said in slow.report.utterances] == [
        ("reply", "One moment, I am searching."),
        ("reply", "It is nine o'clock."),
        ("tool_result", "There are three of them."),
    ]
    assert all(said.heard.strip() == said.text.strip() for said in slow.report.utterances)
    meanwhile, ever = (call.turns[1].latency_ms.voice_to_voice for call in (slow, normal))
    assert meanwhile is not None and ever is not None
    # Charged time is measured on a machine that does other things too: a tenth, and what its engines vary by.
    assert meanwhile <= ever * 1.1 + 100
    assert [(tool.name, tool.status) for tool in slow.turns[0].tools] == [("search", "success")]
    told = slow.report.utterances[2]
    assert told.start_s > SLOW_S


def test_stop_stops_it_and_nothing_is_told_later(stage: Stage) -> None:
    call = stage.call("what-can-you-do", ("stop", 6.0), agent="tests.e2e.test_slow_tools:canceller")
    assert [said.text.strip() for said in call.report.utterances] == ["One moment, I am searching.", "I have stopped."]
    assert [(tool.name, tool.status) for turn in call.turns for tool in turn.tools] == [
        ("search", "aborted"),
        (CANCEL_TOOL, "success"),
    ]
