"""A tool that speaks while it runs, in a call with real ears and a real voice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

import pytest
from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.model import Model
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel
from tests.e2e.stage import ALL_OUTPUTS, Stage, heard_by
from tests.fixtures.wer import normalised
from voice_server.options import OutputKind

pytestmark = [pytest.mark.engine, pytest.mark.e2e]

SLOW_S = 12.0
NOTICE = "This will take a little while. Please hold the line."


class Nothing(BaseModel):
    """No input."""


def talker(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Search for twelve seconds, and say so meanwhile."""

    async def search(_: Nothing, ctx: ToolContext) -> str:
        await ctx.say(NOTICE)
        async with ctx.waiting():
            await asyncio.sleep(SLOW_S)
        return "three"

    model = ScriptedModel([["I am searching now. ", ScriptedCall(name="search")], "There are three of them."])
    return Glove(model=model).fold(Tool(name="search", description="Searches.", input=Nothing, do=search))


@pytest.mark.parametrize("output", ALL_OUTPUTS)
def test_it_is_heard_between_the_words_of_the_reply_while_the_tool_runs(stage: Stage, output: OutputKind) -> None:
    call = stage.call("what-can-you-do", agent="tests.e2e.test_tool_says:talker", output=output)
    reply, notice = sorted(call.report.utterances, key=lambda said: said.id)
    assert (reply.kind, reply.heard, reply.interrupted) == (
        "reply",
        "I am searching now. There are three of them.",
        False,
    )
    assert (notice.kind, notice.heard, notice.interrupted) == ("narration", NOTICE, False)
    assert reply.start_s < notice.start_s < reply.start_s + 3.0 < notice.end_s < reply.start_s + SLOW_S
    before, after = call.between(reply.start_s, reply.start_s + SLOW_S), call.between(reply.start_s + SLOW_S)
    assert normalised(heard_by(before)) == normalised(f"I am searching now. {NOTICE}")
    assert normalised(heard_by(after)) == normalised("There are three of them.")
