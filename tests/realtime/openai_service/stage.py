"""The service as a stage for the conformance checks: its mind is a puppet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.stage import Held
from tests.realtime.mind import Said, Thought, View, context_in
from tests.realtime.openai_service.items import Item
from tests.realtime.openai_service.response import Response, encoded
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.realtime.openai_service.session import Session, transcription

__all__ = ["OpenAIStage", "Puppet", "open_stage"]

_ROLES: dict[str, Literal["caller", "agent", "system"]] = {"user": "caller", "assistant": "agent", "system": "system"}


class Puppet:
    """A mind that thinks nothing: the stage speaks through the response itself."""

    async def transcribe(self, samples: Samples, view: View) -> str:
        """Write nothing down."""
        return ""

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        """Wait to be told what to say."""
        await asyncio.Event().wait()
        yield Said(text="", samples=np.zeros(0, np.int16))


class OpenAIStage:
    """Does what it is told.

    Args:
        service: whose.
        adapter: connects to it.
    """

    truncates = True

    def __init__(self, service: OpenAIService, adapter: OpenAIRealtime) -> None:
        self.adapter = adapter
        self._service = service
        self._last: Response | None = None

    async def say(self, text: str, samples: Samples) -> None:
        """Say something."""
        await (await self._response()).say(Said(text=text, samples=samples))

    async def call(self, name: str, arguments: str, *, call_id: str | None = None) -> str:
        """Call a tool."""
        session, response = await self._session(), await self._response()
        call_id = call_id or session.new_id("call")
        response.call(name, arguments, call_id)
        return call_id

    async def finish(self) -> None:
        """End the answer."""
        (await self._session()).end("completed")

    async def hear_caller(self, *texts: str) -> None:
        """Hear an utterance."""
        session = await self._session()
        self._service.late_transcripts = True
        session.speech_started(0)
        item_id = session.upcoming or ""
        session.speech_stopped(500, np.zeros(12_000, np.int16))
        written = ""
        for text in texts:
            delta = transcription(item_id, text)[0] | {"delta": text.removeprefix(written)}
            written = text
            session.emit(delta)
        session.emit(transcription(item_id, texts[-1])[-1])

    async def interrupt(self) -> None:
        """Hear the caller speak over the answer."""
        (await self._session()).speech_started(0)

    async def say_late(self, samples: Samples) -> None:
        """Send audio of a void answer."""
        session = await self._session()
        response = self._last
        assert response is not None and response.output
        place = {"response_id": response.id, "item_id": response.output[-1].id, "output_index": 0, "content_index": 0}
        session.emit({"type": "response.output_audio.delta", **place, "delta": encoded(samples)})
        session.emit({"type": "response.output_audio_transcript.delta", **place, "delta": "late"})

    async def babble(self) -> None:
        """Send what no client knows."""
        session = await self._session()
        session.emit({"type": "conversation.sung", "song": [1, 2]})
        for kind in ("response.output_audio.delta", "response.done", "response.created", "conversation.item.added"):
            session.emit({"type": kind})
        session.emit({"type": "error", "error": None, "item": 7})
        session.socket.send("no JSON")
        session.socket.send("[1]")

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        (await self._session()).socket.close(code, reason)

    async def vanish(self) -> None:
        """Break the connection off."""
        (await self._session()).socket.abort()

    def held(self) -> Held:
        """Tell what there is."""
        if not self._service.sessions:
            return Held(heard=np.zeros(0, np.int16))
        session = self._service.session
        items = session.conversation.items
        return Held(
            instructions=session.config["instructions"],
            tools=tuple(tool["name"] for tool in session.config["tools"]),
            said=tuple((_ROLES[item.role], item.text) for item in items if _is_words(item)),
            results=tuple((item.call_id, item.output) for item in items if item.type == "function_call_output"),
            contexts=tuple(item.text for item in items if context_in(item.text) is not None),
            order=tuple(kind for message in session.received if (kind := _kind(message)) is not None),
            heard=np.concatenate([np.zeros(0, np.int16), *session.heard]),
            truncated=tuple((item, at_ms / 1000) for item, at_ms in session.truncations),
            answers=session.made,
        )

    async def more(self) -> None:
        """Wait for more."""
        session = await self._session()
        await session.more.wait()
        session.more.clear()

    async def _session(self) -> Session:
        await self._service.opened.wait()
        return self._service.session

    async def _response(self) -> Response:
        session = await self._session()
        self._last = session.response or session.begin(asked=False)
        return self._last


@asynccontextmanager
async def open_stage() -> AsyncIterator[OpenAIStage]:
    """Set a stage up."""
    async with OpenAIService(Puppet()) as service:
        yield OpenAIStage(service, OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url))


def _is_words(item: Item) -> bool:
    return item.type == "message" and bool(item.text) and context_in(item.text) is None


def _kind(message: dict[str, Any]) -> Literal["result", "context", "trigger"] | None:
    match message:
        case {"type": "response.create"}:
            return "trigger"
        case {"type": "conversation.item.create", "item": {"type": "function_call_output"}}:
            return "result"
        case {"type": "conversation.item.create", "item": {"content": [{"text": str(text)}]}}:
            return "context" if context_in(text) is not None else None
    return None
