"""The wires there are, each behind the same handful of verbs, so that one script can be run over all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agents.core.model import Model
from agents.models.anthropic import AnthropicModel
from agents.models.openai_compat import OpenAICompatible
from tests.agents.models import completions_server as completions
from tests.agents.models import messages_server as messages
from tests.agents.models.wire_server import Answer, WireServer

CACHED = {
    "prompt_tokens": 20,
    "completion_tokens": 7,
    "total_tokens": 27,
    "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 6},
}


@dataclass(frozen=True, kw_only=True)
class Say:
    pieces: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Think:
    pieces: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A tool call, its input in pieces of text."""

    id: str
    name: str
    pieces: Sequence[str] = ("{}",)


Step: TypeAlias = Say | Think | Ask


@dataclass(frozen=True, kw_only=True)
class Wire:
    """A wire format with its strict server and our adapter."""

    serve: Callable[..., AbstractAsyncContextManager[WireServer]]
    make: Callable[..., Model]
    chunks: Callable[[Sequence[Step]], list[dict[str, Any]]]
    ends: Mapping[str, str]
    """Our stop reasons in the wire's words."""
    outline: Callable[[Mapping[str, Any]], list[str]]
    """What a request's messages say, in short and alike on all wires."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, *steps: Step, end: str = "stop", **more: Any) -> Answer:
        return Answer(chunks=self.chunks(steps), finish=self.ends[end], **more)

    def model(self, server: WireServer, **settings: Any) -> Model:
        return self.make(
            "m", provider="test", base_url=server.url, api_key="sk-secret", **{"silence_timeout_s": 5.0} | settings,
            **self.facts,
        )  # fmt: skip


def _message_chunks(steps: Sequence[Step]) -> list[dict[str, Any]]:
    chunks: list[dict[str, Any]] = []
    for index, step in enumerate(steps):
        match step:
            case Say():
                chunks += messages.text(index, *step.pieces)
            case Think():
                chunks += messages.thought(index, *step.pieces)
            case Ask():
                chunks += messages.call(index, step.id, step.name, *step.pieces)
    return chunks


def _completion_chunks(thoughts: str) -> Callable[[Sequence[Step]], list[dict[str, Any]]]:
    def chunks(steps: Sequence[Step]) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        asked = 0
        for step in steps:
            match step:
                case Say():
                    made += [completions.text(piece) for piece in step.pieces]
                case Think():
                    made += [{thoughts: piece} for piece in step.pieces]
                case Ask():
                    made.append(completions.call(asked, id=step.id, name=step.name))
                    made += [completions.call(asked, arguments=piece) for piece in step.pieces]
                    asked += 1
        return made

    return chunks


def _message_outline(body: Mapping[str, Any]) -> list[str]:
    lines = []
    for message in body["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    lines.append(f"{message['role']}: {block['text']}")
                case "tool_use":
                    lines.append(f"call {block['id']} {block['name']} {json.dumps(block['input'])}")
                case "tool_result":
                    lines.append(f"result {block['tool_use_id']} {block.get('content', '')}")
                case "thinking":
                    lines.append(f"thought {block['thinking']}")
                case kind:
                    lines.append(f"{message['role']}: <{kind}>")
    return lines


def _completion_outline(body: Mapping[str, Any]) -> list[str]:
    lines = []
    for message in body["messages"]:
        content = message["content"]
        lines += [f"thought {message[name]}" for name in ("reasoning_content", "reasoning") if message.get(name)]
        if message["role"] == "tool":
            lines.append(f"result {message['tool_call_id']} {content}")
        elif message["role"] != "system" and content:
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            lines += [f"{message['role']}: {part.get('text', '<image>')}" for part in parts]
        for made in message.get("tool_calls", []):
            lines.append(f"call {made['id']} {made['function']['name']} {made['function']['arguments']}")
    return lines


def _completions(wants: str | None, thoughts: str) -> Wire:
    def serve(*answers: Answer) -> AbstractAsyncContextManager[WireServer]:
        return completions.completions_server(*answers, wants=wants, usage=CACHED)

    return Wire(
        serve=serve,
        make=OpenAICompatible,
        chunks=_completion_chunks(thoughts),
        ends={"stop": "stop", "tool_calls": "tool_calls", "length": "length", "refusal": "content_filter"},
        outline=_completion_outline,
        facts={"thoughts": wants},
    )


WIRES = {
    "anthropic": Wire(
        serve=messages.messages_server,
        make=AnthropicModel,
        chunks=_message_chunks,
        ends={"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "refusal": "refusal"},
        outline=_message_outline,
    ),
    "openai": _completions(None, "reasoning"),
    "deepseek": _completions("reasoning_content", "reasoning_content"),
}
