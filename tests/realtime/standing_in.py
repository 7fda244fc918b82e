"""Stand-ins for providers, made alike: their adapters as a call has them, and what they hold of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from pipelines.realtime.base import RealtimeAdapter
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.openai.options import OpenAIOptions, ServerVad
from pipelines.vad.silero import SileroModel
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.mind import Mind, View
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService

__all__ = ["PROVIDERS", "StandIn", "standing_in"]

PROVIDERS = ("openai", "gemini")


class StandIn(Protocol):
    """A provider that listens."""

    adapter: RealtimeAdapter
    takes_back: bool
    """Whether what it was told can be taken back, so that it holds one snapshot only."""

    def view(self) -> View:
        """Give all it holds of the session opened last."""
        ...

    def refusals(self) -> list[Any]:
        """Give everything it refused."""
        ...


class _OpenAI:
    takes_back = True

    def __init__(self, service: OpenAIService) -> None:
        self._service = service
        options = OpenAIOptions(turn_detection=ServerVad())
        self.adapter: RealtimeAdapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url, options=options)

    def view(self) -> View:
        return self._service.session.view()

    def refusals(self) -> list[Any]:
        return [refusal for session in self._service.sessions for refusal in session.refusals]


class _Gemini:
    takes_back = False

    def __init__(self, service: GeminiService) -> None:
        self._service = service
        self.adapter: RealtimeAdapter = GeminiLive(api_key=service.key, base_url=service.url, ssl=service.trust)

    def view(self) -> View:
        return self._service.session.conversation.view()

    def refusals(self) -> list[Any]:
        return [session.refusal for session in self._service.sessions if session.refusal]


@asynccontextmanager
async def standing_in(provider: str, mind: Mind) -> AsyncIterator[StandIn]:
    """Stand in for a provider.

    Args:
        provider: one of ``PROVIDERS``.
        mind: what it thinks with; it hears speech by Silero.
    """
    ear = SileroModel()
    ear.warm()
    if provider == "openai":
        async with OpenAIService(mind, voice_model=ear) as openai:
            yield _OpenAI(openai)
    else:
        async with GeminiService(mind, voice_model=ear) as gemini:
            yield _Gemini(gemini)
