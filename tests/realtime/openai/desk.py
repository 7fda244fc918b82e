"""The protocol on a desk: what the provider says is put in by hand, and what comes out lies there to be looked at."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.base import SessionSetup, Snapshot, TurnDetection
from pipelines.realtime.events import ProviderEvent
from pipelines.realtime.openai.options import OpenAIOptions
from pipelines.realtime.openai.protocol import OpenAIProtocol
from tests.realtime.openai_service.response import encoded

__all__ = ["CALL", "OURS", "PLAIN", "Desk", "sound"]

PLAIN = SessionSetup(instructions="Be brief.")
OURS = SessionSetup(instructions="Be brief.", turn_detection=TurnDetection.OURS)
CALL = {"type": "function_call", "status": "completed", "id": "item-c", "call_id": "call-1", "name": "book"}


def sound(ms: int) -> Samples:
    """Make 24 kHz of something."""
    return np.arange(ms * 24, dtype=np.int16)


class Desk:
    """A session that was opened, with a time that stands still until it is moved."""

    def __init__(self, setup: SessionSetup = PLAIN, options: OpenAIOptions | None = None) -> None:
        self.now = 0.0
        self.protocol = OpenAIProtocol(setup, options or OpenAIOptions(), self.now)
        self.opening = self.sent()
        self.say("session.created", session={})
        self.say("session.updated", session={})
        self.events()

    @property
    def intents(self) -> Any:
        """What is wanted."""
        return self.protocol.intents

    def say(self, kind: str, **fields: Any) -> None:
        """Say something as the provider."""
        self.protocol.receive(json.dumps({"type": kind, "event_id": "event_1", **fields}), self.now)

    def begin(self, answer: str = "resp-1", trigger: str | None = None) -> None:
        """Begin an answer."""
        self.say("response.created", response={"id": answer, "metadata": {"trigger": trigger} if trigger else None})

    def speak(self, answer: str = "resp-1", item: str = "item-1", ms: int = 100) -> None:
        """Go on with an answer."""
        place = {"response_id": answer, "item_id": item, "output_index": 0, "content_index": 0}
        self.say("response.output_audio_transcript.delta", **place, delta="It is noon.")
        self.say("response.output_audio.delta", **place, delta=encoded(sound(ms)))

    def end(self, answer: str = "resp-1", status: str = "completed", **fields: Any) -> None:
        """End an answer."""
        self.say("response.done", response={"id": answer, "status": status, "output": [], **fields})

    def refuse(self, event_id: str | None, code: str, message: str = "No.") -> None:
        """Complain about a message."""
        error = {"type": "invalid_request_error", "code": code, "message": message, "event_id": event_id}
        self.say("error", error=error)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.protocol.tick(self.now)

    def inject(self, text: str = "Hello.", *, respond: bool = True) -> None:
        """Put words in, as the adapter does."""
        self.intents.inject(text, "system", respond=respond)
        self.intents.ask_if_due(self.now)

    def refresh(self, version: int, text: str) -> None:
        """Replace the context."""
        self.intents.refresh(Snapshot(version=version, text=text))

    def sent(self) -> list[dict[str, Any]]:
        """Take what was sent."""
        frames = []
        while (frame := self.protocol.take_frame()) is not None:
            frames.append(json.loads(frame))
        return frames

    def kinds(self) -> list[str]:
        """Take what was sent: the types."""
        return [frame["type"] for frame in self.sent()]

    def trigger(self) -> str:
        """Take what was sent, and find the one trigger in it."""
        (trigger,) = [frame["event_id"] for frame in self.sent() if frame["type"] == "response.create"]
        assert isinstance(trigger, str)
        return trigger

    def events(self) -> list[ProviderEvent]:
        """Take what was told."""
        told = []
        while (event := self.protocol.take_event()) is not None:
            told.append(event)
        return told
