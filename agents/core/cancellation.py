"""The tool with which a model stops a call that outlived its round; offered while one runs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from agents.core.errands import Errands
from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext

__all__ = ["CANCEL_TOOL", "cancel_tool"]

CANCEL_TOOL = "glove_cancel_call"


class Cancellation(BaseModel):
    """Which call to stop."""

    call_id: str | None = Field(default=None, description="The id of the running call; the latest one by default")


def cancel_tool(errands: Errands) -> Tool:
    """Make the tool.

    Args:
        errands: what runs.
    """

    async def do(given: Cancellation, ctx: ToolContext) -> Any:
        call = errands.find(given.call_id)
        if call is None:
            ids = ", ".join(running.call.id for running in errands.running) or "none"
            return ToolResultData(status="error", message=f"No such call is running; running are: {ids}.")
        if call.protected:
            message = f"The call of {call.call.tool_name} may not be stopped; it goes on to its end."
            return ToolResultData(status="error", message=message)
        call.dismissed = True
        call.abort("cancelled by the user")
        await call.wait()
        return {"say": "All right, I have stopped that.", "stopped": call.call.tool_name, "call_id": call.call.id}

    return Tool(
        name=CANCEL_TOOL,
        description="Stop a tool call that is still running, because its result is no longer wanted.",
        input=Cancellation,
        do=do,
        examples=("cancel that", "never mind that", "forget about it", "stop looking for it", "you can stop that"),
    )
