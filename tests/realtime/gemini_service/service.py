"""The service: a TLS port, keys, tokens, models, and sessions."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, Self

from aiohttp import web

from pipelines.vad.energy import EnergyModel
from tests.realtime.gemini_service.certificate import serving, trusting
from tests.realtime.gemini_service.conversation import Conversation
from tests.realtime.gemini_service.grammar import Refused, camel, check_message
from tests.realtime.gemini_service.hearing import VoiceModel
from tests.realtime.gemini_service.models import MODELS
from tests.realtime.gemini_service.session import Session
from tests.realtime.mind import Mind

__all__ = ["KEY", "GeminiService"]

KEY = "AIza-test-key-of-the-fake-service"
NAME = "google.ai.generativelanguage"
WRONG_KEY = "API key not valid. Please pass a valid API key."


class GeminiService:
    """Gemini's Live API on a loopback port, over TLS, for ``async with``.

    Args:
        mind: hears, decides and speaks.
        voice_model: tells speech from silence, for activity detection; by default loudness alone.
        pace: how many times faster than it is spoken the model takes its voice to be played.
        answers_silence: whether turns in which nothing was understood are answered.

    Attributes:
        sessions: all that were opened, in order.
        failures: what the mind raised.
        late_transcripts: whether what the caller said is told behind the first of the answer.
        versions_down: versions of the API whose models cannot be listed.
    """

    key = KEY

    def __init__(
        self, mind: Mind, *, voice_model: VoiceModel | None = None, pace: float = 50.0, answers_silence: bool = False
    ) -> None:
        self.mind = mind
        self.voice_model: VoiceModel = voice_model or EnergyModel()
        self.pace = pace
        self.answers_silence = answers_silence
        self.sessions: list[Session] = []
        self.failures: list[BaseException] = []
        self.late_transcripts = False
        self.versions_down: set[str] = set()
        self.came = asyncio.Event()
        self._handles: dict[str, tuple[Session, Conversation]] = {}
        self._tokens: dict[str, dict[str, Any]] = {}
        self._ids = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self.trust = trusting()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/ws/{name}", self._talk)
        app.router.add_get("/{version}/models", self._list)
        app.router.add_post("/{version}/auth_tokens", self._mint)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=serving())
        await site.start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self.sessions:
            session.vanish()
        await self._runner.cleanup()
        if self.failures and exc[0] is None:
            raise self.failures[0]

    @property
    def url(self) -> str:
        """Where it is, for the SDK."""
        return f"https://127.0.0.1:{self.port}"

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

    def new_id(self, kind: str) -> str:
        """Make an id."""
        return f"{kind}-{next(self._ids)}"

    def opened(self, session: Session) -> None:
        """Note that a setup was accepted."""
        self.sessions.append(session)
        self.came.set()

    def keep(self, session: Session) -> str:
        """Keep a conversation as it is now, and give the handle that it is found by."""
        handle = self.new_id("handle")
        self._handles[handle] = (session, session.conversation.copy())
        return handle

    def resume(self, handle: str) -> Conversation:
        """Find a conversation by its handle.

        Raises:
            Refused: there is none, or its last connection is open still.
        """
        if handle not in self._handles:
            raise Refused("BidiGenerateContent session not found", 1008)
        earlier, conversation = self._handles[handle]
        if not earlier.closed:
            raise Refused("Internal error encountered.", 1011)
        return conversation.copy()

    def spend(self, token: dict[str, Any]) -> None:
        """Begin a session with a token; to resume one does not count.

        Raises:
            Refused: it was used, or is too old.
        """
        if token["uses"] <= 0 or datetime.now(UTC) >= datetime.fromisoformat(token["newSessionExpireTime"]):
            raise Refused("Token has been used too many times or has expired")
        token["uses"] -= 1

    async def _talk(self, request: web.Request) -> web.WebSocketResponse:
        name, version, method = NAME, "", ""
        if request.match_info["name"].startswith(f"{name}."):
            version, _, method = request.match_info["name"].removeprefix(f"{name}.").partition(".GenerativeService.")
        if version not in ("v1beta", "v1alpha") or not method.startswith("BidiGenerateContent"):
            raise web.HTTPNotFound
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        session = Session(self, socket, version)
        try:
            locked = self._admit(request, version, method)
        except Refused as refused:
            await session.close(refused.code, refused.reason)
        else:
            await session.run(locked)
        return socket

    def _admit(self, request: web.Request, version: str, method: str) -> dict[str, Any] | None:
        """Let somebody in: with the key, or with a token, which is given."""
        token = request.headers.get("Authorization", "").removeprefix("Token ") or request.query.get("access_token", "")
        if token:
            if method != "BidiGenerateContentConstrained" or version != "v1alpha" or token not in self._tokens:
                raise Refused("Invalid auth token")
            return self._tokens[token]
        if (request.headers.get("x-goog-api-key") or request.query.get("key")) != KEY:
            raise Refused(WRONG_KEY)
        return None

    async def _list(self, request: web.Request) -> web.Response:
        version = request.match_info["version"]
        if request.headers.get("x-goog-api-key") != KEY:
            return _error(400, WRONG_KEY, "INVALID_ARGUMENT")
        if version in self.versions_down:
            return _error(503, "The service is currently unavailable.", "UNAVAILABLE")
        found = [
            {
                "name": name,
                "displayName": name.removeprefix("models/"),
                "supportedGenerationMethods": ["bidiGenerateContent"] if model.bidi else ["generateContent"],
            }
            for name, model in MODELS.items()
            if version in model.versions
        ]
        # One on a page: whoever reads the first only misses most.
        page = int(request.query.get("pageToken") or 0)
        more = {"nextPageToken": str(page + 1)} if page + 1 < len(found) else {}
        return web.json_response({"models": found[page : page + 1], **more})

    async def _mint(self, request: web.Request) -> web.Response:
        if request.headers.get("x-goog-api-key") != KEY:
            return _error(400, WRONG_KEY, "INVALID_ARGUMENT")
        if request.match_info["version"] != "v1alpha":
            return _error(404, "Not found.", "NOT_FOUND")
        body = camel(await request.json())
        known = {"uses", "expireTime", "newSessionExpireTime", "bidiGenerateContentSetup", "fieldMask"}
        if "_" in body.get("fieldMask", ""):
            return _error(400, "Invalid value at 'auth_token.field_mask'", "INVALID_ARGUMENT")
        if unknown := body.keys() - known:
            return _error(400, f'Invalid JSON payload received. Unknown name "{unknown.pop()}"', "INVALID_ARGUMENT")
        try:
            setup = check_message({"setup": body.get("bidiGenerateContentSetup", {})})[1]
        except Refused as refused:
            return _error(400, refused.reason, "INVALID_ARGUMENT")
        name = self.new_id("auth_tokens/token")
        self._tokens[name] = {
            "uses": body.get("uses", 1),
            "newSessionExpireTime": body["newSessionExpireTime"],
            "bidiGenerateContentSetup": setup,
            "fieldMask": body.get("fieldMask", ""),
        }
        return web.json_response({"name": name})

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.failures.append(failure)


def _error(status: int, message: str, name: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message, "status": name}}, status=status)
