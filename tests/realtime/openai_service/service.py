"""The service: a port, keys, and sessions."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pipelines.vad.energy import EnergyModel
from tests.realtime.mind import Mind
from tests.realtime.openai_service.connection import Socket, answer, read_post
from tests.realtime.openai_service.hearing import VoiceModel
from tests.realtime.openai_service.refused import Refused
from tests.realtime.openai_service.schema import SESSION, check, required
from tests.realtime.openai_service.session import Session

__all__ = ["KEY", "MODEL", "OpenAIService"]

KEY = "sk-test-key-of-the-fake-service"
MODEL = "gpt-realtime-2.1"

WRONG_KEY = {
    "error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"}
}


class OpenAIService:
    """OpenAI's Realtime API on a loopback port, for ``async with``.

    Args:
        mind: hears, decides and speaks.
        voice_model: tells speech from silence, for turn detection; by default loudness alone.
        pace: how many times faster than it is spoken sound is sent; ``None``: at once.

    Attributes:
        sessions: all that were opened, in order.
        overloaded: whether whoever wants to come in is told to come later.
        late_transcripts: whether transcripts are held back until a session is told to release them.
        failures: what the mind raised.
    """

    def __init__(self, mind: Mind, *, voice_model: VoiceModel | None = None, pace: float | None = None) -> None:
        self.mind = mind
        self.voice_model: VoiceModel = voice_model or EnergyModel()
        self.pace = pace
        self.sessions: list[Session] = []
        self.overloaded = False
        self.late_transcripts = False
        self.failures: list[BaseException] = []
        self.opened = asyncio.Event()
        self._secrets: dict[str, tuple[float, dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}

    async def __aenter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", 0))
        # What is not read is to pile up at the client, and not here: the system would take megabytes.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        self._server = await asyncio.start_server(self._serve, sock=listening)
        self.port = listening.getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for session in self.sessions:
            session.socket.flowing.set()
        for writer in self._sockets.values():
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._sockets, return_exceptions=True)
        if self.failures and exc[0] is None:
            raise self.failures[0]

    @property
    def base_url(self) -> str:
        """Where it is, for the SDK."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def session(self) -> Session:
        """The session opened last."""
        return self.sessions[-1]

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something meanwhile."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.failures.append(failure)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = asyncio.current_task()
        assert serving is not None
        self._sockets[serving] = writer
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"POST "):
                await self._post(reader, writer, head)
            else:
                await self._talk(Socket(reader, writer, head))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            del self._sockets[serving]
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _talk(self, socket: Socket) -> None:
        target = urlsplit(socket.request.path)
        if target.path != "/v1/realtime":
            return socket.reject(404, {"error": {"message": "Unknown request URL.", "code": "unknown_url"}})
        if self.overloaded:
            return socket.reject(503, {"error": {"message": "The engine is currently overloaded.", "code": None}})
        offered = [part.strip() for part in socket.request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        keys = [part.removeprefix("openai-insecure-api-key.") for part in offered if part.startswith("openai-insecure")]
        authorization = socket.request.headers.get("Authorization", "")
        config = self._admit(authorization.removeprefix("Bearer ") or (keys[0] if keys else ""))
        if config is None:
            return socket.reject(401, WRONG_KEY)
        model = parse_qs(target.query).get("model", [config.get("model", "")])[0]
        if not model:
            words = "You must provide a model parameter."
            return socket.reject(400, {"error": {"message": words, "code": "missing_model"}})
        socket.accept()
        if model != MODEL:
            words = f"The model `{model}` does not exist or you do not have access to it."
            session = Session(self, socket, model, {})
            session.emit({"type": "error", "error": Refused("model_not_found", words).error(None)})
            socket.close(4004, "invalid_request_error.model_not_found")
        else:
            session = Session(self, socket, model, config)
            self.sessions.append(session)
            self.opened.set()
        await session.run() if model == MODEL else await socket.receive()
        return None

    def _admit(self, key: str) -> dict[str, Any] | None:
        if key == KEY:
            return {}
        expires, config = self._secrets.get(key, (0.0, {}))
        return config if time.time() < expires else None

    async def _post(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        headers, body = await read_post(reader, head)
        if not head.startswith(b"POST /v1/realtime/client_secrets "):
            return answer(writer, 404, {"error": {"message": "Unknown request URL.", "code": "unknown_url"}})
        if headers.get("authorization") != f"Bearer {KEY}":
            return answer(writer, 401, WRONG_KEY)
        try:
            answer(writer, 200, self._secret(body))
        except Refused as refused:
            answer(writer, 400, {"error": refused.error(None)})
        return None

    def _secret(self, body: dict[str, Any]) -> dict[str, Any]:
        session = body.get("session", {"type": "realtime"})
        required(session, "type", path="session.")
        check(session, SESSION, "session")
        seconds = body.get("expires_after", {}).get("seconds", 600)
        if not 10 <= seconds <= 7200:
            raise Refused("invalid_value", "Invalid 'expires_after.seconds': 10 to 7200.", "expires_after.seconds")
        value, expires = f"ek_{len(self._secrets):032d}", time.time() + seconds
        self._secrets[value] = (expires, session)
        return {"value": value, "expires_at": int(expires), "session": session}
