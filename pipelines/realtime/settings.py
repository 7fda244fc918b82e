"""How a call with a speech-to-speech model is held: the times and rules it goes by."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pipelines.playout.player import PlayerSettings
from pipelines.realtime.base import TurnDetection
from pipelines.responder import ExpectationKind
from pipelines.turns.endpointing import Pace
from pipelines.turns.settings import TurnTaking
from pipelines.vad.detector import DetectorSettings

__all__ = ["Detecting", "Lasting", "Lost", "RealtimeSettings"]


class Lost(StrEnum):
    """What becomes of a call whose provider cannot be had any more."""

    END = "end"
    """The caller is told, and the call ends with the provider's own words as its error."""
    STAY = "stay"
    """The caller is told, and the call goes on without an agent: somebody may take it over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detecting:
    """Our own turn detection, for which there are no words. Seconds.

    The times are the cascade's (``Interruption``, ``Endpointing``): what it needs words for is decided by how long
    somebody spoke, and by what was asked.
    """

    interrupt_s: float = 0.6
    """Voice above which a sound over the agent interrupts it: a cough and a "mm-hm" are shorter."""
    hold_s: float = 0.9
    """From the end of speech to the end of the turn: between a full stop's and a broken-off sentence's in the cascade,
    for here nobody knows which it was."""
    holds_s: dict[ExpectationKind, float] = field(
        default_factory=lambda: {
            ExpectationKind.YES_NO: 0.3,
            ExpectationKind.CHOICE: 0.4,
            ExpectationKind.DATE: 0.6,
            ExpectationKind.TIME: 0.6,
            ExpectationKind.NUMBER: 0.4,
            ExpectationKind.DIGITS: 1.6,
            ExpectationKind.SPELLING: 1.6,
            ExpectationKind.DICTATION: 2.0,
        }
    )
    """The same by what was asked: a group of digits is followed by another one."""
    longest_s: float = 2.8
    """The longest hold, for a caller who makes long pauses."""
    scaled_above_s: float = 0.5
    """Only longer holds follow the caller's pace."""

    def hold(self, kind: ExpectationKind, pace: Pace) -> float:
        """How long to wait for more of this caller's."""
        hold = self.holds_s.get(kind, self.hold_s)
        return min(hold * pace.scale, self.longest_s) if hold > self.scaled_above_s else hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """How a call outlives its connections. Seconds."""

    ahead_s: float = 120.0
    """How long before a connection's end another one is wanted: long enough for a moment when nobody speaks."""
    forced_s: float = 5.0
    """How long before its end it is no longer waited for such a moment."""
    first_wait_s: float = 0.25
    """Before a lost connection is tried again for the second time; then twice as long each time."""
    longest_wait_s: float = 8.0
    give_up_s: float = 30.0
    """After so long without a connection the provider is lost."""
    apologise_after_s: float = 2.0
    """How long the caller is left in silence before they are told, once a gap."""
    kept_audio_s: float = 10.0
    """Of what the caller says meanwhile, so much is kept, the latest, and delivered once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealtimeSettings:
    """How a call with a speech-to-speech model is held."""

    turn_detection: TurnDetection = TurnDetection.PROVIDER
    turn_taking: TurnTaking = TurnTaking.AUTOMATIC
    """Manual turns are taken with our turn detection, whatever ``turn_detection`` says."""
    start_muted: bool = False
    """Whether the caller is not listened to before they are unmuted; in manual turn taking it is always so."""
    voice: str | None = None
    """The provider's name of it; ``None``: its own choice."""
    instructions: str | None = None
    """Instead of the agent's."""
    greeting: str | None = None
    """Said when the call begins; ``None`` lets the caller begin."""
    detector: DetectorSettings = field(default_factory=DetectorSettings)
    detecting: Detecting = field(default_factory=Detecting)
    lasting: Lasting = field(default_factory=Lasting)
    playout: PlayerSettings = field(default_factory=PlayerSettings)
    words_wait_s: float = 2.0
    """How long a tool is kept waiting for the words of the caller it was called for, so that they stand before it."""
    words_lost_s: float = 10.0
    """After so long an utterance of the caller's without final words is kept as it is."""
    answer_wait_s: float = 6.0
    """How long after the caller spoke an answer is believed to come, before the call counts as idle."""
    unanswered_s: float = 20.0
    """How long a turn waits for its answer to begin before it counts as not answered."""
    result_after_s: float = 0.3
    """Silence after which the result of a slow tool is told."""
    patience_s: float = 15.0
    """How long the model waits for a tool before it is told that the tool goes on."""
    on_lost: Lost = Lost.END
    apology: str = "I'm sorry, I was cut off for a moment. Please bear with me."
    """Said, once a gap, when the provider is gone for a while."""
    failed: str = "I'm sorry, something went wrong on my side. Could you say that again?"
    """Said when an answer failed."""
    farewell: str = "I'm sorry, I cannot go on with this call. Please try again later."
    """Said when the provider is lost."""

    @property
    def ours(self) -> bool:
        """Whether we say when the caller speaks."""
        return self.turn_detection is TurnDetection.OURS or self.turn_taking is TurnTaking.MANUAL
