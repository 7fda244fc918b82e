"""What of OpenAI's sessions can be chosen, with "left to the provider" and "switched off" told apart.

Above: ``wire`` writes these into a session. Sources of ranges and defaults: the types of OpenAI's SDK 3.57
(``types/realtime``), which are its API reference.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

__all__ = [
    "DEFAULT_MODEL",
    "DEFAULT_TRANSCRIPTION",
    "UNSET",
    "NoiseReduction",
    "OpenAIOptions",
    "RetentionRatio",
    "SemanticVad",
    "ServerVad",
    "Transcription",
    "TruncationOption",
    "TurnDetectionOption",
    "Unset",
]

DEFAULT_MODEL = "gpt-realtime-2.1"
"""What OpenAI recommends in place of ``gpt-realtime``, which it shuts down on 2027-01-20."""

DEFAULT_TRANSCRIPTION = "gpt-4o-mini-transcribe"
"""Writes down the caller beside a realtime model; to be shut down on 2027-02-26, without a named successor there."""


class Unset(Enum):
    """Nothing is sent: the provider decides. ``None`` is sent, as null: it is switched off."""

    UNSET = "unset"


UNSET = Unset.UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerVad:
    """Turns end with silence.

    Raises:
        ValueError: a figure is out of range.
    """

    threshold: float | None = None
    """Probability, 0 to 1, at which a sound is speech; ``None`` here and below: the provider's, 0.5."""
    prefix_padding_ms: int | None = None
    """Milliseconds before speech that belong to it; the provider's: 300."""
    silence_duration_ms: int | None = None
    """Milliseconds of silence that end a turn; the provider's: 500."""
    idle_timeout_ms: int | Unset | None = UNSET
    """Milliseconds of silence after an answer before the model speaks again by itself; ``None``: never."""
    create_response: bool | None = None
    """Whether a turn is answered by itself; the provider's: yes."""
    interrupt_response: bool | None = None
    """Whether the caller's voice cancels an answer; the provider's: yes."""

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold is a probability from 0 to 1, got {self.threshold}")
        for name in ("prefix_padding_ms", "silence_duration_ms", "idle_timeout_ms"):
            value = getattr(self, name)
            if isinstance(value, int) and value < 0:
                raise ValueError(f"{name} is a number of milliseconds from 0 on, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticVad:
    """Turns end when the words sound finished."""

    eagerness: Literal["low", "medium", "high", "auto"] | None = None
    """How soon: within 8, 4 or 2 seconds; ``None``: the provider's, auto, which is medium."""
    create_response: bool | None = None
    """As in :class:`ServerVad`."""
    interrupt_response: bool | None = None
    """As in :class:`ServerVad`."""


TurnDetectionOption: TypeAlias = ServerVad | SemanticVad


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRatio:
    """When the conversation grows too long, more than has to is dropped at once: cheaper, for what is left is cached.

    Raises:
        ValueError: a figure is out of range.
    """

    retention_ratio: float
    """How much of the conversation stays, 0 to 1."""
    post_instructions_tokens: int | None = None
    """Tokens behind the instructions at which it is too long; ``None``: what the model holds."""

    def __post_init__(self) -> None:
        if not 0 <= self.retention_ratio <= 1:
            raise ValueError(f"a retention ratio is from 0 to 1, got {self.retention_ratio}")
        if self.post_instructions_tokens is not None and self.post_instructions_tokens < 1:
            raise ValueError(f"a limit is a positive number of tokens, got {self.post_instructions_tokens}")


TruncationOption: TypeAlias = RetentionRatio | Literal["auto", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """Who writes down what the caller says. The model itself hears: this is for people and records."""

    model: str = DEFAULT_TRANSCRIPTION
    language: str | None = None
    """ISO 639-1, such as ``en``; ``None``: it finds out."""
    prompt: str | None = None
    """What to expect, for those models that take it."""


NoiseReduction: TypeAlias = Literal["near_field", "far_field"]
"""``near_field`` for headsets and handsets, ``far_field`` for laptops and rooms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """How sessions are set up, beside what a call says."""

    turn_detection: TurnDetectionOption | Unset | None = field(default_factory=SemanticVad)
    """Whose turn it is. ``None``: nobody says so but we, even where a call leaves it to the provider."""
    truncation: TruncationOption | Unset = UNSET
    """What is dropped from a conversation that is too long."""
    transcription: Transcription | Unset | None = field(default_factory=Transcription)
    """``None``: what the caller says is not written down."""
    noise_reduction: NoiseReduction | Unset | None = UNSET
    speed: float | Unset = UNSET
    """Of the voice, 0.25 to 1.5."""
    max_output_tokens: int | Literal["inf"] | Unset = UNSET
    """Of one answer, 1 to 4096."""

    def __post_init__(self) -> None:
        if isinstance(self.speed, float | int) and not 0.25 <= self.speed <= 1.5:
            raise ValueError(f"a voice's speed is from 0.25 to 1.5, got {self.speed}")
        if isinstance(self.max_output_tokens, int) and not 1 <= self.max_output_tokens <= 4096:
            raise ValueError(f"an answer takes 1 to 4096 tokens, or 'inf', got {self.max_output_tokens}")
