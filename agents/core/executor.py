"""Run the tool calls of a model response, one after the other, each to exactly one result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError
from agents.core.events import Subscribers
from agents.core.messages import ToolCall, ToolResult, ToolResultData
from agents.core.pace import Pace
from agents.core.tools import InvalidInputError, Tool, ToolContext

__all__ = ["TOOL_INPUT_INVALID", "Executor"]

logger = logging.getLogger(__name__)

TOOL_INPUT_INVALID = "TOOL_INPUT_INVALID"
"""The error message of a call whose input did not fit the tool."""

ERROR_LIMIT = 2_000
"""Characters of an error that reach the model: enough to mend the call, too few to crowd out the conversation."""

NAME_LIMIT = 80
"""Characters of a tool name the model made up that are repeated to it."""


class Executor:
    """Runs calls in the model's order; whatever a tool does wrong becomes a result the model can read.

    Args:
        tools: what there is, by lower-case name. Read at every call, so that a tool may fold another.
        subscribers: who is told of each result.
    """

    def __init__(self, tools: Mapping[str, Tool], subscribers: Subscribers) -> None:
        self._tools = tools
        self._subscribers = subscribers

    async def run(
        self,
        calls: Sequence[ToolCall],
        context: Callable[[ToolCall], ToolContext],
        *,
        signal: AbortSignal,
        pace: Pace,
    ) -> tuple[ToolResult, ...]:
        """Run all calls. An abort ends the running one at once and the later ones before they start.

        Args:
            calls: in the order they are to run.
            context: makes what a call's tool may use.
            signal: the request's abort.
            pace: accounts for each run.

        Returns:
            One result per call, in order.
        """
        results = []
        for call in calls:
            started = pace.now()
            outcome = await self._outcome(call, context, signal, pace)
            result = ToolResult(
                tool_name=call.tool_name,
                call_id=call.id,
                result=outcome,
                duration_ms=(pace.now() - started) * 1000,
            )
            results.append(result)
            await self._subscribers.emit(
                "tool_use_result",
                tool_name=result.tool_name,
                call_id=result.call_id,
                result=result.result,
                duration_ms=result.duration_ms,
                id=result.call_id,
                name=result.tool_name,
            )
        return tuple(results)

    async def _outcome(
        self, call: ToolCall, context: Callable[[ToolCall], ToolContext], signal: AbortSignal, pace: Pace
    ) -> ToolResultData:
        if signal.aborted:
            return ToolResultData(status="aborted", message="Not started: the request was aborted before.")
        tool = self._tools.get(call.tool_name.lower())
        if tool is None:
            return self._unknown(call.tool_name)
        try:
            value = tool.read(call.input_args)
        except InvalidInputError as exc:
            return ToolResultData(status="error", message=TOOL_INPUT_INVALID, data={"problems": exc.problems})
        try:
            with signal.guard():
                async with pace.tool(tool.name):
                    return await tool.run(value, context(call))
        except AbortError:
            return ToolResultData(status="aborted", message="Stopped: the request was aborted while this ran.")
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code: the model is told, the call goes on
            # Without the exception's own text, which may quote the caller.
            logger.warning("tool %r raised %s", tool.name, type(exc).__name__)
            return ToolResultData(status="error", message=f"{type(exc).__name__}: {exc}"[:ERROR_LIMIT])

    def _unknown(self, name: str) -> ToolResultData:
        asked = name.lower()
        names = [tool.name for tool in self._tools.values()]
        close = [known for known in names if asked and (asked in known.lower() or known.lower() in asked)]
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        known = ", ".join(names) or "none"
        return ToolResultData(
            status="error", message=f"There is no tool {name[:NAME_LIMIT]!r}.{hint} The tools are: {known}."
        )
