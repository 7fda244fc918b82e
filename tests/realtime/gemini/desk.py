"""The protocol on a desk: what Gemini says is put in by hand, and what comes out lies there to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from google.genai import types

from pipelines.audio.frame import Samples
from pipelines.realtime.base import SessionSetup, Snapshot, ToolAnswer, TurnDetection
from pipelines.realtime.events import ProviderEvent
from pipelines.realtime.gemini.families import family_of
from pipelines.realtime.gemini.options import DEFAULT_MODEL, GeminiOptions
from pipelines.realtime.gemini.protocol import GeminiProtocol
from pipelines.realtime.gemini.wire import Outgoing
from tests.realtime.gemini_service.session import sound as sound_of

__all__ = ["OURS", "PLAIN", "Desk", "voice"]

PLAIN = SessionSetup(instructions="Be brief.", snapshot=Snapshot(version=1, text="One."))
OURS = SessionSetup(instructions="Be brief.", turn_detection=TurnDetection.OURS)


def voice(seconds: float, rate: int = 16_000) -> Samples:
    """Make some voice."""
    return np.ones(round(seconds * rate), np.int16)


class Desk:
    """A session that was opened, with a time that stands still until it is moved."""

    def __init__(self, setup: SessionSetup = PLAIN, *, model: str = DEFAULT_MODEL, resumed: bool = False) -> None:
        self.now = 0.0
        self.protocol = GeminiProtocol(setup, GeminiOptions(), family_of(model), resumed=resumed)
        self.events()

    @property
    def intents(self) -> Any:
        """What is wanted."""
        return self.protocol.intents

    def say(self, **message: Any) -> None:
        """Say something as the provider, by the names of the wire."""
        self.protocol.receive(types.LiveServerMessage.model_validate(message), self.now)

    def content(self, **content: Any) -> None:
        """Say something of an answer, or of the caller."""
        self.say(serverContent=content)

    def speak(self, text: str = "It is noon.", seconds: float = 0.1) -> None:
        """Go on with an answer."""
        self.content(**sound_of(voice(seconds, 24_000)), outputTranscription={"text": text})

    def heard(self, text: str, **more: Any) -> None:
        """Write down more of what the caller says."""
        self.content(inputTranscription={"text": text, **more})

    def end(self) -> None:
        """End an answer, and its playing."""
        self.content(generationComplete=True)
        self.content(turnComplete=True)

    def call(self, *call_ids: str) -> None:
        """Call a tool."""
        self.say(toolCall={"functionCalls": [{"id": each, "name": "book", "args": {"n": 1}} for each in call_ids]})

    def answer(self, *call_ids: str, version: int = 2) -> None:
        """Give results."""
        results = [ToolAnswer(call_id=each, name="book", output='{"status": "success"}') for each in call_ids]
        self.intents.answer(results, Snapshot(version=version, text=f"{version}."), self.now)

    def inject(self, text: str = "Hello.", *, respond: bool = True) -> None:
        """Put words in, as the adapter does."""
        self.intents.inject(text, "caller", respond=respond)
        self.intents.put_in(self.now)

    def refresh(self, version: int, text: str = "") -> None:
        """Replace the context, as the adapter does."""
        self.intents.refresh(Snapshot(version=version, text=text or f"{version}."))
        self.intents.put_in(self.now)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.protocol.tick(self.now)

    def sent(self) -> list[Outgoing]:
        """Take what was sent."""
        frames: list[Outgoing] = []
        while (message := self.intents.take()) is not None:
            frames.append(message)
        return frames

    def events(self) -> Sequence[ProviderEvent]:
        """Take what was told."""
        told = []
        while (event := self.protocol.take_event()) is not None:
            told.append(event)
        return told

    def kinds(self) -> list[str]:
        """Take what was told: names, and for replies and utterances which."""
        return [f"{type(event).__name__}{_which(event)}" for event in self.events()]


def _which(event: ProviderEvent) -> str:
    name = getattr(event, "reply", None) or getattr(event, "item", None) or ""
    final = "!" if getattr(event, "final", False) else ""
    outcome = getattr(event, "outcome", None)
    return f" {name}{final}" * bool(name) + (f" {outcome.name}" if outcome is not None else "")
