"""The floor: what the agent says, is about to say, or holds back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto

from pipelines.playout.utterance import UtteranceKind

__all__ = ["Floor", "FloorState", "Line"]


class FloorState(Enum):
    """Who has the floor."""

    FREE = auto()
    """The agent has nothing to say."""
    PREPARING = auto()
    """An utterance is being made; nothing of it sounds yet."""
    SPEAKING = auto()
    HELD = auto()
    """The agent would speak, but the output is held."""


@dataclass(slots=True, kw_only=True)
class Line:
    """An utterance, as turn-taking sees it."""

    utterance: int
    kind: UtteranceKind
    text: str = ""
    audible: bool = False
    heard_end: int = 0
    question_end: int | None = None

    @property
    def caught_up(self) -> bool:
        """Whether all there is of it was heard, so that the agent is silent: it waits for a tool, or is at its end."""
        return self.heard_end >= len(self.text.rstrip())

    @property
    def interruptible(self) -> bool:
        """A narration is heard to its end."""
        return self.kind != "narration"


class Floor:
    """The agent's lines in order; the first one has the floor. What begins to sound becomes the first."""

    def __init__(self) -> None:
        self.held = False
        """Whether the output is held."""
        self._lines: deque[Line] = deque()

    @property
    def line(self) -> Line | None:
        """The line that has the floor."""
        return self._lines[0] if self._lines else None

    @property
    def state(self) -> FloorState:
        """Who has the floor, derived from the lines and the hold."""
        if not self._lines:
            return FloorState.FREE
        if self.held:
            return FloorState.HELD
        return FloorState.SPEAKING if self._lines[0].audible else FloorState.PREPARING

    def add(self, line: Line) -> None:
        """Queue a line behind the others."""
        self._lines.append(line)

    def begin(self, line: Line) -> None:
        """A line begins to sound: it has the floor, before others that rest."""
        line.audible = True
        self._lines.remove(line)
        self._lines.appendleft(line)

    def find(self, utterance: int) -> Line | None:
        """The line of an utterance, if it is still wanted."""
        return next((line for line in self._lines if line.utterance == utterance), None)

    def remove(self, utterance: int) -> Line | None:
        """Take a line away: it is over or was cancelled."""
        if (line := self.find(utterance)) is not None:
            self._lines.remove(line)
        return line

    def interruptible(self) -> list[Line]:
        """The lines a committed turn makes pointless."""
        return [line for line in self._lines if line.interruptible]
