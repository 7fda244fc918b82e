"""A phone: a client of the socket that speaks recordings and plays what it hears, as the page does."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.fixtures.catalogue import fixture

__all__ = ["Phone", "calling"]

FRAME_S = 0.02


@dataclass
class Phone:
    """One client, connected."""

    socket: ClientConnection
    events: list[dict[str, Any]] = field(default_factory=list)
    arrived: list[tuple[int, int]] = field(default_factory=list)
    """Epoch of each audio message, and how many events had come before it."""
    to_say: deque[bytes] = field(default_factory=deque)
    silent: bool = False
    """Whether not even silence is sent."""
    _waiting: dict[int, int] = field(default_factory=dict)
    _played: dict[int, float] = field(default_factory=dict)
    _epoch: int = 0
    _paused: bool = False
    _at: float = 0.0
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def says(self, name: str) -> None:
        """Say a recording of the fixtures behind what is being said."""
        samples = fixture(name).samples().tobytes()
        size = int(16_000 * FRAME_S) * 2
        self.to_say.extend(samples[at : at + size].ljust(size, b"\0") for at in range(0, len(samples), size))

    async def send(self, type: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))

    def all(self, type: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == type]

    async def hears(self, type: str, limit_s: float = 20.0, count: int = 1, **data: Any) -> dict[str, Any]:
        """Wait for the nth event of a type with such data, whether it has come already or not."""
        async with asyncio.timeout(limit_s):
            while True:
                fitting = [
                    e for e in self.all(type) if all(e["data"].get(name) == value for name, value in data.items())
                ]
                if len(fitting) >= count:
                    return fitting[count - 1]
                self._news.clear()
                await self._news.wait()

    async def closed(self, limit_s: float = 20.0) -> tuple[int | None, str | None]:
        """Wait until the server has closed the connection; return code and reason."""
        async with asyncio.timeout(limit_s):
            await self.socket.wait_closed()
        return self.socket.close_code, self.socket.close_reason

    async def speak(self) -> None:
        due = time.monotonic()
        while True:
            if self.to_say:
                await self.socket.send(self.to_say.popleft())
            elif not self.silent:
                await self.socket.send(bytes(int(16_000 * FRAME_S) * 2))
            due += FRAME_S
            await asyncio.sleep(due - time.monotonic())

    async def listen(self) -> None:
        async for message in self.socket:
            if isinstance(message, bytes):
                self._play(message)
            else:
                event = json.loads(message)
                self.events.append(event)
                if event["type"] == "playout":
                    await self._order(event["data"])
            self._news.set()

    async def acknowledge(self) -> None:
        while True:
            await asyncio.sleep(0.1)
            self._advance()
            for epoch, samples in list(self._played.items()):
                await self.send("played", epoch=epoch, ms=samples / 24)

    def _play(self, message: bytes) -> None:
        (epoch,) = struct.unpack("<I", message[:4])
        self.arrived.append((epoch, len(self.events)))
        self._advance()
        if epoch >= self._epoch:
            self._waiting[epoch] = self._waiting.get(epoch, 0) + (len(message) - 4) // 2
            self._played.setdefault(epoch, 0)

    def _advance(self) -> None:
        now = time.monotonic()
        due = (now - self._at) * 24_000
        self._at = now
        if self._paused:
            return
        for epoch in sorted(self._waiting):
            played = min(due, self._waiting[epoch])
            self._waiting[epoch] -= int(played)
            self._played[epoch] += int(played)
            due -= played

    async def _order(self, order: dict[str, Any]) -> None:
        self._advance()
        match order["order"]:
            case "pause":
                self._paused = True
            case "unpause":
                self._paused = False
            case "clear":
                self._paused = False
                self._epoch = order["epoch"]
                for epoch in [old for old in self._waiting if old < self._epoch]:
                    del self._waiting[epoch]
                for epoch in [old for old in self._played if old < self._epoch]:
                    await self.send("played", epoch=epoch, ms=self._played.pop(epoch) / 24, final=True)


@asynccontextmanager
async def calling(url: str, *, start: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[Phone]:
    """Call, and hang up in the end by closing the connection."""
    async with connect(url, compression=None, **options) as socket:
        phone = Phone(socket)
        await phone.send("start", **(start or {}))
        doing = [
            asyncio.create_task(_until_closed(task)) for task in (phone.speak(), phone.listen(), phone.acknowledge())
        ]
        try:
            yield phone
        finally:
            for task in doing:
                task.cancel()
            await asyncio.gather(*doing, return_exceptions=True)


async def _until_closed(doing: Any) -> None:
    with suppress(ConnectionClosed):
        await doing
