"""What the model is shown of a conversation: what was heard, every call with its result, context at the tail.

The one place where history is repaired, so that no adapter has to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agents.core.messages import Message, Settlement, ToolCall, ToolResult, ToolResultData

__all__ = ["INTERRUPTED_NOTE", "RESULTS_TEXT", "assemble"]

RESULTS_TEXT = "Results of the tool calls above."
"""The text of a message that carries tool results."""

INTERRUPTED_NOTE = (
    "The caller interrupted you here. Your last words were heard as far as they are written above; "
    "whatever you said or meant to say after them was not heard."
)
"""What the model is told behind a message that was cut."""


def assemble(
    messages: Sequence[Message], settlements: Mapping[str, Settlement], runtime: Sequence[Message] = ()
) -> tuple[Message, ...]:
    """Make a model's input from what is stored.

    An interrupted agent message is cut to the words heard and followed by a note. Results stand directly behind their
    calls, wherever they were stored; a call without a result (the process died, the round was aborted) gets one that
    says so, and a result without a call is left out.

    Args:
        messages: the history.
        settlements: what was heard, by message id.
        runtime: what the model must know now; put at the very end.
    """
    results: dict[str, ToolResult] = {}
    for message in messages:
        for result in message.tool_results:
            results.setdefault(result.call_id, result)
    shown = [part for message in messages for part in _shown(message, settlements.get(message.id), results)]
    return (*shown, *runtime)


def _shown(message: Message, settlement: Settlement | None, results: Mapping[str, ToolResult]) -> Iterator[Message]:
    if message.tool_results:
        return
    cut = settlement is not None and settlement.interrupted
    if settlement is not None and cut:
        message = replace(message, text=settlement.heard.strip())
    if message.text or message.tool_calls or message.content:
        yield message
    if message.tool_calls:
        outcomes = tuple(results.get(call.id) or _orphan(call) for call in message.tool_calls)
        yield Message(sender="user", text=RESULTS_TEXT, tool_results=outcomes)
    if cut and message.text:
        yield Message(sender="user", text=INTERRUPTED_NOTE, framework_context="runtime")


def _orphan(call: ToolCall) -> ToolResult:
    lost = ToolResultData(status="aborted", message="The request ended before this call had a result.")
    return ToolResult(tool_name=call.tool_name, call_id=call.id, result=lost)
