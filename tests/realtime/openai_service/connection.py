"""HTTP and WebSocket on one port, by the protocol of ``websockets`` without its I/O: so every fault can be made."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

__all__ = ["Socket", "answer", "read_post"]

FRAME_BYTES = 32 * 1024 * 1024


class Socket:
    """A WebSocket, seen from the server.

    Args:
        reader: the connection's bytes.
        writer: the same.
        head: what was read of it.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader = reader
        self._writer = writer
        # A browser offers subprotocols, and insists on one of them; the SDK offers none.
        offered = [Subprotocol("realtime")] if b"\r\nsec-websocket-protocol:" in head.lower() else None
        self._protocol = ServerProtocol(subprotocols=offered, max_size=FRAME_BYTES)
        self._protocol.receive_data(head)
        request = self._protocol.events_received()[0]
        assert isinstance(request, Request)
        self.request = request
        self._parts: list[bytes] = []
        self._messages: deque[bytes] = deque()
        self.flowing = asyncio.Event()
        """Cleared, nothing is read any more: the client's messages pile up."""
        self.flowing.set()

    def accept(self) -> None:
        """Complete the handshake."""
        self._protocol.send_response(self._protocol.accept(self.request))
        self._flush()

    def reject(self, status: int, body: dict[str, Any]) -> None:
        """Refuse the handshake, with an answer in JSON."""
        response = self._protocol.reject(status, json.dumps(body))
        response.headers.pop("Content-Type", None)
        response.headers["Content-Type"] = "application/json"
        self._protocol.send_response(response)
        self._flush()

    async def receive(self) -> bytes | None:
        """Take the client's next message; ``None`` when there are no more."""
        while not self._messages:
            await self.flowing.wait()
            if not (data := await self._reader.read(65_536)):
                self._protocol.receive_eof()
                self._flush()
                return None
            self._protocol.receive_data(data)
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    self._take(event)
            self._flush()
        return self._messages.popleft()

    def send(self, text: str) -> None:
        """Send a message."""
        if self._protocol.state.name == "OPEN":
            self._protocol.send_text(text.encode())
            self._flush()

    def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        if self._protocol.state.name == "OPEN":
            self._protocol.send_close(code, reason)
            self._flush()

    def abort(self) -> None:
        """Break the connection off."""
        self._writer.transport.abort()

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            self._messages.append(b"".join(self._parts))
            self._parts = []

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            elif self._writer.can_write_eof():
                self._writer.write_eof()


async def read_post(reader: asyncio.StreamReader, head: bytes) -> tuple[dict[str, str], Any]:
    """Read a POST: its headers, lower-cased, and its JSON body."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return headers, json.loads(body)


def answer(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
    """Answer over HTTP, and be done with the connection."""
    made = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} Answer\r\nContent-Type: application/json\r\nContent-Length: {len(made)}\r\n"
    writer.write(head.encode() + b"Connection: close\r\n\r\n" + made)
