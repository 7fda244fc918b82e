"""The chat-completions wire: requests written, chunks read. Pure; the client is ``openai_compat``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agents.core.messages import ContentPart, Message, ToolCall, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, ToolSpec, UsageTold
from agents.models.wording import part_text, read_input, result_text, tool_description, user_text, written_input

__all__ = ["ChunkReader", "Dialect", "ThoughtsField", "write_messages", "write_tools"]

ThoughtsField: TypeAlias = Literal["reasoning", "reasoning_content", "reasoning_details"]
"""The names under which services send thoughts. The last is a list of parts, some of them encrypted or signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Where services differ on this wire."""

    provider: str = ""
    """Whose service; what it wants back is kept under this name."""
    model: str = ""
    """Whom is spoken to: parts of thoughts that another model had are not sent back."""
    thoughts: ThoughtsField | None = None
    """The field in which calls want their thoughts back; ``None`` where it would be refused, or is of no use."""


PLAIN = Dialect()
"""What all understand."""

_STOP_REASONS: Mapping[str, str | None] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refusal",
    # Two ways to say that the response is not whole.
    "error": None,
    "insufficient_system_resource": None,
}


def write_messages(request: ModelRequest, dialect: Dialect = PLAIN) -> list[dict[str, Any]]:
    """Write a request's messages, the system prompt first."""
    written = [{"role": "system", "content": request.system_prompt}] if request.system_prompt else []
    return [*written, *(part for message in request.messages for part in _write(message, dialect))]


def write_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Write the tools, some of their examples in the description."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool_description(tool), "parameters": tool.input_schema},
        }
        for tool in tools
    ]


def _write(message: Message, dialect: Dialect) -> Iterator[dict[str, Any]]:
    if message.tool_results:
        for outcome in message.tool_results:
            yield {"role": "tool", "tool_call_id": outcome.call_id, "content": result_text(outcome.result)}
    elif message.sender == "agent":
        written: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        if message.tool_calls:
            written["tool_calls"] = [_write_call(call, dialect) for call in message.tool_calls]
            written |= _thoughts(message, dialect)
        yield written
    elif not message.content:
        yield {"role": "user", "content": user_text(message)}
    else:
        parts = [{"type": "text", "text": user_text(message)}] if message.text else []
        yield {"role": "user", "content": [*parts, *map(_write_part, message.content)]}


def _thoughts(message: Message, dialect: Dialect) -> dict[str, Any]:
    match dialect.thoughts:
        case None:
            return {}
        case "reasoning_details":
            kept = (message.provider_options or {}).get(dialect.provider) or {}
            return {"reasoning_details": kept["thoughts"]} if kept.get("model") == dialect.model else {}
        case "reasoning_content":
            # Also when there are none: DeepSeek refuses a call without the field, whoever made it.
            return {"reasoning_content": message.reasoning_content}
        case "reasoning":
            return {"reasoning": message.reasoning_content} if message.reasoning_content else {}


def _write_call(call: ToolCall, dialect: Dialect) -> dict[str, Any]:
    function = {"name": call.tool_name, "arguments": json.dumps(written_input(call))}
    extra = (call.provider_options or {}).get(dialect.provider) or {}
    return {"id": call.id, "type": "function", "function": function, **extra}


def _write_part(part: ContentPart) -> dict[str, Any]:
    if part.type == "image" and (part.url or part.data):
        url = part.url or f"data:{part.media_type or 'image/png'};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part_text(part)}


@dataclass(slots=True)
class _PartialCall:
    id: str
    name: str
    arguments: str
    extra: dict[str, Any] | None
    """What Google attaches to a call, a signed thought as a rule, and refuses to do without."""


class ChunkReader:
    """Reads the chunks of one response, as plain mappings.

    Args:
        dialect: whose response.
    """

    def __init__(self, dialect: Dialect = PLAIN) -> None:
        self._dialect = dialect
        self._calls: dict[int, _PartialCall] = {}
        self._thoughts = ""
        self._details: dict[tuple[Any, Any], dict[str, Any]] = {}
        self._refused = False
        self._usage = Usage()
        self.stop_reason: str | None = None
        """Why the model stopped; ``None`` while the response is not whole."""

    def feed(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        """Read a chunk.

        Returns:
            What can be passed on already: text, a refusal's too. Calls are whole only at the end.
        """
        events: list[ModelEvent] = []
        if usage := chunk.get("usage"):
            self._usage = _usage(usage)
            if self.stop_reason is None:  # Some servers count as they go; the rest tell once, behind the end.
                events.append(UsageTold(usage=self._usage))
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            if text := delta.get("content") or delta.get("refusal"):
                events.append(TextChunk(text=text))
            self._refused = self._refused or bool(delta.get("refusal"))
            # Some services send the same thought under two names.
            self._thoughts += delta.get("reasoning_content") or delta.get("reasoning") or ""
            for part in delta.get("reasoning_details") or []:
                self._detail(part)
            for position, part in enumerate(delta.get("tool_calls") or []):
                self._add(part, position)
            if reason := choice.get("finish_reason"):
                self.stop_reason = _STOP_REASONS.get(reason, reason)
        return events

    def finish(self) -> list[ModelEvent]:
        """End the response: its calls in order, then the end itself. What a provider held back is not called."""
        stop_reason = "refusal" if self._refused else self.stop_reason
        parts = [] if stop_reason == "refusal" else list(self._calls.values())
        calls = [ToolCalled(call=self._call(part, cut=stop_reason == "length" and part is parts[-1])) for part in parts]
        finished = ModelFinished(
            stop_reason=stop_reason,
            usage=self._usage,
            reasoning_content=self._thoughts,
            provider_options=self._options(),
        )
        return [*calls, finished]

    def _add(self, part: Mapping[str, Any], position: int) -> None:
        index = part.get("index")
        index = position if index is None else index
        function = part.get("function") or {}
        known = self._calls.get(index)
        if known is not None and part.get("id") and part["id"] != known.id:
            # Some servers send whole calls that all have the same index; a new id is a new call.
            index, known = max(self._calls) + 1, None
        if known is None:
            known = self._calls[index] = _PartialCall(id=part.get("id") or "", name="", arguments="", extra=None)
        known.name += function.get("name") or ""
        known.arguments += function.get("arguments") or ""
        known.extra = part.get("extra_content") or known.extra

    def _detail(self, part: Mapping[str, Any]) -> None:
        """Put a part of the thoughts to its beginning; pieces of text go on, all else is said once."""
        known = self._details.setdefault((part.get("index"), part.get("type")), {})
        for name, value in part.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                known[name] = known.get(name, "") + value
            elif value is not None:
                known[name] = value

    def _call(self, part: _PartialCall, *, cut: bool) -> ToolCall:
        options = {self._dialect.provider: {"extra_content": part.extra}} if part.extra else None
        arguments = read_input(part.arguments, cut=cut)
        return ToolCall(id=part.id, tool_name=part.name, input_args=arguments, provider_options=options)

    def _options(self) -> dict[str, Any] | None:
        if not self._details:
            return None
        thoughts = list(self._details.values())
        return {self._dialect.provider: {"model": self._dialect.model, "thoughts": thoughts}}


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens")
    return Usage(
        tokens_in=usage.get("prompt_tokens") or 0,
        tokens_out=usage.get("completion_tokens") or 0,
        # DeepSeek counts beside the others.
        cache_read_input_tokens=usage.get("prompt_cache_hit_tokens") if cached is None else cached,
        cache_creation_input_tokens=details.get("cache_write_tokens"),
    )
