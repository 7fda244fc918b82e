"""OpenAI's realtime models on OpenAI's SDK: it connects and authenticates; what is said is the protocol's business.

Above: ``pipelines.realtime.agent`` opens sessions. Below: ``protocol``, and the SDK, imported where it is used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from pipelines.audio.frame import Samples
from pipelines.clock import Clock, RealClock
from pipelines.realtime.base import RealtimeError, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import ProviderEvent
from pipelines.realtime.openai import wire
from pipelines.realtime.openai.options import DEFAULT_MODEL, OpenAIOptions
from pipelines.realtime.openai.protocol import OpenAIProtocol
from pipelines.realtime.openai.refusal import refused_by_http
from pipelines.realtime.openai.secret import ClientSecret, mint

if TYPE_CHECKING:
    from openai.resources.realtime.realtime import AsyncRealtimeConnection

__all__ = ["OpenAIRealtime"]

CONNECT_S = 5.0
"""How long connecting may take, in seconds: longer than a slow handshake, short enough to apologise in time."""

TICK_S = 1.0
"""How often the protocol is told the time when nothing comes, in seconds."""

CLOSE_S = 1.5
"""How long the provider may take to say goodbye, in seconds."""

ALIVE_S = 5.0
"""How often the connection is tried when it is idle, and how long it may take to answer, in seconds: a link that
breaks without a word is noticed within twice that."""

DRAIN_S = 0.1
"""How long a message waits for a slow connection, in seconds. It is in the connection's buffer then, and goes out."""

CONGESTED_S = 1.0
"""How long the caller's voice is dropped after a message had to wait that long, in seconds."""

WRITE_BYTES = 256 * 1024
"""What the connection buffers before a message waits: four seconds of the caller's voice."""

MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest message that is taken: the size of the longest that OpenAI takes."""


_logger = logging.getLogger(f"{__name__}.connection")
_logger.setLevel(logging.INFO)
"""What `websockets` logs in detail holds the key, and what was said."""


class OpenAIRealtime:
    """A realtime model of OpenAI's, or one behind the same API.

    Args:
        model: its name; a connection keeps it.
        api_key: the key. It is in no message, error or name.
        base_url: where the API is, up to ``/v1``; OpenAI's own by default.
        options: how sessions are set up, beside what a call says.
        connect_timeout_s: bounds connecting, in seconds.
        clock: tells the time of sessions.
    """

    hears = wire.RATE
    speaks = wire.RATE
    lasts_s: float | None = 3_600.0
    """OpenAI closes a session after 60 minutes, and says nothing before."""

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        api_key: str,
        base_url: str | None = None,
        options: OpenAIOptions | None = None,
        connect_timeout_s: float = CONNECT_S,
        clock: Clock | None = None,
    ) -> None:
        try:
            # It takes over a second: here, at start-up, and not in the middle of a call.
            from openai import AsyncOpenAI
        except ImportError as exc:
            raise RealtimeError("the package 'openai' is missing; install it: pip install openai", retry=False) from exc
        self.name = f"openai:{model}"
        self._model = model
        self._options = options or OpenAIOptions()
        self._connect_timeout_s = connect_timeout_s
        self._clock = clock or RealClock()
        self._client = AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0)
        # The SDK imports its parts when they are first asked for: a quarter of a second, better not within a call.
        self._realtime = self._client.realtime
        for part in ("websockets.asyncio.client", "anyio._backends._asyncio"):
            import_module(part)

    async def open(self, setup: SessionSetup) -> OpenAISession:
        """Connect, and send the setup.

        Raises:
            RealtimeError: OpenAI cannot be reached, or refuses us.
        """
        from openai import OpenAIError

        # The SDK passes these on to `websockets.connect`; its types know a few of them only.
        how: Any = {
            "max_size": MESSAGE_BYTES,
            "compression": None,
            "write_limit": WRITE_BYTES,
            "open_timeout": self._connect_timeout_s,
            "close_timeout": CLOSE_S,
            "ping_interval": ALIVE_S,
            "ping_timeout": ALIVE_S,
            "logger": _logger,
        }
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                connection = await self._realtime.connect(model=self._model, websocket_connection_options=how).enter()
        except InvalidStatus as exc:
            refusal = refused_by_http(exc.response.status_code, bytes(exc.response.body or b""))
            raise RealtimeError(f"{self.name} refuses us: {refusal.reason}", retry=refusal.retry) from None
        except TimeoutError:
            raise RealtimeError(f"{self.name} did not answer within {self._connect_timeout_s:g} s") from None
        except InvalidURI as exc:
            raise RealtimeError(f"{self.name} has no usable address: {exc}", retry=False) from exc
        except (OSError, InvalidHandshake, OpenAIError) as exc:
            raise RealtimeError(f"{self.name} cannot be reached: {wire.in_words(str(exc))}") from exc
        session = OpenAISession(connection, OpenAIProtocol(setup, self._options, self._clock.now()), self._clock)
        await session.flush()
        return session

    async def mint_client_secret(self, setup: SessionSetup, *, expires_s: int = 600) -> ClientSecret:
        """Have a secret made with which a browser opens this session itself.

        Args:
            setup: the session; its past and its snapshot are not in it.
            expires_s: seconds it may be used for, 10 to 7200; a session opened with it goes on.

        Raises:
            RealtimeError: OpenAI cannot be reached, or refuses.
        """
        return await mint(self._client, self._model, setup, self._options, expires_s=expires_s)


class OpenAISession:
    """One connection. Whoever iterates over ``events`` drives it: there is no task behind it.

    Args:
        connection: the SDK's, open.
        protocol: what is said over it.
        clock: tells the time.
    """

    handle: str | None = None
    """OpenAI resumes nothing."""

    def __init__(self, connection: AsyncRealtimeConnection, protocol: OpenAIProtocol, clock: Clock) -> None:
        self._connection = connection
        self._protocol = protocol
        self._clock = clock
        self._waiting: asyncio.Timeout | None = None
        self._closing = False
        self._congested_until = 0.0

    async def events(self) -> AsyncIterator[ProviderEvent]:
        """Yield what the provider says, to its end."""
        while True:
            while (event := self._protocol.take_event()) is not None:
                yield event
            if self._protocol.over:
                return
            await self._receive()

    async def hear(self, samples: Samples) -> None:
        """Send the caller's voice; on a connection that is too slow, drop it."""
        if self._clock.now() >= self._congested_until:
            self._protocol.intents.hear(samples)
            await self.flush()

    async def begin_speech(self) -> None:
        """Begin a turn of the caller's."""
        self._protocol.intents.begin_speech()
        await self.flush()

    async def end_speech(self, *, respond: bool = True) -> None:
        """End a turn of the caller's."""
        self._protocol.intents.end_speech(self._clock.now(), respond=respond)
        await self.flush()

    async def inject(self, text: str, *, role: Literal["caller", "system"], respond: bool) -> None:
        """Put words into the conversation."""
        self._protocol.intents.inject(text, role, respond=respond)
        await self.flush()

    async def answer(self, results: Sequence[ToolAnswer], *, snapshot: Snapshot, respond: bool = True) -> None:
        """Send results, context and trigger."""
        self._protocol.intents.answer(results, snapshot, respond=respond)
        await self.flush()

    async def refresh(self, snapshot: Snapshot) -> None:
        """Replace the context."""
        self._protocol.intents.refresh(snapshot)
        await self.flush()

    async def interrupt(self) -> None:
        """Void the answer being made."""
        self._protocol.interrupt(self._clock.now())
        await self.flush()

    async def truncate(self, item: str, heard_s: float) -> None:
        """Cut an item off behind what was heard."""
        self._protocol.intents.truncate(item, heard_s)
        await self.flush()

    async def update(self, setup: SessionSetup) -> None:
        """Change instructions and tools."""
        self._protocol.intents.update(setup)
        await self.flush()

    async def aclose(self) -> None:
        """Close the connection; ``events`` tells the end."""
        self._closing = True
        await self._close()

    async def flush(self) -> None:
        """Send what is to be sent, in order, whoever comes first."""
        self._protocol.intents.ask_if_due(self._clock.now())
        self._wake()
        while not self._closing and (frame := self._protocol.take_frame()) is not None:
            try:
                async with asyncio.timeout(DRAIN_S):
                    await self._connection.send_raw(frame)
            except TimeoutError:
                # The message is in the buffer, behind those before it.
                self._congested_until = self._clock.now() + CONGESTED_S
            except ConnectionClosed:
                return

    async def _receive(self) -> None:
        try:
            async with asyncio.timeout(TICK_S) as self._waiting:
                data = await self._connection.recv_bytes()
        except TimeoutError:
            self._protocol.tick(self._clock.now())
        except ConnectionClosed as exc:
            code, reason = (None, "") if exc.rcvd is None else (exc.rcvd.code, exc.rcvd.reason)
            self._protocol.close(code, reason, expected=self._closing)
        else:
            self._protocol.receive(data, self._clock.now())
        finally:
            self._waiting = None
        await self.flush()
        if self._protocol.refusal is not None and not self._protocol.over:
            await self._close()

    def _wake(self) -> None:
        """Have ``events`` look, if there is something to tell. To be cancelled while receiving loses nothing."""
        if self._protocol.telling and self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def _close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_S + 0.4):
                await self._connection.close()
        except (TimeoutError, ConnectionClosed, OSError):
            return
