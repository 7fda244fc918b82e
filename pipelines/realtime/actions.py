"""What the realtime machine decides; the pipeline carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pipelines.audio.frame import Samples
from pipelines.events import CallEvent
from pipelines.playout.utterance import UtteranceKind
from pipelines.realtime.events import TokensUsed
from pipelines.turns.events import Cause

__all__ = [
    "Apologise",
    "Begin",
    "Cut",
    "Finish",
    "GiveWay",
    "MachineAction",
    "Rest",
    "Sound",
    "Spent",
    "Tell",
    "Unspoken",
    "Withdraw",
    "Write",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Play an utterance, whose audio follows."""

    utterance: int
    kind: UtteranceKind
    turn: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """More of its audio, at the adapter's rate."""

    utterance: int
    item: str
    samples: Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """More of its words; they may come before its audio begins, or belong to one that is over."""

    utterance: int
    item: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """No more of it comes soon: tools run."""

    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """There will be no more of it."""

    utterance: int
    whole: bool
    """Whether it was all said that was to be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Stop playing an utterance, for good."""

    utterance: int
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Unspoken:
    """Something was answered without a sound: these replies are over."""

    utterance: int
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveWay:
    """Let a tool that runs go on behind the conversation: the caller goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """The model wants no results of these calls."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Apologise:
    """An answer failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A reply cost so much."""

    turn: int | None
    """The turn it answered."""
    used: TokensUsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Tell the outside."""

    event: CallEvent


MachineAction: TypeAlias = (
    Begin | Sound | Write | Rest | Finish | Cut | Unspoken | GiveWay | Withdraw | Apologise | Spent | Tell
)
