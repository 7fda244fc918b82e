"""A conversation as a screen shows it: words, pictures and tools in order, each tool with what it rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agents.core.messages import ContentPart, Message, Settlement, ToolCall, ToolResultData
from agents.core.results import STILL_RUNNING

__all__ = ["AgentText", "TimelineEntry", "ToolEntry", "UserText", "timeline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """A person said something."""

    message_id: str
    text: str
    content: tuple[ContentPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentText:
    """The agent said something."""

    message_id: str
    text: str
    heard: str | None = None
    """How much of it was heard; ``None`` when it was never settled."""
    interrupted: bool = False
    """Whether it was cut there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """A tool was called."""

    id: str
    message_id: str
    """The message that called it."""
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
            entries.append(UserText(message_id=message.id, text=message.text, content=message.content))
        elif message.sender == "agent":
            if message.text.strip():
                entries.append(_text(message, settled.get(message.id)))
            entries.extend(_tool(message, call, results.get(call.id)) for call in message.tool_calls)
    return entries


def _text(message: Message, settlement: Settlement | None) -> AgentText:
    if settlement is None:
        return AgentText(message_id=message.id, text=message.text)
    return AgentText(
        message_id=message.id, text=message.text, heard=settlement.heard, interrupted=settlement.interrupted
    )


def _tool(message: Message, call: ToolCall, result: ToolResultData | None) -> ToolEntry:
    if result is None or result.data == STILL_RUNNING:
        return ToolEntry(
            id=call.id, message_id=message.id, name=call.tool_name, input=call.input_args, status="running"
        )
    return ToolEntry(
        id=call.id,
        message_id=message.id,
        name=call.tool_name,
        input=call.input_args,
        status=result.status,
        output=result.data,
        message=result.message,
        render_data=result.render_data,
    )
