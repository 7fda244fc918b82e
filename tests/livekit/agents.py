"""Agents for callers in rooms; each is named as ``tests.livekit.agents:NAME``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import datetime

from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.line import LineError
from agents.core.messages import ToolCall
from agents.core.model import Model, ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.tools import Tool, ToolContext

__all__ = ["operator"]


class _Nothing(BaseModel):
    """No input."""


class _Operator:
    """Does what it is told: "bye", "put me through", or else says what is known of the caller."""

    name = "operator"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        last = request.messages[-1]
        texts = [message.text for message in request.messages if message.text]
        said = " ".join(texts[-2:])
        if any(message.tool_results for message in request.messages[-2:]):
            results = [message for message in request.messages if message.tool_results][-1].tool_results
            yield TextChunk(text=str(results[-1].result.data or results[-1].result.message))
        elif "bye" in said:
            yield ToolCalled(call=ToolCall(id="call-1", tool_name="hang_up", input_args={}))
            yield ModelFinished(stop_reason="tool_calls")
            return
        elif "through" in said:
            yield ToolCalled(call=ToolCall(id="call-2", tool_name="put_through", input_args={}))
            yield ModelFinished(stop_reason="tool_calls")
            return
        else:
            yield TextChunk(text=last.text)
        yield ModelFinished()


def _hang_up(_: _Nothing, ctx: ToolContext) -> str:
    assert ctx.line is not None
    ctx.line.hang_up()
    return "Thank you very much for calling us today and goodbye."


async def _put_through(_: _Nothing, ctx: ToolContext) -> str:
    assert ctx.line is not None
    try:
        await ctx.line.transfer("tel:+431234567")
    except LineError as error:
        return f"Sorry, {error}."
    return "One moment."


def operator(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Hangs up and puts through."""
    return Glove(model=_Operator()).fold(
        Tool(name="hang_up", description="Ends the call.", input=_Nothing, do=_hang_up),
        Tool(name="put_through", description="Puts the caller through.", input=_Nothing, do=_put_through),
    )
