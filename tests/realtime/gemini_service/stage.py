"""The service as a stage for the conformance checks: its mind is a puppet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, cast

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.base import Snapshot
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.realtime.stage import Held
from pipelines.realtime.wording import snapshot_text
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.gemini_service.session import Session, sound
from tests.realtime.mind import Result, Said, Thought, View, Words, context_in, latest_context

__all__ = ["GeminiStage", "open_stage"]

_ROLES: dict[str, Literal["caller", "agent", "system"]] = {"user": "caller", "agent": "agent", "system": "system"}


class Puppet:
    """A mind that thinks nothing: the stage speaks through the session itself."""

    async def transcribe(self, samples: Samples, view: View) -> str:
        """Write nothing down."""
        return ""

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        """Wait to be told what to say."""
        await asyncio.Event().wait()
        yield Said(text="", samples=np.zeros(0, np.int16))


class GeminiStage:
    """Does what it is told.

    Args:
        service: whose.
        adapter: connects to it.
    """

    truncates = False

    def __init__(self, service: GeminiService, adapter: GeminiLive) -> None:
        self.adapter = adapter
        self._service = service

    async def say(self, text: str, samples: Samples) -> None:
        """Say something."""
        await (await self._session()).say(text, samples)

    async def call(self, name: str, arguments: str, *, call_id: str | None = None) -> str:
        """Call a tool; the calls of an answer go at its end, in one message."""
        session = await self._session()
        await session.begin()
        return session.call(name, json.loads(arguments), call_id)

    async def finish(self) -> None:
        """End the answer."""
        await (await self._session()).finish()

    async def hear_caller(self, *texts: str) -> None:
        """Hear an utterance."""
        session = await self._session()
        written = ""
        for text in texts:
            fragment = {"inputTranscription": {"text": text.removeprefix(written)}}
            await session.send({"serverContent": fragment})
            written = text

    async def interrupt(self) -> None:
        """Hear the caller speak over the answer."""
        await (await self._session()).break_off()

    async def say_late(self, samples: Samples) -> None:
        """Send audio of a void answer, before it is told that it is interrupted."""
        session = await self._session()
        await session.interruption_held.wait()
        await session.send({"serverContent": {**sound(samples), "outputTranscription": {"text": "late"}}})
        await session.break_off()

    async def babble(self) -> None:
        """Send what no client knows."""
        session = await self._session()
        for nonsense in ("no JSON", "[1]", "7", '{"song": [1, 2]}', "{}", '{"serverContent": 3}'):
            await session.send(nonsense)
        for lacking in ("{}", '{"modelTurn": {}}', '{"modelTurn": {"parts": [{}]}}', '{"inputTranscription": {}}'):
            await session.send(f'{{"serverContent": {lacking}}}')
        for kind in ("toolCall", "toolCallCancellation", "sessionResumptionUpdate", "usageMetadata", "voiceActivity"):
            await session.send({kind: {}})
        await session.send({"toolCall": {"functionCalls": [{}]}, "usageMetadata": {"promptTokenCount": "many"}})

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        await (await self._session()).close(code, reason)

    async def vanish(self) -> None:
        """Break the connection off."""
        (await self._session()).vanish()

    def held(self) -> Held:
        """Tell what there is."""
        if not self._service.sessions:
            return Held(heard=np.zeros(0, np.int16))
        session = self._service.session
        view = session.conversation.view()
        newest = latest_context(view)
        words = [each for each in view.items if isinstance(each, Words) and context_in(each.text) is None]
        return Held(
            instructions=view.instructions,
            tools=tuple(offer.name for offer in view.tools),
            said=tuple((_ROLES[each.role], each.text) for each in words),
            results=tuple((each.call_id, _output(each.output)) for each in view.items if isinstance(each, Result)),
            contexts=() if newest is None else (snapshot_text(Snapshot(version=newest.version, text=newest.text)),),
            order=tuple(cast(list[Literal["result", "context", "trigger"]], session.order)),
            heard=np.concatenate([np.zeros(0, np.int16), *session.heard]),
            answers=session.answers,
        )

    async def more(self) -> None:
        """Wait for more."""
        session = await self._session()
        await session.more.wait()
        session.more.clear()

    async def _session(self) -> Session:
        await self._service.came.wait()
        session = self._service.session
        session.holds_interruptions = True
        return session


def _output(written: str) -> str:
    """Give a result without the snapshot that travels inside."""
    response = json.loads(written)
    response.pop("context", None)
    return json.dumps(response)


@asynccontextmanager
async def open_stage(model: str = "gemini-3.8-live") -> AsyncIterator[GeminiStage]:
    """Open a service, and an adapter that connects to it.

    Args:
        model: whose; what is said is played at once.
    """
    async with GeminiService(Puppet(), pace=1_000_000.0, answers_silence=True) as service:
        adapter = GeminiLive(model, api_key=service.key, base_url=service.url, ssl=service.trust)
        yield GeminiStage(service, adapter)
