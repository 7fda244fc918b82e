"""What a language model is to the loop: one request in, a stream of events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from agents.core.messages import Message, ToolCall, Usage

__all__ = [
    "Closable",
    "Model",
    "ModelEvent",
    "ModelFinished",
    "ModelRequest",
    "StopReason",
    "TextChunk",
    "ToolCalled",
    "ToolSpec",
    "UsageTold",
    "close_model",
]

StopReason: TypeAlias = Literal["stop", "tool_calls", "length", "refusal"]
"""Why a response ended: all said, tools wanted, cut at a token limit, or held back by the provider.

A provider's own word, where it has one that means none of these.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of an object."""
    examples: tuple[str, ...] = ()
    """Things a caller might say that want this tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Everything a model is given for one response."""

    system_prompt: str
    messages: tuple[Message, ...]
    """In order, every tool call directly followed by its result."""
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """More text of the response."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A complete tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTold:
    """What the response has used so far, where a provider tells before the end. A later one, and the end, replace it.

    It is all there is to know of a response that is stopped.
    """

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished:
    """The response is whole; the last event of a stream."""

    stop_reason: StopReason | str | None = None
    usage: Usage = field(default_factory=Usage)
    reasoning_content: str = ""
    """What the model thought, where its provider shows it."""
    provider_options: dict[str, Any] | None = None
    """What the provider wants back with this response, by provider."""


ModelEvent: TypeAlias = TextChunk | ToolCalled | UsageTold | ModelFinished


class Model(Protocol):
    """A language model, or something that answers in its place."""

    @property
    def name(self) -> str:
        """What it is called in messages and reports, as ``provider:name``."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer. Closing the generator, or cancelling the task that waits in it, ends the call at once.

        Raises:
            ModelError: the model could not answer.
        """
        ...


@runtime_checkable
class Closable(Protocol):
    """A model that holds something open, connections as a rule."""

    async def aclose(self) -> None:
        """Let go of it. The model cannot be used afterwards. Idempotent."""
        ...


async def close_model(model: Model) -> None:
    """Close a model that holds something open; whoever made it does so at the end. Others need no closing."""
    if isinstance(model, Closable):
        await model.aclose()
