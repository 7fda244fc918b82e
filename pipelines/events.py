"""What a call tells the outside. Every event is a fact that has happened; the teller stamps the time.

Above: transports, records and the turn picture read them. Below: nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from pipelines.playout.utterance import UtteranceKind
from pipelines.turns.events import Cause, NoteKind

__all__ = [
    "CallEvent",
    "CallerMuted",
    "CompactionBegan",
    "CompactionEnded",
    "Engine",
    "EngineTrouble",
    "OutputHeld",
    "OutputResumed",
    "ReplyWorded",
    "SentenceRendered",
    "SoundIgnored",
    "SpeechBegan",
    "SpeechOver",
    "Tell",
    "TokensSpent",
    "ToolCalled",
    "ToolReturned",
    "TranscriptHeard",
    "TurnCommitted",
    "TurnWorded",
    "UtteranceCancelled",
    "UtteranceEnded",
    "UtteranceHeard",
    "UtteranceStarted",
    "careful",
    "tell_all",
    "trouble",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerMuted:
    """The caller's microphone is listened to, or not."""

    type: ClassVar[str] = "caller_muted"
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechBegan:
    """Perhaps the caller speaks."""

    type: ClassVar[str] = "speech_began"
    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechOver:
    """The caller's sound ended. Times are seconds of the call's clock."""

    type: ClassVar[str] = "speech_over"
    segment: int
    started_at: float
    ended_at: float
    """When the last speech window ended, earlier than this event."""
    voiced_s: float
    confirmed: bool
    """Whether it was long enough to be speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptHeard:
    """The recogniser's text of a segment; a later one replaces it."""

    type: ClassVar[str] = "transcript"
    segment: int
    text: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundIgnored:
    """A sound that is no turn, and why."""

    type: ClassVar[str] = "sound_ignored"
    kind: NoteKind
    text: str
    measures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputHeld:
    """The agent fell silent, to go on or to stop."""

    type: ClassVar[str] = "output_held"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputResumed:
    """The agent may go on."""

    type: ClassVar[str] = "output_resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCommitted:
    """The caller's words are a turn. Times are seconds of the call's clock."""

    type: ClassVar[str] = "turn_committed"
    turn: int
    utterance: int
    text: str
    ended_at: float
    """When the caller's speech ended."""
    heard_at: float
    """When its final text was there."""
    reason: str
    """Why it was waited as long as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWorded:
    """The words of a turn that was committed, perhaps answered, before they were written down.

    They replace its text, and a later event replaces an earlier one.
    """

    type: ClassVar[str] = "turn_worded"
    turn: int
    text: str
    """All of the turn's words."""
    heard_at: float
    """When they were there, seconds of the call's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensSpent:
    """A speech-to-speech model's reply cost so much; a turn may take several."""

    type: ClassVar[str] = "tokens_spent"
    turn: int | None
    """The turn it answered; ``None``: none."""
    audio_in: int
    audio_out: int
    text_in: int
    text_out: int
    cached_in: int
    """Of those that went in, served from a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyWorded:
    """The first text of a reply is there."""

    type: ClassVar[str] = "reply_worded"
    turn: int
    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionBegan:
    """The agent sums up a conversation that has become long; until it has, nothing more of the reply comes."""

    type: ClassVar[str] = "compaction_began"
    turn: int | None
    """The turn that waits for it; ``None``: the result of a slow tool does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEnded:
    """The agent goes on, or was stopped. One for every beginning."""

    type: ClassVar[str] = "compaction_ended"
    turn: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """The model called a tool."""

    type: ClassVar[str] = "tool_called"
    turn: int | None
    """``None``: when the result of a slow tool was told."""
    call_id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """A tool call ended."""

    type: ClassVar[str] = "tool_returned"
    turn: int | None
    """The turn it was called in, however late it returns."""
    call_id: str
    name: str
    status: Literal["success", "error", "aborted"]
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRendered:
    """A sentence of the agent's became audio. Times are seconds of the call's clock."""

    type: ClassVar[str] = "sentence_rendered"
    utterance: int
    text: str
    asked_at: float
    seconds: float
    """Of audio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceStarted:
    """The first sample of an utterance is at the output."""

    type: ClassVar[str] = "utterance_started"
    utterance: int
    kind: UtteranceKind
    turn: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceHeard:
    """More words of an utterance are proven heard. What is proven after it was cut, ``UtteranceEnded`` tells alone."""

    type: ClassVar[str] = "utterance_heard"
    utterance: int
    heard: str
    """All of it so far: a prefix of its text that ends with a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceCancelled:
    """An utterance was given up."""

    type: ClassVar[str] = "utterance_cancelled"
    utterance: int
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceEnded:
    """An utterance is over, and what was heard of it is final. Exactly one per utterance."""

    type: ClassVar[str] = "utterance_ended"
    utterance: int
    kind: UtteranceKind
    turn: int | None
    text: str
    heard: str
    """A prefix of ``text`` that ends with a word."""
    interrupted: bool
    estimated: bool
    """The output never proved that it played it."""


Engine: TypeAlias = Literal["vad", "recognizer", "model", "synthesizer", "output", "store"]
"""What can fail in a call without ending it. A store has trouble when others write to the same conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTrouble:
    """An engine failed; the call goes on."""

    type: ClassVar[str] = "engine_trouble"
    engine: Engine
    reason: str


CallEvent: TypeAlias = (
    CallerMuted
    | CompactionBegan
    | CompactionEnded
    | SpeechBegan
    | SpeechOver
    | TranscriptHeard
    | SoundIgnored
    | OutputHeld
    | OutputResumed
    | TurnCommitted
    | TurnWorded
    | TokensSpent
    | ReplyWorded
    | ToolCalled
    | ToolReturned
    | SentenceRendered
    | UtteranceStarted
    | UtteranceHeard
    | UtteranceCancelled
    | UtteranceEnded
    | EngineTrouble
)

Tell: TypeAlias = Callable[[CallEvent], None]
"""Takes an event; called on the call's loop, returns at once."""


def trouble(engine: Engine, error: Exception, *, known: type[Exception] | None = None) -> EngineTrouble:
    """Make an event of an exception.

    Args:
        engine: what failed.
        error: what it raised.
        known: the error it is documented to raise, whose message may be shown; another may quote the caller, so that
            only its kind is.
    """
    shown = known is not None and isinstance(error, known)
    return EngineTrouble(engine=engine, reason=str(error) if shown else f"it raised {type(error).__name__}")


def careful(tell: Tell) -> Tell:
    """Wrap what tells a host, so that one that fails is complained of on the running loop and does not end the call."""

    def told(event: CallEvent) -> None:
        try:
            tell(event)
        except Exception as error:  # noqa: BLE001 - a host's boundary
            context = {"message": f"who was told of {event.type!r} failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    return told


def tell_all(*tells: Tell) -> Tell:
    """Make one of several that are told; one that fails is complained of and does not keep an event from the others."""
    wrapped = [careful(tell) for tell in tells]

    def told(event: CallEvent) -> None:
        for tell in wrapped:
            tell(event)

    return told
