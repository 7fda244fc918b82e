"""What a page does in device mode: it talks to the provider with its secret, and has tools run by the server."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.voice_server.serving import Answer, Served

__all__ = ["Browser", "browsing"]


@dataclass
class Browser:
    """A page with a call of its own.

    Attributes:
        opened: what the server gave it.
        answers: what the server answered to tool calls, batch by batch.
        words: what the model said, answer by answer.
    """

    server: Served
    provider: ClientConnection
    opened: dict[str, Any]
    answers: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    context: str = ""

    async def say(self, text: str) -> None:
        """Say something in writing, and let the model answer until it has nothing more to do."""
        await self._create({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        await self._send({"type": "response.create"})
        while calls := await self._reply():
            answered = await self.ask("POST", "tools", {"calls": calls})
            assert answered.status == 200, answered.body
            self.answers.append(answered.body)
            for each in answered.body["answers"]:
                await self._create(
                    {"type": "function_call_output", "call_id": each["call_id"], "output": each["output"]}
                )
            await self.replace_context(answered.body["context"])
            await self._send({"type": "response.create"})

    async def replace_context(self, context: dict[str, Any]) -> None:
        """Put in what the model has to know now, in the place of what it had to know before."""
        if self.context:
            await self._send({"type": "conversation.item.delete", "item_id": self.context})
        self.context = f"context_{context['version']}"
        content = [{"type": "input_text", "text": context["text"]}]
        await self._create({"type": "message", "id": self.context, "role": "system", "content": content})

    async def ask(self, method: str, what: str, body: Any = None, *, ticket: str | None = None) -> Answer:
        """Ask the server something about the call."""
        path = f"/api/realtime/calls/{self.opened['call']}{'/' if what else ''}{what}"
        headers = {"X_Call_Ticket": self.opened["ticket"] if ticket is None else ticket}
        return await asyncio.to_thread(self.server.ask, method, path, body, **headers)

    async def told(self, type: str) -> dict[str, Any]:
        """Read the call's events from the beginning, up to the first of a type."""
        return await asyncio.to_thread(self._read_events, type)

    def _read_events(self, type: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.server.port}/api/realtime/calls/{self.opened['call']}/events?after=0"
        request = urllib.request.Request(url, headers={"X-Call-Ticket": self.opened["ticket"]})
        with urllib.request.urlopen(request, timeout=10) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    event = json.loads(line.removeprefix(b"data: "))
                    if event["type"] == type:
                        return dict(event["data"])
        raise AssertionError(f"no {type!r} was told")

    async def _reply(self) -> list[dict[str, str]]:
        """Take an answer; return its tool calls."""
        async for message in self.provider:
            event = json.loads(message)
            assert event["type"] != "error", event
            if event["type"] == "response.output_audio_transcript.done":
                self.words.append(event["transcript"])
            if event["type"] == "response.done":
                return [
                    {"call_id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
                    for item in event["response"]["output"]
                    if item["type"] == "function_call"
                ]
        raise AssertionError("the provider hung up")

    async def _create(self, item: dict[str, Any]) -> None:
        await self._send({"type": "conversation.item.create", "item": item})

    async def _send(self, message: dict[str, Any]) -> None:
        await self.provider.send(json.dumps(message))


@asynccontextmanager
async def browsing(server: Served, provider: str, opened: dict[str, Any]) -> AsyncIterator[Browser]:
    """Open a page that connects to the provider with a secret, as browsers do who cannot set headers.

    Args:
        server: ours.
        provider: the provider's socket.
        opened: what ours gave it.
    """
    protocols: Any = ["realtime", f"openai-insecure-api-key.{opened['secret']}"]
    async with connect(f"{provider}?model={opened['model']}", subprotocols=protocols) as socket:
        browser = Browser(server=server, provider=socket, opened=opened)
        await browser.replace_context(opened["context"])
        yield browser
