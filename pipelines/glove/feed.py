"""A feed: a glove's events on their way to whoever speaks them.

Above: ``responder`` gives each reply a channel. Below: the glove's subscribers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Any, TypeAlias

from agents.core.events import EventType
from agents.core.messages import ToolResultData
from pipelines.responder import (
    CompactionFinished,
    CompactionStarted,
    ResponderEvent,
    StoreContended,
    TextCompleted,
    TextDelta,
    ToolFinished,
    ToolSaid,
    ToolStarted,
)

__all__ = ["Channel", "Feed"]

EVENTS_AHEAD = 64
"""Events the agent may be ahead of who speaks them; then the model's stream waits."""

Channel: TypeAlias = asyncio.Queue[ResponderEvent | None]

_REPLYING: ContextVar[Feed | None] = ContextVar("_REPLYING", default=None)
"""For whose call work is done; tools that outlive their rounds inherit it. A chat may have the same agent."""


class Feed:
    """A glove's events on their way to whoever speaks them; a full channel makes the request wait.

    What the agent does for others, for a chat in the same conversation, is not spoken here.
    What happens while no reply is made (a slow tool ends) is kept for the next one.

    Args:
        on_answer: called when the model, having been given its context, answers.

    Attributes:
        on_said: takes what a tool wants said while no reply is made.
    """

    def __init__(self, on_answer: Callable[[], None]) -> None:
        self.on_said: Callable[[str], None] | None = None
        self._on_answer = on_answer
        self._channel: Channel | None = None
        self._kept: list[ResponderEvent] = []
        self._started: dict[str, str] = {}

    def open(self) -> Channel:
        """Give a reply the events from now on, those first that were kept."""
        channel = self._channel = asyncio.Queue(maxsize=EVENTS_AHEAD + len(self._kept))
        kept, self._kept = self._kept, []
        for event in kept:
            channel.put_nowait(event)
        return channel

    def take_charge(self) -> None:
        """Take what the current task does for this call's work."""
        _REPLYING.set(self)

    def close(self, channel: Channel) -> None:
        """End a reply's events. Idempotent."""
        if self._channel is channel:
            self._channel = None

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        """Take what the glove tells."""
        if type in ("text_delta", "tool_use", "model_response_complete"):
            self._on_answer()
        if _REPLYING.get() is not self:
            return
        match type:
            case "text_delta":
                await self._pass_on(TextDelta(text=data["text"]))
            case "model_response_complete":
                await self._pass_on(TextCompleted())
            case "compaction_start":
                await self._pass_on(CompactionStarted())
            case "compaction_end":
                await self._pass_on(CompactionFinished())
            case "tool_use":
                self._started[data["id"]] = data["name"]
                given = data["input"] if isinstance(data["input"], dict) else {}
                await self._pass_on(ToolStarted(call_id=data["id"], name=data["name"], input=given))
            case "tool_use_result":
                self._started.pop(data["call_id"], None)
                result: ToolResultData = data["result"]
                await self._pass_on(
                    ToolFinished(
                        call_id=data["call_id"],
                        name=data["tool_name"],
                        status=result.status,
                        duration_ms=data["duration_ms"],
                    )
                )
            case "conflict":
                await self._pass_on(StoreContended(reason=data["notice"]))
            case "tool_said":
                await self._pass_on(ToolSaid(text=data["text"]))
            case _:
                pass

    def unfinished(self, running: Collection[str]) -> list[ToolFinished]:
        """Calls that were announced and never run, because the model's response was not finished; each once.

        Args:
            running: ids of calls that go on and will end by themselves.
        """
        lost = {call_id: name for call_id, name in self._started.items() if call_id not in running}
        for call_id in lost:
            del self._started[call_id]
        return [ToolFinished(call_id=call_id, name=name, status="aborted") for call_id, name in lost.items()]

    async def _pass_on(self, event: ResponderEvent) -> None:
        if self._channel is not None:
            await self._channel.put(event)
        elif isinstance(event, ToolFinished):
            self._kept.append(event)
        elif isinstance(event, ToolSaid) and self.on_said is not None:
            self.on_said(event.text)
