"""A segment: one stretch of the caller's sound, from its first speech window to its final text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from pipelines.turns.floor import Line

__all__ = ["Fate", "Over", "Segment"]


class Over(Enum):
    """What the agent does while a sound is made, at first what it did when it began, and so what the sound can do."""

    SILENCE = auto()
    """Nothing: the words are a turn."""
    SPEECH = auto()
    """Something that may be interrupted: the words are a turn if they interrupt."""
    PROTECTED = auto()
    """Something that is heard to its end: the words are a turn afterwards."""


class Fate(Enum):
    """What is decided about a sound before its final text is there."""

    UNDECIDED = auto()
    TURN = auto()
    """It stopped the agent: its words belong to the caller's turn."""
    FAR = auto()
    """Somebody else made it."""


@dataclass(slots=True, kw_only=True)
class Segment:
    """A sound, and what is known of it so far."""

    number: int
    """Ascending within a call."""
    over: Over
    line: Line | None
    """What the agent was saying when it began."""
    started_at: float
    """Seconds of the call's clock."""
    worded_at: float
    """When words last came that were new; before any, when it began."""
    ended_at: float | None = None
    voiced_s: float = 0.0
    level: float = 0.0
    """RMS of its loudest window, full scale 1."""
    sureness: float = 0.0
    """Its highest speech probability."""
    pressed: bool = False
    """Whether its maker holds a button, and so says when it ends and that it is meant."""
    text: str = ""
    """What was recognised of it, the latest version."""
    fate: Fate = Fate.UNDECIDED

    @property
    def last_at(self) -> float:
        """When it ended; while it goes on, when it began."""
        return self.started_at if self.ended_at is None else self.ended_at

    @property
    def measures(self) -> dict[str, float]:
        """What was measured of it, for those who are told what became of it."""
        return {"voiced_s": round(self.voiced_s, 3), "level": round(self.level, 4), "sureness": round(self.sureness, 2)}
