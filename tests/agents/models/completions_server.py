"""A small strict server that speaks the chat-completions wire as OpenAI does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    """What the server does with one request."""

    chunks: Sequence[dict[str, Any] | str] = ()
    """Deltas to stream, each in a frame of its own; a string is sent as the frame's raw data."""
    finish: str | None = "stop"
    """The finish reason of the last chunk; ``None`` sends no last chunk."""
    status: int = 200
    piece_bytes: int | None = None
    """Send the stream in pieces of this size, so that frames and characters are torn."""
    stall: asyncio.Event | None = None
    """Wait for this behind the chunks, with the stream open."""
    cut: bool = False
    """Drop the connection behind the chunks, in the middle of the body."""
    silent: bool = False
    """Take the request and never answer."""


def text(content: str) -> dict[str, Any]:
    return {"content": content}


def call(index: int, *, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    part: dict[str, Any] = {"index": index, "function": function}
    return {"tool_calls": [part | ({"id": id, "type": "function"} if id else {})]}


@dataclass
class CompletionsServer:
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

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.headers.append(headers)
        self.bodies.append(body)
        if request != "POST /v1/chat/completions HTTP/1.1":
            self.complaints.append(request)
        self.complaints.extend(complaints(body))
        answer = self.answers[len(self.bodies) - 1]
        if answer.silent:
            return await self._wait_for_the_client(reader)
        if answer.status != 200 or self.complaints:
            error = {"error": {"message": "no: sk-secret, the caller said 279413862", "type": "x", "code": None}}
            await self._send_error(writer, answer.status if answer.status != 200 else 400, error)
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

    async def _send_error(self, writer: asyncio.StreamWriter, status: int, error: dict[str, Any]) -> None:
        data = json.dumps(error).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()

    async def _stream(self, writer: asyncio.StreamWriter, answer: Answer, body: dict[str, Any]) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        frames = [item if isinstance(item, str) else frame(item) for item in answer.chunks]
        whole = not (answer.cut or answer.stall is not None)
        if answer.finish is not None and whole:
            frames.append(frame({}, answer.finish))
            if body.get("stream_options", {}).get("include_usage"):
                usage = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
                usage_frame = {**chunk(), "usage": usage | {"prompt_tokens_details": {"cached_tokens": 16}}}
                frames.append(json.dumps(usage_frame))
        if whole:
            frames.append("[DONE]")
        data = "".join(f"data: {item}\n\n" for item in frames).encode()
        size = answer.piece_bytes or len(data) or 1
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        if whole:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def chunk() -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}


def frame(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return json.dumps({**chunk(), "choices": [choice]}, ensure_ascii=False)


def sound(tool: dict[str, Any]) -> bool:
    return bool(tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object")


def complaints(body: dict[str, Any]) -> list[str]:
    """What OpenAI would refuse about a request."""
    found = [] if body.get("stream") is True else ["not streamed"]
    found += [f"bad tool {tool}" for tool in body.get("tools", []) if not sound(tool)]
    if body.get("tools") == []:
        found.append("empty tools")
    open_calls: list[str] = []
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls or not isinstance(message["content"], str):
                found.append(f"result without call: {message}")
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            found.append(f"calls without result: {open_calls}")
        if role == "assistant":
            calls = message.get("tool_calls", [])
            if not message["content"] and not calls:
                found.append("empty assistant message")
            found += [f"no text: {made}" for made in calls if not isinstance(made["function"]["arguments"], str)]
            open_calls = [made["id"] for made in calls]
        elif role not in ("system", "user") or not message["content"]:
            found.append(f"bad message: {message}")
    return [*found, *([f"calls without result: {open_calls}"] if open_calls else [])]


@asynccontextmanager
async def completions_server(*answers: Answer) -> AsyncIterator[CompletionsServer]:
    completions = CompletionsServer(answers=list(answers))
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(completions.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    completions.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield completions
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
