"""What of Gemini's sessions can be chosen, with "left to the provider" and "switched off" told apart.

Above: ``setup`` writes these into a session. Sources of ranges and defaults: the types of google-genai 3.6
(``types.LiveConnectConfig``), and what ai.google.dev says about the Live API.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

__all__ = [
    "API_VERSIONS",
    "DEFAULT_MODEL",
    "UNSET",
    "ActivityDetection",
    "Compression",
    "GeminiOptions",
    "Sensitivity",
    "Unset",
]

DEFAULT_MODEL = "gemini-3.8-live"
"""Stable since September 2026; ``gemini-live-2.5-flash-preview`` was shut down on 2025-12-09."""

API_VERSIONS = ("v1beta", "v1alpha")
"""Those that have live models, the usual one first. The SDK's own default is ``v1``."""


class Unset(Enum):
    """Nothing is sent: the provider decides. ``None`` is sent, or meant: it is switched off."""

    UNSET = "unset"


UNSET = Unset.UNSET

Sensitivity: TypeAlias = Literal["high", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityDetection:
    """How Gemini hears that the caller begins and ends.

    Raises:
        ValueError: a figure is out of range.
    """

    start_sensitivity: Sensitivity | None = None
    """How easily speech is heard to begin; ``None`` here and below: the provider's."""
    end_sensitivity: Sensitivity | None = None
    """How easily it is heard to end."""
    prefix_padding_ms: int | None = None
    """Milliseconds of speech before it counts as begun."""
    silence_duration_ms: int | None = None
    """Milliseconds of silence that end a turn."""

    def __post_init__(self) -> None:
        for name in ("prefix_padding_ms", "silence_duration_ms"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} is a number of milliseconds from 0 on, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A sliding window over a long conversation. Without one, a session of sound ends after 15 minutes.

    Raises:
        ValueError: a figure is out of range.
    """

    trigger_tokens: int | None = None
    """How many tokens there may be before the oldest go; ``None``: the provider's, 80 % of what the model holds."""
    target_tokens: int | None = None
    """How many stay; ``None``: the provider's, half of that."""

    def __post_init__(self) -> None:
        for name in ("trigger_tokens", "target_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is a positive number of tokens, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiOptions:
    """How sessions are set up, beside what a call says."""

    detection: ActivityDetection | Unset | None = UNSET
    """How turns are heard. ``None``: nobody says so but we, even where a call leaves it to the provider."""
    interrupts: bool | Unset = UNSET
    """Whether the caller's voice cuts an answer off; the provider's: yes."""
    turn_covers: Literal["activity", "all_input", "activity_and_video"] | Unset = UNSET
    """What of the input belongs to a turn."""
    compression: Compression | None = field(default_factory=Compression)
    """``None``: none, and the session ends when it is too long."""
    transcribes: bool = True
    """Whether what the caller says is written down. The model itself hears: this is for people and records."""
    temperature: float | Unset = UNSET
    """0 to 2."""
    max_output_tokens: int | Unset = UNSET
    """Of one answer."""

    def __post_init__(self) -> None:
        if isinstance(self.temperature, float | int) and not 0 <= self.temperature <= 2:
            raise ValueError(f"a temperature is from 0 to 2, got {self.temperature}")
        if isinstance(self.max_output_tokens, int) and self.max_output_tokens < 1:
            raise ValueError(f"an answer takes at least one token, got {self.max_output_tokens}")
