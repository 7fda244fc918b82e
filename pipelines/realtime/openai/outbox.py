"""What is on its way to the provider, in order, each message with an id by which a complaint is understood."""

from __future__ import annotations

import json
from collections import deque
from typing import Literal, TypeAlias

from pipelines.audio.frame import Samples
from pipelines.realtime.openai import wire

__all__ = ["Intent", "Outbox", "intent_of"]

Intent: TypeAlias = Literal[
    "setup", "update", "item", "result", "snapshot", "delete", "truncate", "cancel", "answer", "turn"
]
"""What a message is for. An error names the message's id, and the id names this."""


def intent_of(event_id: str) -> str:
    """Tell what a message was for."""
    return event_id.partition("-")[0]


class Outbox:
    """Messages to be sent."""

    def __init__(self) -> None:
        self._frames: deque[str] = deque()
        self._sent = 0
        self._open = True

    def put(self, intent: Intent, message: wire.Message) -> str:
        """Add a message.

        Returns:
            Its id.
        """
        event_id = self.name(intent)
        self.put_as(event_id, message)
        return event_id

    def put_as(self, event_id: str, message: wire.Message) -> None:
        """Add a message whose id was made before."""
        if self._open:
            self._frames.append(json.dumps({"event_id": event_id, **message}))

    def name(self, intent: str) -> str:
        """Make an id that was not there before, of message or item; at most 32 characters, as OpenAI wants them."""
        self._sent += 1
        return f"{intent}-{self._sent}"

    def put_voice(self, samples: Samples) -> None:
        """Add the caller's voice. It is never complained about one by one, and has no ids."""
        if self._open:
            self._frames.extend(wire.append(samples))

    def take(self) -> str | None:
        """Take the next to be sent."""
        return self._frames.popleft() if self._frames else None

    def close(self) -> None:
        """Drop what there is and what will be: the connection is over."""
        self._open = False
        self._frames.clear()
