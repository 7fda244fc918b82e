"""What checks are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from agents.core.messages import Message, ToolResult, ToolResultData
from agents.core.store import Conversations, Store

__all__ = ["Check", "Open", "PlaceCheck", "part", "refused", "result_of", "said", "summed_up"]

Open: TypeAlias = Callable[[str], Store]
"""Opens the store of a conversation."""

Check: TypeAlias = Callable[[Open], Awaitable[None]]
PlaceCheck: TypeAlias = Callable[[Conversations], Awaitable[None]]


def said(message_id: str, text: str = "Said") -> Message:
    """A message."""
    return Message(sender="user", text=text, id=message_id)


def summed_up(message_id: str) -> Message:
    """A compaction."""
    return Message(sender="user", text="What was said so far.", id=message_id, is_compaction=True)


def result_of(call_id: str, data: str) -> ToolResult:
    """A tool's result."""
    return ToolResult(tool_name="tool", call_id=call_id, result=ToolResultData(status="success", data=data))


def part(group: Any) -> Any:
    """The store as a group of methods that it has to have."""
    assert group is not None, "the store lacks methods of this group"
    return group


@contextmanager
def refused(*kinds: type[Exception]) -> Iterator[list[Any]]:
    """Expect one of these; the list holds it afterwards."""
    refusals: list[Any] = []
    try:
        yield refusals
    except kinds as refusal:
        refusals.append(refusal)
    assert refusals, f"nothing was refused; expected {' or '.join(kind.__name__ for kind in kinds)}"
