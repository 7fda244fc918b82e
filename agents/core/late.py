"""How a model is told the result of a call that outlived its round: in words, for no wire has a place for it."""

from __future__ import annotations

import json
from dataclasses import replace

from agents.core.messages import Message, ToolResult, ToolResultData
from agents.core.results import STILL_RUNNING

__all__ = ["LATE_TEXT", "as_late", "late_message", "read_late"]

LATE_TEXT = "The result of a tool call that had gone on behind the conversation."
"""The text of a message that carries late results."""

LATE = "The call of {name} that was running ({call_id}) has ended: {status}."
DATA = "Result: "
WHY = "Reason: "


def as_late(results: Message) -> Message:
    """Make the results of a round late ones, because its calls are no longer shown; what still runs will be one."""
    ended = tuple(result for result in results.tool_results if result.result.data != STILL_RUNNING)
    if not ended:
        return results
    return replace(results, text=LATE_TEXT, tool_results=ended, framework_context="tool_result")


def late_message(result: ToolResult) -> Message:
    """Write a result as the model is shown it."""
    outcome = result.result
    lines = [LATE.format(name=result.tool_name, call_id=result.call_id, status=outcome.status)]
    if outcome.status != "success" and outcome.message:
        lines.append(WHY + outcome.message)
    if outcome.data is not None:
        lines.append(DATA + json.dumps(outcome.data, ensure_ascii=False, default=str))
    return Message(sender="user", text="\n".join(lines), framework_context="tool_result")


def read_late(message: Message) -> ToolResultData | None:
    """Read such a message back, for models that are rules; ``None`` when it is another one."""
    if message.framework_context != "tool_result":
        return None
    first, *rest = message.text.split("\n")
    data = next((json.loads(line[len(DATA) :]) for line in rest if line.startswith(DATA)), None)
    why = next((line[len(WHY) :] for line in rest if line.startswith(WHY)), None)
    if first.endswith(": success."):
        return ToolResultData(status="success", data=data)
    return ToolResultData(status="error" if first.endswith(": error.") else "aborted", data=data, message=why)
