"""What the small strict servers share: HTTP, torn frames, stalls, refusals. Each wire has its own module beside it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

SECRETS = "no: sk-secret, the caller said 279413862"
"""What a service may quote in an error, and nobody may repeat."""


@dataclass
class Answer:
    """What a server does with one request."""

    chunks: Sequence[dict[str, Any] | str] = ()
    """Frames to stream, as the wire has them; a string is sent as a frame's raw data."""
    finish: str | None = "stop"
    """Why the response ends, in the wire's word; ``None`` sends no end."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    piece_bytes: int | None = None
    """Send the stream in pieces of this size, so that frames and characters are torn."""
    stall: asyncio.Event | None = None
    """Wait for this behind the chunks, with the stream open."""
    cut: bool = False
    """Drop the connection behind the chunks, in the middle of the body."""
    silent: bool = False
    """Take the request and never answer."""

    @property
    def whole(self) -> bool:
        return not (self.cut or self.stall is not None)


@dataclass
class WireServer:
    """Gives the answers in order; keeps what it was sent."""

    answers: list[Answer]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client closed its connection while a stream was open."""
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stalls or is silent."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a connection was closed, until the next is opened."""

    path = ""

    def judge(self, body: dict[str, Any], headers: Mapping[str, str]) -> list[str]:
        """What the real service would refuse about a request."""
        raise NotImplementedError

    def frames(self, answer: Answer, body: dict[str, Any]) -> list[str]:
        """The server-sent events of an answer, each as its lines."""
        raise NotImplementedError

    def error(self, status: int) -> dict[str, Any]:
        """The body of an error."""
        raise NotImplementedError

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.left.clear()
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.left.set()
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.headers.append(headers)
        self.bodies.append(body)
        if request != f"POST {self.path} HTTP/1.1":
            self.complaints.append(request)
        self.complaints.extend(self.judge(body, headers))
        answer = self.answers[len(self.bodies) - 1]
        if answer.silent:
            return await self._wait_for_the_client(reader)
        if answer.status != 200 or self.complaints:
            await self._refuse(writer, answer)
            return True
        await self._stream(writer, answer, body)
        if answer.cut:
            return False
        if answer.stall is not None:
            return await self._wait_for_the_client(reader)
        return True

    async def _wait_for_the_client(self, reader: asyncio.StreamReader) -> bool:
        self.waiting.set()
        await reader.read(1)
        self.gone.set()
        return False

    async def _refuse(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        status = answer.status if answer.status != 200 else 400
        data = json.dumps(self.error(status)).encode()
        headers = {"content-type": "application/json", "content-length": str(len(data)), **answer.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + data)
        await writer.drain()

    async def _stream(self, writer: asyncio.StreamWriter, answer: Answer, body: dict[str, Any]) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        data = "".join(f"{frame}\n\n" for frame in self.frames(answer, body)).encode()
        size = answer.piece_bytes or len(data) or 1
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        if answer.whole:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


Server = TypeVar("Server", bound=WireServer)


@asynccontextmanager
async def listening(wire: Server) -> AsyncIterator[Server]:
    """Open a port for the server; its ``url`` is then the address without a path."""
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(wire.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def listening_aside(wire: Server) -> Iterator[Server]:
    """Open the port in a thread of its own, for callers whose loop has a time of its own."""
    ready, ended, stops = threading.Event(), threading.Event(), []

    async def work() -> None:
        stop = asyncio.Event()
        stops.append(partial(asyncio.get_running_loop().call_soon_threadsafe, stop.set))
        async with listening(wire):
            ready.set()
            await stop.wait()
        ended.set()

    threading.Thread(target=asyncio.run, args=(work(),), daemon=True).start()
    assert ready.wait(5)
    try:
        yield wire
    finally:
        stops[0]()
        assert ended.wait(5)
