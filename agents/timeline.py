"""A conversation as a screen shows it: words, pictures and tools in order, each tool with what it rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agents.core.messages import ContentPart, Message, Settlement, ToolResultData
from agents.core.results import STILL_RUNNING

__all__ = ["AgentText", "TimelineEntry", "ToolEntry", "UserText", "timeline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """A person said something."""

    text: str
    content: tuple[ContentPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentText:
    """The agent said something."""

    text: str
    heard: str | None = None
    """How much of it was heard; ``None`` when it was never settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """A tool was called."""

    id: str
    name: str
    input: Any
    status: Literal["running", "success", "error", "aborted"]
    output: Any = None
    """What the model was told."""
    message: str | None = None
    render_data: Any = None
    """What the tool gave for the screen."""


TimelineEntry: TypeAlias = UserText | AgentText | ToolEntry


def timeline(messages: Sequence[Message], settlements: Mapping[str, Settlement] | None = None) -> list[TimelineEntry]:
    """Make the entries of a stored conversation. What the framework told the model is left out.

    Args:
        messages: all of them, in order.
        settlements: what was heard, by message id.
    """
    settled = settlements or {}
    results: dict[str, ToolResultData] = {}
    for message in messages:  # A late result is the real one, so that the last one holds.
        results |= {result.call_id: result.result for result in message.tool_results}
    entries: list[TimelineEntry] = []
    for message in messages:
        if message.from_person:
            entries.append(UserText(text=message.text, content=message.content))
        elif message.sender == "agent":
            if message.text.strip():
                settlement = settled.get(message.id)
                entries.append(AgentText(text=message.text, heard=None if settlement is None else settlement.heard))
            entries.extend(
                _tool(call.id, call.tool_name, call.input_args, results.get(call.id)) for call in message.tool_calls
            )
    return entries


def _tool(call_id: str, name: str, given: Any, result: ToolResultData | None) -> ToolEntry:
    if result is None or result.data == STILL_RUNNING:
        return ToolEntry(id=call_id, name=name, input=given, status="running")
    return ToolEntry(
        id=call_id,
        name=name,
        input=given,
        status=result.status,
        output=result.data,
        message=result.message,
        render_data=result.render_data,
    )
