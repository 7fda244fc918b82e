"""A small strict server that speaks the chat-completions wire as OpenAI does, and where told as others do.

What it relies on, and where that is written:

- Field names, finish reasons, ``refusal``, usage in a last chunk without choices when ``stream_options`` asks for it,
  ``[DONE]``: the types of the ``openai`` package 3.57 (``types/chat/completion_create_params.py``,
  ``chat_completion_chunk.py``). "An assistant message with 'tool_calls' must be followed by tool messages responding to
  each 'tool_call_id'" is the service's own message.
- Arguments that are no JSON are refused with "invalid tool call arguments" (OpenAI takes them): ollama/ollama,
  ``openai/openai.go``, ``FromChatRequest``. There also: ``reasoning`` in deltas and in assistant messages.
- ``reasoning_content`` in deltas; refused with "The reasoning_content in the thinking mode must be passed back to the
  API" where an assistant message with calls lacks the field, be it empty: DeepSeek, as in anomalyco/opencode issues
  24083 and 24722, deepseek-ai/deepseek-harness discussion 739. Kimi alike: librechat.ai, "Moonshot".
- ``reasoning_details`` in pieces with an index, to be sent back whole; comments as keep-alive; errors with a numeric
  ``code`` in mid-stream: openrouter.ai/docs, "Reasoning tokens", "Streaming".
- ``prompt_cache_hit_tokens``: DeepSeek's usage, as in docs.stigg.io, "DeepSeek".
- ``extra_content`` of a call with a signed thought, wanted back with it: ai.google.dev, "Thought signatures".
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.agents.models.wire_server import SECRETS, Answer, WireServer, listening

MESSAGE_FIELDS = {
    "system": {"content"},
    "user": {"content"},
    "tool": {"content", "tool_call_id"},
    "assistant": {"content", "tool_calls"},
}
FIELDS = {
    "model", "messages", "tools", "tool_choice", "stream", "stream_options", "temperature", "max_tokens",
    "max_completion_tokens", "reasoning_effort",
}  # fmt: skip


def text(content: str) -> dict[str, Any]:
    return {"content": content}


def call(index: int, *, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    part: dict[str, Any] = {"index": index, "function": function}
    return {"tool_calls": [part | ({"id": id, "type": "function"} if id else {})]}


USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 7,
    "total_tokens": 27,
    "prompt_tokens_details": {"cached_tokens": 16},
}


@dataclass
class CompletionsServer(WireServer):
    wants: str | None = None
    """The field in which an assistant message with calls must bring its thoughts; others are refused then too."""
    usage: dict[str, Any] = field(default_factory=lambda: USAGE)

    path = "/v1/chat/completions"

    def judge(self, body: dict[str, Any], headers: Mapping[str, str]) -> list[str]:
        found = [] if headers.get("authorization", "").startswith("Bearer ") else ["no key"]
        return [*found, *complaints(body, wants=self.wants)]

    def frames(self, answer: Answer, body: dict[str, Any]) -> list[str]:
        frames = [item if isinstance(item, str) else frame(item) for item in answer.chunks]
        if answer.finish is not None and answer.whole:
            frames.append(frame({}, answer.finish))
            if body.get("stream_options", {}).get("include_usage"):
                frames.append(json.dumps({**chunk(), "usage": self.usage}))
        if answer.whole:
            frames.append("[DONE]")
        return [item if item.startswith(":") else f"data: {item}" for item in frames]

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": SECRETS, "type": "x", "code": None}}


def chunk() -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}


def frame(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return json.dumps({**chunk(), "choices": [choice]}, ensure_ascii=False)


def sound(tool: dict[str, Any]) -> bool:
    return bool(tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object")


def complaints(body: dict[str, Any], *, wants: str | None = None) -> list[str]:
    """What the service would refuse about a request."""
    found = [f"unknown field: {name}" for name in body.keys() - FIELDS]
    if body.get("stream") is not True or body.get("stream_options") != {"include_usage": True}:
        found.append("not streamed, or without usage")
    found += [f"bad tool {tool}" for tool in body.get("tools", []) if not sound(tool)]
    if body.get("tools") == []:
        found.append("empty tools")
    open_calls: list[str] = []
    for message in body["messages"]:
        found += _message(message, wants)
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                found.append(f"result without call: {message}")
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            found.append(f"calls without result: {open_calls}")
        open_calls = [made["id"] for made in message.get("tool_calls", [])]
        if len(set(open_calls)) < len(open_calls):
            found.append(f"the same id twice: {open_calls}")
    return [*found, *([f"calls without result: {open_calls}"] if open_calls else [])]


def _message(message: dict[str, Any], wants: str | None) -> list[str]:
    known = MESSAGE_FIELDS.get(message["role"])
    if known is None:
        return [f"no such role: {message}"]
    calls = message.get("tool_calls", [])
    thoughts = {wants} if wants and calls else set()
    found = [f"unknown field: {name}" for name in message.keys() - {"role"} - known - thoughts]
    found += [f"{wants} must be passed back: {message}" for _ in thoughts if wants not in message]
    if not message["content"] and not calls and message["role"] != "tool":
        found.append(f"empty message: {message}")
    if message["role"] == "tool" and not isinstance(message["content"], str):
        found.append(f"a result is text: {message}")
    for made in calls:
        if made.keys() - {"id", "type", "function", "extra_content"} or made["type"] != "function" or not made["id"]:
            found.append(f"bad call: {made}")
        if not isinstance(json.loads(made["function"]["arguments"]), dict):
            found.append(f"invalid tool call arguments: {made}")
    parts = message["content"] if isinstance(message["content"], list) else []
    return found + [
        f"bad part: {part}" for part in parts if part.keys() != {"type", part["type"]} or not part[part["type"]]
    ]


@asynccontextmanager
async def completions_server(*answers: Answer, **settings: Any) -> AsyncIterator[CompletionsServer]:
    async with listening(CompletionsServer(answers=list(answers), **settings)) as server:
        server.url += "/v1"
        yield server
