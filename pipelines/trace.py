"""A trace: everything that happened in a call, on one time axis, for those who want to look at it.

Above: ``voice_server.picture`` draws it. Below: nothing; ``voice_server.records.tracing`` makes it of what a call
tells. Times are milliseconds from the start of the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from pipelines.audio.frame import Samples

__all__ = ["Mark", "MarkKind", "Said", "Sentence", "Span", "SpanKind", "Trace", "Wait"]


class SpanKind(StrEnum):
    """What a span of time was spent on."""

    SPEECH = "speech"
    """The caller spoke, by the voice activity detector: first to last speech sample."""
    STT = "stt"
    """The recogniser worked."""
    MODEL = "model"
    """A model call, from request to its last delta."""
    TOOL = "tool"
    """A tool ran; the label is its name."""
    TTS = "tts"
    """The synthesiser worked on one sentence."""
    HOLD = "hold"
    """The output was held: the caller hears silence, nothing is given up."""


class MarkKind(StrEnum):
    """What happened at one moment."""

    PARTIAL = "partial"
    """The recogniser's text so far."""
    FINAL = "final"
    """The recogniser's whole text of a segment."""
    CANCEL = "cancel"
    """An utterance was given up; the label is the evidence."""
    EVENT = "event"
    """Anything else worth a flag: a backchannel, an engine that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Time spent on one thing."""

    kind: SpanKind
    start_ms: float
    end_ms: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One moment."""

    kind: MarkKind
    t_ms: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something the caller said."""

    start_ms: float
    """When its first word began, by the voice activity detector."""
    end_ms: float
    """When its last word ended."""
    text: str
    commit_ms: float | None
    """When it became a turn; ``None``: it was said beside the conversation, an acknowledgement perhaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of the agent's, as it was played."""

    start_ms: float
    """When its first sample was audible."""
    end_ms: float
    """When its last sample was audible, or when it was cut."""
    text: str
    heard: str
    """What the caller heard of ``text``: a prefix of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One turn's way from the caller's last sample to the agent's first; ascending."""

    speech_end_ms: float
    commit_ms: float
    first_text_ms: float
    first_sound_ms: float


@dataclass(slots=True, kw_only=True)
class Trace:
    """A call, recorded. Lists are in the order of appending; readers sort."""

    probabilities: list[tuple[float, float]] = field(default_factory=list)
    """(t_ms of the window's end, probability of speech)."""
    spans: list[Span] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    caller: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    """What the caller's line carried, 16 kHz from 0 ms."""
    agent: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    """What the output played, 24 kHz from 0 ms."""
    entry: float = 0.5
    """Speech begins at this probability."""
    exit: float = 0.35
    """Speech goes on above this probability."""

    def span(self, kind: SpanKind, start_ms: float, end_ms: float, label: str = "") -> None:
        """Record time spent."""
        self.spans.append(Span(kind=kind, start_ms=start_ms, end_ms=end_ms, label=label))

    def mark(self, kind: MarkKind, t_ms: float, label: str = "") -> None:
        """Record a moment."""
        self.marks.append(Mark(kind=kind, t_ms=t_ms, label=label))
