"""Anthropic's Messages wire: requests written, events read. Pure; the client is ``anthropic``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.core.messages import ContentPart, Message, ToolCall, ToolResult, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, ToolSpec, UsageTold
from agents.models.wording import (
    CONTEXT_PREFIX,
    part_text,
    read_input,
    result_text,
    tool_description,
    user_text,
    written_input,
)

__all__ = ["EventReader", "write_body"]

OPENING = f"{CONTEXT_PREFIX}The conversation begins."
"""Said on the user's side when the agent spoke first: the wire wants the user to begin."""

CLOSING = f"{CONTEXT_PREFIX}Nothing was said since; go on."
"""Said on the user's side when the agent spoke last: the wire would take the agent's words for a beginning to end."""

CACHED_TURNS = 2
"""User turns marked for the cache: the latest is written, the one before is where the previous call's prefix is found
even if the latest added more blocks than the service looks back over (20)."""

_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
"""What the wire takes in no id and no tool name; another provider may have made them."""


def write_body(request: ModelRequest, *, model: str) -> dict[str, Any]:
    """Write what a request says: system prompt, tools and messages, marked for the cache.

    Tools and system prompt are one cached prefix, the history is another. What the framework tells the model just now
    is behind both marks, so that it never makes the service forget what it has read.

    Args:
        request: what to write.
        model: whom it is for; the signed thoughts of other models are left out.
    """
    body: dict[str, Any] = {"messages": write_messages(request.messages, model=model)}
    tools = [_write_tool(tool) for tool in request.tools]
    if tools:
        body["tools"] = tools
    if request.system_prompt.strip():
        body["system"] = [_cached({"type": "text", "text": request.system_prompt})]
    elif tools:
        tools[-1] = _cached(tools[-1])
    return body


def write_messages(messages: Sequence[Message], *, model: str) -> list[dict[str, Any]]:
    """Write the messages as turns of user and assistant in alternation, the user first and last."""
    stable = len(messages)
    while stable and messages[stable - 1].framework_context == "runtime":
        stable -= 1
    turns: list[dict[str, Any]] = []
    for message in messages[:stable]:
        _add(turns, message, model)
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
    for turn in [turn for turn in turns if turn["role"] == "user"][-CACHED_TURNS:]:
        turn["content"][-1] = _cached(turn["content"][-1])
    for message in messages[stable:]:
        _add(turns, message, model)
    if not turns or turns[-1]["role"] == "assistant":
        turns.append({"role": "user", "content": [{"type": "text", "text": CLOSING if turns else OPENING}]})
    return turns


def _cached(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": {"type": "ephemeral"}}


def _write_tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool_description(tool), "input_schema": tool.input_schema}


def _add(turns: list[dict[str, Any]], message: Message, model: str) -> None:
    agent = message.sender == "agent"
    role = "assistant" if agent else "user"
    blocks = list(_agent_blocks(message, model) if agent else _user_blocks(message))
    if not blocks:
        return
    if turns and turns[-1]["role"] == role:
        turns[-1]["content"].extend(blocks)
    else:
        turns.append({"role": role, "content": blocks})


def _user_blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message.tool_results:
        yield from map(_write_result, message.tool_results)
        return
    yield from map(_write_part, message.content)
    if message.text.strip():
        yield {"type": "text", "text": user_text(message)}


def _agent_blocks(message: Message, model: str) -> Iterator[dict[str, Any]]:
    """Write a response as it was laid out, so that its signed thoughts stand where they stood."""
    text, calls = message.text, [_write_call(call) for call in message.tool_calls]
    kept = (message.provider_options or {}).get("anthropic") or {}
    layout = kept["blocks"] if kept.get("model") == model else []
    for block in layout:
        match block["type"]:
            case "text":
                said, text = text[: block["characters"]], text[block["characters"] :]
                if said.strip():
                    yield {"type": "text", "text": said}
            case "tool_use":
                yield from calls[:1]
                del calls[:1]
            case _ if message.text.strip() or message.tool_calls:
                yield dict(block)
    if text.strip():
        yield {"type": "text", "text": text}
    yield from calls


def _write_call(call: ToolCall) -> dict[str, Any]:
    name = _NOT_IN_NAMES.sub("_", call.tool_name)
    return {"type": "tool_use", "id": _NOT_IN_NAMES.sub("_", call.id), "name": name, "input": written_input(call)}


def _write_result(outcome: ToolResult) -> dict[str, Any]:
    written: dict[str, Any] = {"type": "tool_result", "tool_use_id": _NOT_IN_NAMES.sub("_", outcome.call_id)}
    if (text := result_text(outcome.result)).strip():
        written["content"] = text
    if outcome.result.status != "success":
        written["is_error"] = True
    return written


