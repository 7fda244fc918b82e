"""The chat-completions wire: requests written, chunks read. Pure; the client is ``openai_compat``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.core.messages import ContentPart, Message, ToolCall, ToolResultData, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, ToolSpec

__all__ = ["ChunkReader", "result_text", "write_messages", "write_tools"]

CONTEXT_PREFIX = "[Context from the system; the caller did not say this.] "
"""Marks what the framework tells the model, for the wire knows only the user's side to put it on."""

EXAMPLES_SHOWN = 3
"""Utterances added to a tool's description: enough to show the kind, few enough to cost little."""


def write_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Write a request's messages, the system prompt first."""
    written = [{"role": "system", "content": request.system_prompt}] if request.system_prompt else []
    return [*written, *(part for message in request.messages for part in _write(message))]


def write_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Write the tools, some of their examples in the description."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": _description(tool), "parameters": tool.input_schema},
        }
        for tool in tools
    ]


def result_text(result: ToolResultData) -> str:
    """Write a tool result as the model reads it: text as it is, anything else as JSON, an error with its message."""
    data = result.data if isinstance(result.data, str) else json.dumps(result.data, ensure_ascii=False, default=str)
    if result.status == "success":
        return data
    failure = f"{'Error' if result.status == 'error' else 'Aborted'}: {result.message or 'no reason given'}"
    return failure if result.data is None else f"{failure}\n{data}"


def _description(tool: ToolSpec) -> str:
    if not tool.examples:
        return tool.description
    examples = "; ".join(f'"{example}"' for example in tool.examples[:EXAMPLES_SHOWN])
    return f"{tool.description} A caller may say: {examples}."


def _write(message: Message) -> Iterator[dict[str, Any]]:
    if message.tool_results:
        for outcome in message.tool_results:
            yield {"role": "tool", "tool_call_id": outcome.call_id, "content": result_text(outcome.result)}
    elif message.sender == "agent":
        written: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        if message.tool_calls:
            written["tool_calls"] = [_write_call(call) for call in message.tool_calls]
        yield written
    else:
        text = f"{CONTEXT_PREFIX}{message.text}" if message.framework_context else message.text
        if not message.content:
            yield {"role": "user", "content": text}
        else:
            parts = [{"type": "text", "text": text}] if text else []
            yield {"role": "user", "content": [*parts, *map(_write_part, message.content)]}


def _write_call(call: ToolCall) -> dict[str, Any]:
    arguments = call.input_args if isinstance(call.input_args, str) else json.dumps(call.input_args)
    return {"id": call.id, "type": "function", "function": {"name": call.tool_name, "arguments": arguments}}


def _write_part(part: ContentPart) -> dict[str, Any]:
    if part.type == "image" and (part.url or part.data):
        url = part.url or f"data:{part.media_type or 'image/png'};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part.text or f"[{part.type} {part.name or 'without a name'}]"}


@dataclass(slots=True)
class _PartialCall:
    id: str
    name: str
    arguments: str


class ChunkReader:
    """Reads the chunks of one response, as plain mappings."""

    def __init__(self) -> None:
        self._calls: dict[int, _PartialCall] = {}
        self._usage = Usage()
        self.stop_reason: str | None = None
        """Why the model stopped; ``None`` while the response is not whole."""

    def feed(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        """Read a chunk.

        Returns:
            What can be passed on already: text. Calls are whole only at the end.
        """
        if usage := chunk.get("usage"):
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
            self._usage = Usage(
                tokens_in=usage.get("prompt_tokens") or 0,
                tokens_out=usage.get("completion_tokens") or 0,
                cache_read_input_tokens=cached,
            )
        events: list[ModelEvent] = []
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            if text := delta.get("content") or delta.get("refusal"):
                events.append(TextChunk(text=text))
            for position, part in enumerate(delta.get("tool_calls") or []):
                self._add(part, position)
            self.stop_reason = choice.get("finish_reason") or self.stop_reason
        return events

    def finish(self) -> list[ModelEvent]:
        """End the response: its calls in order, then the end itself."""
        calls = [
            ToolCalled(call=ToolCall(id=part.id, tool_name=part.name, input_args=_arguments(part.arguments)))
            for part in self._calls.values()
        ]
        return [*calls, ModelFinished(stop_reason=self.stop_reason, usage=self._usage)]

    def _add(self, part: Mapping[str, Any], position: int) -> None:
        index = part.get("index")
        index = position if index is None else index
        function = part.get("function") or {}
        known = self._calls.get(index)
        if known is not None and part.get("id") and part["id"] != known.id:
            # Some servers send whole calls that all have the same index; a new id is a new call.
            index, known = max(self._calls) + 1, None
        if known is None:
            self._calls[index] = _PartialCall(
                id=part.get("id") or "", name=function.get("name") or "", arguments=function.get("arguments") or ""
            )
            return
        known.name += function.get("name") or ""
        known.arguments += function.get("arguments") or ""


def _arguments(text: str) -> Any:
    """Read a call's arguments; what is no JSON stays text, for the executor to refuse."""
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError:
        return text
