"""What the turn machine is told and what it decides: the vocabulary of turn-taking."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from pipelines.playout.utterance import UtteranceKind
from pipelines.responder import Expectation
from pipelines.vad.detector import SpeechEnded, SpeechMisfired, SpeechProgressed, SpeechStarted

__all__ = [
    "Cancel",
    "Cause",
    "Commit",
    "CutSound",
    "DisplayBlocked",
    "Drop",
    "EngineFailed",
    "HearingFailed",
    "Hold",
    "Note",
    "NoteKind",
    "Prepare",
    "Report",
    "ResultReady",
    "Resume",
    "Speak",
    "TalkBegan",
    "TalkEnded",
    "TurnAction",
    "TurnEvent",
    "UtteranceAdvanced",
    "UtteranceBegan",
    "UtteranceGrew",
    "UtteranceOver",
    "UtteranceWritten",
    "WordsHeard",
]


# ---------------------------------------------------------------------------------------------------- what it is told


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkBegan:
    """The caller pressed the button to talk."""

    at: float
    """Seconds of the call's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkEnded:
    """The caller let the button go: what they said is their turn."""

    at: float
    level: float
    """Loudest window, RMS, full scale 1."""
    sureness: float
    """Highest speech probability; nothing is decided by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsHeard:
    """The recogniser's text of a segment; a later one replaces it, a final one ends it."""

    segment: int
    text: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HearingFailed:
    """The recogniser will never give a final for the segment, which has ended."""

    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFailed:
    """A recogniser, model or synthesiser failed; the caller is owed one honest sentence."""

    engine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceGrew:
    """More text of an utterance is going to be spoken."""

    utterance: int
    text: str
    """All of it so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceWritten:
    """All of an utterance's text is known."""

    utterance: int
    question_end: int | None
    """Offset at which its question has been asked; ``None`` when it asks nothing."""
    expectation: Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceBegan:
    """The first sample of an utterance is at the output."""

    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceAdvanced:
    """More of an utterance is proven heard."""

    utterance: int
    heard_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceOver:
    """An utterance is settled, whole or cut."""

    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayBlocked:
    """A display slot began or ceased to wait for an answer."""

    blocked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultReady:
    """A slow tool has a result, which is to be told when nobody speaks."""


TurnEvent: TypeAlias = (
    SpeechStarted
    | SpeechProgressed
    | SpeechEnded
    | SpeechMisfired
    | TalkBegan
    | TalkEnded
    | WordsHeard
    | HearingFailed
    | EngineFailed
    | UtteranceGrew
    | UtteranceWritten
    | UtteranceBegan
    | UtteranceAdvanced
    | UtteranceOver
    | DisplayBlocked
    | ResultReady
)


# --------------------------------------------------------------------------------------------------- what it decides


class Cause(StrEnum):
    """Why an utterance is cancelled."""

    INTERRUPTING_WORD = "interrupting_word"
    ANSWER = "answer"
    """Words while a question was open."""
    SPEECH = "speech"
    """Enough voice, and words that are no acknowledgement."""
    WORDLESS_SPEECH = "wordless_speech"
    """Much voice, and no words at all."""
    WENT_ON = "went_on"
    """The caller went on before the reply's first sound."""
    PRESSED = "pressed"
    """The caller pressed the button to talk."""
    TYPED = "typed"
    """The caller typed something."""
    HOST = "host"
    """Somebody outside asked for it."""
    SUPERSEDED = "superseded"
    """A turn was committed while it waited to be said."""


class NoteKind(StrEnum):
    """What became of a sound that is no turn."""

    BACKCHANNEL = "backchannel"
    ASIDE = "aside"
    """Words over the agent that did not interrupt it."""
    ECHO = "echo"
    NOISE = "noise"
    PHANTOM = "phantom"
    FAR_FIELD = "far_field"
    UNRECOGNISED = "unrecognised"
    """The caller clearly spoke, and the recogniser gave no words."""
    NOTHING_SAID = "nothing_said"
    """A turn was to be committed, or a button let go, and there were no words."""
    UNHEARD = "unheard"
    """The recogniser failed on it, or gave nothing in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Silence the output at once, to resume or cancel later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Let the output go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop making and playing an utterance, for good."""

    utterance: int
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare:
    """These words are likely to be the caller's turn: prepare the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """These words are the caller's turn: answer them."""

    turn: int
    """Ascending from 0."""
    utterance: int
    """The number of the reply to make."""
    text: str
    ended_at: float
    """When the caller's speech ended, seconds of the call's clock."""
    heard_at: float
    """When the last final text was there."""
    reason: str
    """Why the hold was as long as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Tell the results of slow tools that wait to be told."""

    utterance: int
    """The number of what is said then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speak:
    """Say something without asking the model."""

    utterance: int
    kind: UtteranceKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Let the recogniser forget a segment."""

    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSound:
    """Let the sound in progress end here: it goes on and on and says nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Say outside what became of a sound."""

    kind: NoteKind
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    """The measurements that decided it."""


TurnAction: TypeAlias = Hold | Resume | Cancel | Prepare | Commit | Report | Speak | Drop | CutSound | Note
