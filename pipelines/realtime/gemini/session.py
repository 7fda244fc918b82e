"""One connection to Gemini: what the protocol wants is handed to the SDK, and what the SDK reads to the protocol.

Above: ``adapter`` opens it. Below: ``protocol``, and the SDK, imported where it is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Literal

from websockets.exceptions import ConnectionClosed

from pipelines.audio.frame import Samples
from pipelines.clock import Clock
from pipelines.realtime.base import SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import ProviderEvent
from pipelines.realtime.gemini.client import CLOSE_S
from pipelines.realtime.gemini.protocol import GeminiProtocol
from pipelines.realtime.gemini.wire import HEARS, Activity, Outgoing, Results, Text, Turns, Voice

if TYPE_CHECKING:
    from google.genai import types
    from google.genai.live import AsyncSession

__all__ = ["NONSENSE", "GeminiSession"]

TICK_S = 0.5
"""How often the protocol is told the time when nothing comes, in seconds."""

DRAIN_S = 0.1
"""How long a message waits for a slow connection, in seconds. It is in the connection's buffer then, and goes out."""

CONGESTED_S = 1.0
"""How long the caller's voice is dropped after a message had to wait that long, in seconds."""

NO_CLOSE_FRAME = 1006
"""What the SDK says when a connection broke off without a word."""

NONSENSE = (ValueError, TypeError, AttributeError, KeyError, RecursionError)
"""What the SDK raises of a message that it cannot read; the connection goes on."""


class GeminiSession:
    """One connection. Whoever iterates over ``events`` drives it: there is no task behind it.

    Args:
        connection: the SDK's, whose setup was accepted.
        stack: what closes it.
        protocol: what is said over it.
        clock: tells the time.
    """

    def __init__(self, connection: AsyncSession, stack: AsyncExitStack, protocol: GeminiProtocol, clock: Clock) -> None:
        self._connection = connection
        self._stack = stack
        self._protocol = protocol
        self._clock = clock
        self._messages: AsyncIterator[types.LiveServerMessage] | None = None
        self._waiting: asyncio.Timeout | None = None
        self._closing = False
        self._congested_until = 0.0

    @property
    def handle(self) -> str | None:
        """What another session is resumed with; not while an answer is made or a call is open."""
        return self._protocol.handle

    async def events(self) -> AsyncIterator[ProviderEvent]:
        """Yield what the provider says, to its end."""
        while True:
            while (event := self._protocol.take_event()) is not None:
                yield event
            if self._protocol.over:
                await self._close()
                return
            await self._receive()

    async def hear(self, samples: Samples) -> None:
        """Send the caller's voice; on a connection that is too slow, drop it."""
        if self._clock.now() >= self._congested_until:
            self._protocol.intents.hear(samples)
            await self.flush()

    async def begin_speech(self) -> None:
        """Begin a turn of the caller's: kept back until it is one for sure."""
        self._protocol.intents.begin_speech()
        await self.flush()

    async def end_speech(self, *, respond: bool = True) -> None:
        """End a turn of the caller's."""
        self._protocol.end_speech(self._clock.now(), respond=respond)
        await self.flush()

    async def inject(self, text: str, *, role: Literal["caller", "system"], respond: bool) -> None:
        """Put words into the conversation, as soon as that interrupts nothing."""
        self._protocol.intents.inject(text, role, respond=respond)
        await self.flush()

    async def answer(self, results: Sequence[ToolAnswer], *, snapshot: Snapshot, respond: bool = True) -> None:
        """Send results, with the context inside the last; the model goes on by itself, whatever ``respond`` says."""
        self._protocol.intents.answer(results, snapshot, self._clock.now())
        await self.flush()

    async def refresh(self, snapshot: Snapshot) -> None:
        """Replace the context, as soon as that interrupts nothing."""
        self._protocol.intents.refresh(snapshot)
        await self.flush()

    async def interrupt(self) -> None:
        """Void the answer being made."""
        self._protocol.interrupt(self._clock.now())
        await self.flush()

    async def truncate(self, item: str, heard_s: float) -> None:
        """Send nothing: Gemini cannot be told, and goes by what can have been heard when it was interrupted."""

    async def update(self, setup: SessionSetup) -> None:
        """Keep instructions and tools for the next connection, and ask for one if they are others."""
        self._protocol.update(setup)
        await self.flush()

    async def aclose(self) -> None:
        """Close the connection; ``events`` tells the end."""
        self._closing = True
        await self._close()

    async def give_way(self) -> None:
        """End at once, as far as is told, and close the connection: another one takes over."""
        self._protocol.close(None, "", expected=True)
        self._wake()
        await self.aclose()

    async def flush(self) -> None:
        """Send what is to be sent, in order, whoever comes first."""
        self._protocol.intents.put_in(self._clock.now())
        if self._protocol.has_event:
            self._wake()
        while not self._closing and not self._protocol.over and (message := self._protocol.intents.take()) is not None:
            try:
                async with asyncio.timeout(DRAIN_S):
                    await self._send(message)
            except TimeoutError:
                # The message is in the buffer, behind those before it.
                self._congested_until = self._clock.now() + CONGESTED_S
            except ConnectionClosed:
                return

    async def _send(self, message: Outgoing) -> None:
        from google.genai import types

        match message:
            case Voice():
                voice = types.Blob(data=message.samples.astype("<i2").tobytes(), mime_type=f"audio/pcm;rate={HEARS}")
                await self._connection.send_realtime_input(audio=voice)
            case Activity.BEGINS:
                await self._connection.send_realtime_input(activity_start=types.ActivityStart())
            case Activity.ENDS:
                await self._connection.send_realtime_input(activity_end=types.ActivityEnd())
            case Activity.PAUSES:
                await self._connection.send_realtime_input(audio_stream_end=True)
            case Text():
                await self._connection.send_realtime_input(text=message.text)
            case Turns():
                turns: list[types.Content | types.ContentDict] = [
                    types.Content(role=role, parts=[types.Part(text=text)]) for role, text in message.turns
                ]
                await self._connection.send_client_content(turns=turns or None, turn_complete=message.complete)
            case Results():
                responses = [
                    types.FunctionResponse(id=call_id, name=name, response=dict(response))
                    for call_id, name, response in message.results
                ]
                await self._connection.send_tool_response(function_responses=responses)

    async def _receive(self) -> None:
        from google.genai.errors import APIError

        try:
            async with asyncio.timeout(TICK_S) as self._waiting:
                message = await self._next()
        except TimeoutError:
            self._protocol.tick(self._clock.now())
        except APIError as exc:
            code = None if exc.code == NO_CLOSE_FRAME else exc.code
            self._protocol.close(code, exc.details if code else "", expected=self._closing)
        except NONSENSE:
            pass  # No client knows what it means.
        else:
            if message is not None:
                self._protocol.receive(message, self._clock.now())
        finally:
            self._waiting = None
        await self.flush()

    async def _next(self) -> types.LiveServerMessage | None:
        """Wait for a message; ``None`` at the end of a turn, with which the SDK ends its iteration."""
        if self._messages is None:
            self._messages = self._connection.receive()
        try:
            return await anext(self._messages)
        except StopAsyncIteration:
            self._messages = None
            return None
        except BaseException:
            self._messages = None  # It is spent.
            raise

    def _wake(self) -> None:
        """Have ``events`` look: there is something to tell. To be cancelled while receiving loses nothing."""
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def _close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_S + 0.4):
                await self._stack.aclose()
        except (TimeoutError, ConnectionClosed, OSError):
            return
