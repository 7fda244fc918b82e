"""What a request tells those who watch it."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, Protocol, TypeAlias

from agents.core.register import Register

__all__ = ["EventType", "Subscriber", "Subscribers"]

EventType: TypeAlias = Literal[
    "runtime_context",  # messages
    "text_delta",  # text
    "tool_use",  # id, name, input
    "model_response_complete",  # text, tool_calls, stop_reason, tokens_in, tokens_out, cache_…_input_tokens when known
    "tool_use_result",  # tool_name, call_id, result, duration_ms, and the aliases id, name
    "tool_said",  # text, tool_name, call_id
    "compaction_start",  # current_token_consumption
    "compaction_end",  # current_token_consumption, summary_message (None: it failed), consumption of the summary
    "conflict",  # conversation, expected, found (versions), messages (others'), notice (a sentence for the host)
    "token_consumption",  # consumption: tokens_in, tokens_out, cache_…_input_tokens when known
]
"""Event names, each with the keys of its payload."""


class Subscriber(Protocol):
    """Somebody who watches."""

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        """Take one event. The request waits for it, and an exception ends the request.

        Args:
            type: which event.
            data: the payload, this subscriber's own copy of the mapping.
        """
        ...


class Subscribers(Register[Subscriber]):
    """Everybody who watches; events reach them all before the request goes on."""

    async def emit(self, type: EventType, **data: Any) -> None:
        """Tell all of them at the same time and wait for every one; the first exception is raised then."""
        subscribers = self.members
        if len(subscribers) == 1:  # The usual case, once per text delta: not worth a task.
            await subscribers[0].record(type, data)
            return
        waiting = [subscriber.record(type, dict(data)) for subscriber in subscribers]
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
