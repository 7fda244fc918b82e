"""The settings of turn-taking: the times and rules a turn machine decides by."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pipelines.turns.endpointing import Endpointing
from pipelines.turns.guards import NearField, PhantomRule
from pipelines.turns.interruption import Interruption

__all__ = ["TurnSettings", "TurnTaking"]


class TurnTaking(StrEnum):
    """Who says where a caller's turn begins and ends."""

    AUTOMATIC = "automatic"
    """What is heard: a detector, a gate, and how finished the words sound."""
    MANUAL = "manual"
    """The caller, with a button: what they say from unmuting to muting is a turn. The call starts muted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """How turns are taken. Seconds, and the sentences said without the model."""

    endpointing: Endpointing = field(default_factory=Endpointing)
    interruption: Interruption = field(default_factory=Interruption)
    phantom: PhantomRule = field(default_factory=PhantomRule)
    far_field_ratio: float = NearField.RATIO
    far_after_s: float = 0.3
    """Voice before a sound over the agent is judged far: its first windows are softer than it is."""
    final_limit_s: float = 5.0
    """How long after speech ended a final text is waited for: ten times what an engine needs."""
    hold_limit_s: float = 8.0
    """How long the output is held at most, whatever sounds: nobody acknowledges for longer."""
    drafts: int = 2
    """How often in a turn an answer is prepared to words that are only likely to be all of it; 0: never."""
    stale_s: float = 8.0
    """How long a sound may go on without new words before it keeps nobody waiting: in a long sentence, a recogniser's
    partial texts are up to six seconds apart."""
    apology_every_s: float = 30.0
    """The least time between two apologies for a failed engine; more often they would feed on each other."""
    result_after_s: float = 0.3
    """Silence after which the result of a slow tool is told: as long as between two sentences."""
    result_after_question_s: float = 4.0
    """The same while a question is open: whoever thinks about an answer is not to be talked to."""
    not_understood: str = "Sorry, I didn't catch that."
    engine_failed: str = "I'm sorry, something went wrong on my side. Could you say that again?"
