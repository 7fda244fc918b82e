"""What a conversation is made of: immutable messages and, beside them, what was heard of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agents.core.expectation import ExpectedAnswer

__all__ = [
    "ContentPart",
    "FrameworkContext",
    "Message",
    "Sender",
    "Settlement",
    "ToolCall",
    "ToolResult",
    "ToolResultData",
    "ToolStatus",
    "Usage",
]

Sender: TypeAlias = Literal["user", "agent"]
FrameworkContext: TypeAlias = Literal["runtime", "inbox", "tool_result"]
ToolStatus: TypeAlias = Literal["success", "error", "aborted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPart:
    """A piece of a message that is more than its text."""

    type: Literal["text", "image", "video", "document"]
    text: str | None = None
    name: str | None = None
    media_type: str | None = None
    data: str | None = None
    """Base64, when the part carries its bytes."""
    url: str | None = None
    """Where the bytes are, when it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model wants a tool run."""

    id: str
    tool_name: str
    input_args: Any
    """A JSON object; the raw text when the model wrote something that is none, or was cut while writing it."""
    provider_options: dict[str, Any] | None = None
    """What a provider attached to the call and wants back with it, by provider. JSON; never read by others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultData:
    """How a tool call ended."""

    status: ToolStatus
    data: Any = None
    """JSON for the model."""
    message: str | None = None
    """What went wrong, when something did."""
    render_data: Any = None
    """For a screen only; never sent to the model."""
    summary: str | None = None
    """What later turns are shown instead of ``data``, where tool-result summaries are enabled."""
    generate_summary_args: Any = None
    """What the tool's ``generate_summary`` makes the summary from; JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of one call."""

    tool_name: str
    call_id: str
    result: ToolResultData
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of the append-only history."""

    sender: Sender
    text: str = ""
    id: str = ""
    content: tuple[ContentPart, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    framework_context: FrameworkContext | None = None
    """Set on what the framework tells the model by the user's side of the conversation. A ``tool_result`` is the late
    result of a call that outlived its round: it is in ``tool_results``, and shown to the model as text."""
    reasoning_content: str = ""
    """What the model thought before it spoke, as far as its provider shows it. Never spoken."""
    provider_options: dict[str, Any] | None = None
    """What a provider wants back with this message (signed thoughts, say), by provider. JSON; never read by others."""
    is_compaction: bool = False
    """Whether this sums up everything before it; the model is shown nothing older."""
    is_compaction_request: bool = False
    """Whether this asks for such a summary; never stored."""
    expected: ExpectedAnswer | None = None
    """What sort of answer the agent waits for after this, so that whoever goes on with the conversation knows."""

    @property
    def from_person(self) -> bool:
        """Whether a person said this: no tool results and nothing of the framework's."""
        framework = self.framework_context or self.is_compaction or self.is_compaction_request
        return self.sender == "user" and not self.tool_results and not framework


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What was heard of an agent message; a record of its own, the full text stays."""

    message_id: str
    heard: str
    interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call; ``None`` where the provider does not say."""

    tokens_in: int = 0
    """All of the input, what came from a cache or went into one included."""
    tokens_out: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        """Count both; a figure neither tells stays unknown."""
        return Usage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cache_read_input_tokens=_both(self.cache_read_input_tokens, other.cache_read_input_tokens),
            cache_creation_input_tokens=_both(self.cache_creation_input_tokens, other.cache_creation_input_tokens),
        )


def _both(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
