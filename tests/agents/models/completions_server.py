"""A small strict server that speaks the chat-completions wire as OpenAI does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.agents.models.wire_server import SECRETS, Answer, WireServer, listening


def text(content: str) -> dict[str, Any]:
    return {"content": content}


def call(index: int, *, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    part: dict[str, Any] = {"index": index, "function": function}
    return {"tool_calls": [part | ({"id": id, "type": "function"} if id else {})]}


@dataclass
class CompletionsServer(WireServer):
    path = "/v1/chat/completions"

    def judge(self, body: dict[str, Any], headers: Mapping[str, str]) -> list[str]:
        return complaints(body)

    def frames(self, answer: Answer, body: dict[str, Any]) -> list[str]:
        frames = [item if isinstance(item, str) else frame(item) for item in answer.chunks]
        if answer.finish is not None and answer.whole:
            frames.append(frame({}, answer.finish))
            if body.get("stream_options", {}).get("include_usage"):
                usage = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
                usage_frame = {**chunk(), "usage": usage | {"prompt_tokens_details": {"cached_tokens": 16}}}
                frames.append(json.dumps(usage_frame))
        if answer.whole:
            frames.append("[DONE]")
        return [f"data: {item}" for item in frames]

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": SECRETS, "type": "x", "code": None}}


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
    async with listening(CompletionsServer(answers=list(answers))) as server:
        server.url += "/v1"
        yield server
