"""What a language model is to the loop: one request in, a stream of events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from agents.core.messages import Message, ToolCall, Usage

__all__ = ["Model", "ModelEvent", "ModelFinished", "ModelRequest", "TextChunk", "ToolCalled", "ToolSpec"]


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
class ModelFinished:
    """The response is whole; the last event of a stream."""

    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)


ModelEvent: TypeAlias = TextChunk | ToolCalled | ModelFinished


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
