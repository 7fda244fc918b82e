"""Which call is which in a conversation, over retries, over servers that count anew, and over a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agents.core.messages import Message, ToolCall

__all__ = ["Identities"]


class Identities:
    """The calls of a conversation, as it is before a model call.

    Args:
        conversation: which.
        messages: its messages.
        lost: calls of which nobody knows how they ended, each with the message that made it.
    """

    def __init__(
        self, conversation: str, messages: Sequence[Message], lost: Sequence[tuple[Message, ToolCall]] = ()
    ) -> None:
        self._conversation = conversation
        self._used = {call.id for message in messages for call in message.tool_calls}
        self._lost: dict[str, str] = {}
        if not lost:  # Nearly always, and then reading all the inputs would be for nothing.
            return
        ids = {call.id: _name(message.id, call) for message, call in lost}
        for message in messages:
            for call in message.tool_calls:
                # The first of several that were lost alike is what the others tried again; one that ended settles them.
                if call.id in ids:
                    self._lost.setdefault(_content(call), ids[call.id])
                else:
                    self._lost.pop(_content(call), None)

    def claim(self, call_id: str) -> bool:
        """Take an id for a new call.

        Returns:
            Whether it was free, and is one.
        """
        free = bool(call_id) and call_id not in self._used
        self._used.add(call_id)
        return free

    def key(self, message_id: str, call: ToolCall) -> str:
        """The idempotency key of a call: that of the lost call it tries again, or its own.

        Args:
            message_id: the stored message that made it.
            call: the call.
        """
        return f"{self._conversation}:{self._lost.get(_content(call)) or _name(message_id, call)}"


def _name(message_id: str, call: ToolCall) -> str:
    return f"{message_id}:{call.id}"


def _content(call: ToolCall) -> str:
    return f"{call.tool_name.lower()} {json.dumps(call.input_args, sort_keys=True, default=str)}"
