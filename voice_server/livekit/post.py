"""The post: what is told in a room goes out in its order, one thing after the other, without anybody waiting for it.

Above: ``leg`` puts letters in. Below: LiveKit's local participant sends them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from voice_server.clients.events import AgentState
from voice_server.livekit.transcription import Piece

__all__ = ["LARGEST_PACKET", "Carrier", "Letter", "Pages", "Post", "Saying", "Showing"]

_log = logging.getLogger(__name__)

LARGEST_PACKET = 14_000
"""Bytes of a data packet; LiveKit takes some 15,000."""

MOST_BYTES = 512 * 1024
"""What may wait, as on a socket. Whoever has that much to be told is told anew."""

SEND_S = 5.0
"""Seconds a letter may take; then it is lost, like the connection, probably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Envelopes for some participants."""

    pages: tuple[str, ...]
    to: tuple[str, ...]
    lossy: bool = False
    """Whether it may get lost on its way."""

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        return sum(map(len, self.pages))


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """Words for everybody, as LiveKit's components show them."""

    piece: Piece

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        return len(self.piece.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """What the agent is at."""

    state: AgentState

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        return len(self.state)


Letter: TypeAlias = Pages | Saying | Showing


class Carrier(Protocol):
    """Sends a letter."""

    async def carry(self, letter: Letter) -> None:
        """Send it; wait until it is on its way."""
        ...


class Post:
    """A queue of bounded size, and what empties it.

    Args:
        flooded: called when so much waited that all of it was thrown away.
    """

    def __init__(self, flooded: Callable[[], None]) -> None:
        self._flooded = flooded
        self._waiting: deque[Letter] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._empty = asyncio.Event()
        """Set when all that was put in is on its way."""
        self._empty.set()

    def put(self, letter: Letter) -> None:
        """Put a letter in; what may get lost is, when others wait."""
        if self._waiting and isinstance(letter, Pages) and letter.lossy:
            return
        self._waiting.append(letter)
        self._bytes += letter.size
        self._empty.clear()
        self._more.set()
        if self._bytes > MOST_BYTES:
            self.drop()
            self._flooded()

    def drop(self) -> None:
        """Throw away what waits."""
        self._waiting.clear()
        self._bytes = 0

    async def flush(self) -> None:
        """Wait until all that was put in is on its way."""
        await self._empty.wait()

    async def run(self, carrier: Carrier) -> None:
        """Carry letters until this is cancelled."""
        while True:
            while self._waiting:
                letter = self._waiting.popleft()
                self._bytes -= letter.size
                await self._carry(carrier, letter)
            self._empty.set()
            await self._more.wait()
            self._more.clear()

    async def _carry(self, carrier: Carrier, letter: Letter) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await carrier.carry(letter)
        except Exception as error:  # noqa: BLE001 - the SDK's boundary: who missed it is told again when they are back
            _log.info("%s was not sent: %s", type(letter).__name__, type(error).__name__)
