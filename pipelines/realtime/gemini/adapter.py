"""Gemini's live models on Google's SDK: it connects, authenticates and writes; what is said is the protocol's business.

Above: ``pipelines.realtime.agent`` opens sessions. Below: ``session``, and the SDK, imported where it is used.
"""

from __future__ import annotations

import asyncio
import ssl as tls
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from pipelines.clock import Clock, RealClock
from pipelines.realtime.base import RealtimeError, SessionSetup
from pipelines.realtime.gemini.client import CONNECT_S, make_client, warm_types
from pipelines.realtime.gemini.device_token import LASTS_S, DeviceToken, mint_token
from pipelines.realtime.gemini.families import family_of
from pipelines.realtime.gemini.options import API_VERSIONS, DEFAULT_MODEL, GeminiOptions
from pipelines.realtime.gemini.protocol import GeminiProtocol
from pipelines.realtime.gemini.refusal import closed, refused_by_http
from pipelines.realtime.gemini.session import NONSENSE, GeminiSession
from pipelines.realtime.gemini.setup import setup_message
from pipelines.realtime.gemini.wire import HEARS, SPEAKS, in_words

if TYPE_CHECKING:
    from google.genai import types
    from google.genai.live import AsyncSession

__all__ = ["GeminiLive"]


class GeminiLive:
    """A live model of Gemini's.

    Args:
        model: its name, with or without ``models/``; a connection keeps it.
        api_key: the key. It is in no message, error or name.
        base_url: where the API is, an ``https`` address; Google's own by default.
        api_version: which version of the API; models are in one or the other.
        options: how sessions are set up, beside what a call says.
        ssl: how the connection is trusted, where the machine's certificates will not do.
        connect_timeout_s: bounds connecting, in seconds.
        clock: tells the time of sessions.

    Raises:
        RealtimeError: the SDK is missing, or the key is.
    """

    hears = HEARS
    speaks = SPEAKS
    lasts_s: float | None = None
    """It closes a connection after some ten minutes, and says so about a minute before."""

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        api_key: str,
        base_url: str | None = None,
        api_version: str | None = None,
        options: GeminiOptions | None = None,
        ssl: tls.SSLContext | None = None,
        connect_timeout_s: float = CONNECT_S,
        clock: Clock | None = None,
    ) -> None:
        self.name = f"gemini:{model.removeprefix('models/')}"
        self._model = model
        self._family = family_of(model)
        self._options = options or GeminiOptions()
        self._connect_timeout_s = connect_timeout_s
        self._clock = clock or RealClock()
        self._sessions: WeakSet[GeminiSession] = WeakSet()
        # It takes over a second, for the SDK: here, at start-up, and not in the middle of a call.
        version = api_version or API_VERSIONS[0]
        self._client = make_client(api_key, base_url=base_url, api_version=version, ssl=ssl)
        warm_types()
        self._mint = partial(
            mint_token, options=self._options, model=model, api_key=api_key, base_url=base_url, ssl=ssl
        )

    async def open(self, setup: SessionSetup) -> GeminiSession:
        """Connect, send the setup and wait until it is accepted. A session that cannot be resumed is begun anew.

        Gemini resumes no session whose connection is open: if it is one of ours, it ends first.

        Raises:
            RealtimeError: Gemini cannot be reached, or refuses us.
        """
        if setup.resume is not None:
            for session in [each for each in self._sessions if each.handle == setup.resume]:
                await session.give_way()
            try:
                return await self._open(setup, handle=setup.resume)
            except RealtimeError as exc:
                if exc.retry:
                    raise
        return await self._open(setup, handle=None)

    async def mint_client_secret(self, setup: SessionSetup, *, expires_s: int = 600) -> DeviceToken:
        """Have a token made with which a device opens this session itself.

        Args:
            setup: the session; its past is not in it.
            expires_s: seconds within which it has to be begun, at least 1; it may go on for half an hour then, or for
                as long if that is longer.

        Raises:
            ValueError: the time is out of range.
            RealtimeError: Gemini cannot be reached, or refuses.
        """
        return await self._mint(setup, now=datetime.now(UTC), opens_s=expires_s, lasts_s=max(expires_s, LASTS_S))

    async def _open(self, setup: SessionSetup, *, handle: str | None) -> GeminiSession:
        from google.genai import types

        message = setup_message(setup, self._options, self._family, handle=handle)
        try:
            config = types.LiveConnectConfig.model_validate(message)
        except ValueError as exc:
            raise RealtimeError(f"{self.name} cannot be set up: {in_words(str(exc))}", retry=False) from exc
        stack = AsyncExitStack()
        connection = await self._connect(stack, config)
        protocol = GeminiProtocol(setup, self._options, self._family, resumed=handle is not None)
        session = GeminiSession(connection, stack, protocol, self._clock)
        self._sessions.add(session)
        await session.flush()
        return session

    async def _connect(self, stack: AsyncExitStack, config: types.LiveConnectConfig) -> AsyncSession:
        from google.genai.errors import APIError

        try:
            async with asyncio.timeout(self._connect_timeout_s):
                connection: AsyncSession = await stack.enter_async_context(
                    self._client.aio.live.connect(model=self._model, config=config)
                )
                return connection
        except APIError as exc:
            refusal = closed(exc.code, exc.details, accepted=False)
            raise RealtimeError(f"{self.name} refuses us ({exc.code}): {refusal.reason}", retry=refusal.retry) from None
        except ConnectionClosed as exc:
            code, reason = (None, "") if exc.rcvd is None else (exc.rcvd.code, exc.rcvd.reason)
            refusal = closed(code, reason, accepted=False)
            raise RealtimeError(f"{self.name} refuses us ({code}): {refusal.reason}", retry=refusal.retry) from None
        except InvalidStatus as exc:
            body = bytes(exc.response.body or b"").decode("utf-8", "replace")
            refusal = refused_by_http(exc.response.status_code, body)
            raise RealtimeError(f"{self.name} refuses us: {refusal.reason}", retry=refusal.retry) from None
        except TimeoutError:
            raise RealtimeError(f"{self.name} did not answer within {self._connect_timeout_s:g} s") from None
        except (OSError, InvalidHandshake) as exc:
            raise RealtimeError(f"{self.name} cannot be reached: {in_words(str(exc))}") from exc
        except (InvalidURI, *NONSENSE) as exc:
            words = f"{self.name} has no usable name or address: {in_words(str(exc))}"
            raise RealtimeError(words, retry=False) from exc
