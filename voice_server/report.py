"""The report of a call: what `voice-server turn --json` prints, a contract that scripts rely on.

Above: ``transcript`` renders it for people. Below: ``turn`` fills it. Fields may be added within ``v``; none is taken
away.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["Audio", "CallEvent", "CallerTurn", "Latency", "ToolUse", "TurnReport", "Utterance", "UtteranceKind"]

UtteranceKind: TypeAlias = Literal["greeting", "reply", "narration", "apology", "tool_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool call of a turn."""

    name: str
    input: dict[str, Any] = field(default_factory=dict)
    status: Literal["success", "error", "aborted"] = "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Where a turn's time went, in milliseconds; ``None`` for what never happened."""

    endpoint: int | None = None
    """Last speech sample to commit."""
    stt: int | None = None
    """Last speech sample to final text."""
    model: int | None = None
    """Commit to first text; 0 when a draft was ready."""
    tts: int | None = None
    """First text to first audio."""
    voice_to_voice: int | None = None
    """Last speech sample to first agent sample at the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerTurn:
    """One committed turn of the caller's and the answer to it."""

    caller: str
    agent: str = ""
    """The answer's whole text."""
    heard: str = ""
    """What the caller heard of it: a prefix."""
    interrupted: bool = False
    tools: tuple[ToolUse, ...] = ()
    latency_ms: Latency = Latency()


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One thing the agent said."""

    id: int
    kind: UtteranceKind
    turn: int | None
    """Index into ``turns`` of what it answers; ``None`` when it answers nothing."""
    text: str
    heard: str
    interrupted: bool
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """Something that is neither a turn nor an utterance: a backchannel, a cough, an engine that failed."""

    t_ms: int
    type: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """The agent's side of the call as sound."""

    seconds: float = 0.0
    path: str | None = None
    """Where it was written; ``None`` when it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """What happened in a call."""

    conversation: str
    pipeline: str
    agent: str
    stt: str
    tts: str
    model: str
    turns: tuple[CallerTurn, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    events: tuple[CallEvent, ...] = ()
    goals: dict[str, Any] | None = None
    """The goal program's state; ``None`` for an agent without goals."""
    forms: tuple[dict[str, Any], ...] = ()
    """Each form's id, status and values."""
    audio: Audio = Audio()

    def to_json(self) -> dict[str, Any]:
        """Give the contract's object; ``json.dumps`` takes it as it is when tool inputs are JSON."""
        return {"v": 1, **asdict(self)}
