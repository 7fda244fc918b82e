"""A small strict server that speaks Anthropic's Messages wire.

What it relies on, and where that is written:

- The order of events, cumulative usage in ``message_delta``, pings anywhere, ``error`` events under a 200, clients that
  pass over unknown events: platform.claude.com/docs, "Streaming messages".
- Field names of requests and events, stop reasons, ``signature_delta``: the types of the ``anthropic`` package 2.14
  (``types/message_create_params.py``, ``raw_message_stream_event.py``, ``stop_reason.py``). A field that is not there
  gets "Extra inputs are not permitted".
- API version 2026-10-21, which the package sends from 2.0 on: the key goes as ``Authorization: Bearer``;
  ``temperature``, ``top_p`` and ``top_k`` are refused: platform.claude.com/docs, "Versions".
- "text content blocks must be non-empty"; "`tool_use` ids were found without `tool_result` blocks immediately after";
  "unexpected `tool_use_id`": the service's own messages, as quoted in anthropics/claude-code issues 59812, 8210, 65726.
- Thinking blocks come back unmodified, with their signatures: ``types/thinking_block_param.py``.
- At most four ``cache_control`` marks, none on thinking; the prefix runs tools, system, messages; the service looks
  back 20 blocks from a mark: platform.claude.com/docs, "Prompt caching".
- Turns of one role in a row are combined by the service; this server wants alternation, as the service did before.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.agents.models.wire_server import SECRETS, Answer, WireServer, listening

SIGNED = {"Let me think.": "EqQBsigned"}
"""Thoughts this server has had, with the signatures it gave them."""

VERSION = "2026-10-21"

FIELDS = {
    "model", "messages", "max_tokens", "stream", "system", "tools", "tool_choice", "thinking", "stop_sequences",
    "metadata", "service_tier", "output_config", "cache_control",
}  # fmt: skip
BLOCK_FIELDS = {
    "text": {"text"},
    "image": {"source"},
    "document": {"source"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
TOOL_FIELDS = {"name", "description", "input_schema"}
KINDS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
STATUS_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
    529: "overloaded_error",
}  # fmt: skip
MARKS_ALLOWED = 4


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, type: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **more}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [start(index, type="text", text=""), *deltas, stop(index)]


def call(index: int, id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, type="tool_use", id=id, name=name, input={}), *deltas, stop(index)]


def thought(index: int, *pieces: str) -> list[dict[str, Any]]:
    signature = SIGNED["".join(pieces)]
    signed = [delta(index, "signature_delta", signature=part) for part in (signature[:4], signature[4:])]
    deltas = [delta(index, "thinking_delta", thinking=piece) for piece in pieces]
    return [start(index, type="thinking", thinking="", signature=""), *deltas, *signed, stop(index)]


def redacted(index: int, data: str) -> list[dict[str, Any]]:
    return [start(index, type="redacted_thinking", data=data), stop(index)]


def ping() -> dict[str, Any]:
    return {"type": "ping"}


def error(type: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type, "message": SECRETS}}


@dataclass
class MessagesServer(WireServer):
    path = "/v1/messages"

    def judge(self, body: dict[str, Any], headers: Mapping[str, str]) -> list[str]:
        bearer = headers.get("authorization", "").startswith("Bearer ")
        found = [] if bearer and headers.get("anthropic-version") == VERSION else ["no key, or another version"]
        return [*found, *complaints(body)]

    def frames(self, answer: Answer, body: dict[str, Any]) -> list[str]:
        usage = {"input_tokens": 4, "cache_creation_input_tokens": 6, "cache_read_input_tokens": 10, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        opening = {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
        frames: list[dict[str, Any] | str] = [opening, ping(), *answer.chunks]
        if answer.whole and answer.finish is not None:
            ending = {"stop_reason": answer.finish, "stop_sequence": None}
            frames.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 7}})
            frames.append({"type": "message_stop"})
        return [_frame(item) for item in frames]

    def error(self, status: int) -> dict[str, Any]:
        return error(STATUS_TYPES.get(status, "api_error"))


def _frame(item: dict[str, Any] | str) -> str:
    if isinstance(item, str):
        return f"event: content_block_delta\ndata: {item}"
    return f"event: {item['type']}\ndata: {json.dumps(item, ensure_ascii=False)}"


def complaints(body: dict[str, Any]) -> list[str]:
    """What Anthropic would refuse about a request."""
    found = [f"extra inputs: {name}" for name in body.keys() - FIELDS]
    if body.get("stream") is not True or not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        found.append("not streamed, or without max_tokens")
    for tool in body.get("tools", [{"name": "x", "input_schema": {"type": "object"}}]):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]) or tool["input_schema"]["type"] != "object":
            found.append(f"bad tool {tool}")
        found += [f"extra inputs: {name}" for name in tool.keys() - {*TOOL_FIELDS, "cache_control"}]
    system = [{**block, "where": "system"} for block in body.get("system", [])]
    found += [f"bad system block {block}" for block in system if block["type"] != "text" or not block["text"].strip()]
    return [*found, *_marks(body), *_turns(body["messages"])]


def _marks(body: dict[str, Any]) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    marked = [item for item in (*body.get("tools", []), *body.get("system", []), *blocks) if "cache_control" in item]
    found = [] if len(marked) <= MARKS_ALLOWED else [f"{len(marked)} cache marks"]
    found += [f"bad cache mark: {item}" for item in marked if item["cache_control"] != {"type": "ephemeral"}]
    return found + [f"thoughts take no mark: {item}" for item in marked if "thinking" in item.get("type", "")]


def _turns(messages: list[dict[str, Any]]) -> list[str]:
    if not messages or messages[0]["role"] != "user":
        return ["the first message must use the user role"]
    found = [] if messages[-1]["role"] == "user" else ["prefill is not supported"]
    before: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        if message.keys() != {"role", "content"} or message["role"] != ("user", "assistant")[number % 2]:
            found.append(f"roles must alternate: {message}")
        if not message["content"]:
            found.append("empty message")
        for block in message["content"]:
            found += _block(block, message["role"])
        found += _pairs(before, message["content"])
        before = message["content"]
    return [*found, *_pairs(before, [])]


def _pairs(before: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> list[str]:
    """Every call of a turn has its result in the next, and the results come first."""
    asked = [block["id"] for block in before if block["type"] == "tool_use"]
    given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    found = [] if sorted(asked) == sorted(given) else [f"calls {asked}, results {given}"]
    if [block["type"] for block in blocks[: len(given)]] != ["tool_result"] * len(given):
        found.append("results must come first")
    return found


def _block(block: dict[str, Any], role: str) -> list[str]:
    kind = block["type"]
    if kind not in KINDS[role]:
        return [f"{kind} in a turn of the {role}"]
    found = [f"extra inputs: {name}" for name in block.keys() - BLOCK_FIELDS[kind] - {"type", "cache_control"}]
    match block:
        case {"type": "text", "text": words} if not words.strip():
            found.append("text content blocks must be non-empty")
        case {"type": "tool_use"} if not isinstance(block["input"], dict):
            found.append(f"input must be an object: {block}")
        case {"type": "tool_use", "id": id, "name": name} if not all(re.fullmatch(r"[\w-]+", it) for it in (id, name)):
            found.append(f"bad id or name: {block}")
        case {"type": "tool_result"} if not block.get("content", "x").strip():
            found.append("empty result")
        case {"type": "thinking"} if SIGNED.get(block["thinking"]) != block["signature"]:
            found.append(f"invalid signature in thinking block: {block}")
        case {"type": "image", "source": {"type": "base64", "media_type": str(), "data": str()}}:
            pass
        case {"type": "image" | "document", "source": {"type": "url", "url": str(url)}} if url.startswith("https://"):
            pass
        case {"type": "document", "source": {"type": "base64", "media_type": "application/pdf"}}:
            pass
        case {"type": "image" | "document"}:
            found.append(f"bad source: {block}")
    return found


@asynccontextmanager
async def messages_server(*answers: Answer) -> AsyncIterator[MessagesServer]:
    async with listening(MessagesServer(answers=list(answers))) as server:
        yield server