def _write_part(part: ContentPart) -> dict[str, Any]:
    source: dict[str, Any] | None = None
    if part.data:
        media_type = part.media_type or ("application/pdf" if part.type == "document" else "image/png")
        source = {"type": "base64", "media_type": media_type, "data": part.data}
    elif part.url:
        source = {"type": "url", "url": part.url}
    if source is None or part.type not in ("image", "document"):
        return {"type": "text", "text": part_text(part)}
    return {"type": part.type, "source": source}


@dataclass(slots=True)
class _Block:
    """A block of the response as far as it has come."""

    kind: str
    text: str = ""
    """Words, thoughts or the call's input, by kind."""
    id: str = ""
    name: str = ""
    input: Any = None
    """A call's input when it came whole; some services that speak this wire send it so."""
    signature: str = ""
    data: str = ""

    def layout(self) -> dict[str, Any] | None:
        """What must be known of the block to write it again at its place; ``None`` when it is not to be written."""
        match self.kind:
            case "text":
                return {"type": "text", "characters": len(self.text)}
            case "tool_use":
                return {"type": "tool_use"}
            case "thinking" if self.signature:  # A thought that was cut has none, and would be refused.
                return {"type": "thinking", "thinking": self.text, "signature": self.signature}
            case "redacted_thinking":
                return {"type": "redacted_thinking", "data": self.data}
        return None


_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Kinds of deltas, each with the key of the text it brings."""


class EventReader:
    """Reads the events of one response, as plain mappings.

    Args:
        model: whose response; noted beside its signed thoughts.
    """

    def __init__(self, *, model: str) -> None:
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self.stop_reason: str | None = None
        """Why the model stopped; ``None`` while the response is not whole."""

    def feed(self, event: Mapping[str, Any]) -> list[ModelEvent]:
        """Read an event; kinds that are not known are passed over, as the service asks of its clients.

        Returns:
            What can be passed on already: text, and what was used. A call is trusted only when the end is known.
        """
        match event.get("type"):
            case "message_start":
                self._count((event.get("message") or {}).get("usage"))
                return [UsageTold(usage=self._total())] if self._usage else []
            case "content_block_start":
                return self._open(event["index"], event["content_block"])
            case "content_block_delta":
                return self._extend(self._blocks[event["index"]], event["delta"])
            case "message_delta":
                if reason := (event.get("delta") or {}).get("stop_reason"):
                    self.stop_reason = _STOP_REASONS.get(reason, reason)
                self._count(event.get("usage"))
        return []

    def finish(self) -> list[ModelEvent]:
        """End the response: its calls in order, then the end itself. What a provider held back is not called."""
        events: list[ModelEvent] = []
        if self.stop_reason != "refusal":
            blocks = list(self._blocks.values())
            events.extend(
                ToolCalled(call=self._call(block, cut=self.stop_reason == "length" and block is blocks[-1]))
                for block in blocks
                if block.kind == "tool_use"
            )
        thoughts = [block.text for block in self._blocks.values() if block.kind == "thinking" and block.text]
        finished = ModelFinished(
            stop_reason=self.stop_reason,
            usage=self._total(),
            reasoning_content="\n\n".join(thoughts),
            provider_options=self._options(),
        )
        return [*events, finished]

    def _open(self, index: int, block: Mapping[str, Any]) -> list[ModelEvent]:
        self._blocks[index] = _Block(
            kind=block["type"],
            text=block.get("text") or block.get("thinking") or "",
            id=block.get("id") or "",
            name=block.get("name") or "",
            input=block.get("input"),
            signature=block.get("signature") or "",
            data=block.get("data") or "",
        )
        return [TextChunk(text=text)] if (text := block.get("text")) else []

    def _extend(self, block: _Block, delta: Mapping[str, Any]) -> list[ModelEvent]:
        if delta["type"] == "signature_delta":
            block.signature += delta["signature"]
        elif key := _DELTAS.get(delta["type"]):
            block.text += delta[key]
            if key == "text" and delta[key]:
                return [TextChunk(text=delta[key])]
        return []

    def _call(self, block: _Block, *, cut: bool) -> ToolCall:
        whole = block.input if block.input and not block.text else None
        return ToolCall(id=block.id, tool_name=block.name, input_args=whole or read_input(block.text, cut=cut))

    def _options(self) -> dict[str, Any] | None:
        layout = [written for block in self._blocks.values() if (written := block.layout())]
        if all(written["type"] in ("text", "tool_use") for written in layout):
            return None
        return {"anthropic": {"model": self._model, "blocks": layout}}

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """Note what was used; later counts are of everything so far, and replace earlier ones."""
        self._usage |= {name: count for name, count in (usage or {}).items() if isinstance(count, int)}

    def _total(self) -> Usage:
        read, written = (self._usage.get(f"cache_{kind}_input_tokens") for kind in ("read", "creation"))
        return Usage(
            tokens_in=self._usage.get("input_tokens", 0) + (read or 0) + (written or 0),
            tokens_out=self._usage.get("output_tokens", 0),
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
        )
