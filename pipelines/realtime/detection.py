"""Detection: our own word on when the caller speaks, takes a turn, and interrupts.

Pure. There are no words here, so that it goes by how long a voice lasts and by what was asked. The output is held at
the first sound; a sound that stays short lets it go on. Above: ``agent`` carries it out. Below: a speech detector.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from pipelines.realtime.settings import Detecting
from pipelines.responder import ExpectationKind
from pipelines.turns.endpointing import Pace
from pipelines.vad.detector import (
    Detection,
    SpeechConfirmed,
    SpeechEnded,
    SpeechMisfired,
    SpeechProgressed,
    SpeechStarted,
)

__all__ = ["Detected", "Ignored", "Interrupts", "OurDetection", "Over", "SpeechGoes", "TurnBegins", "TurnEnds"]


class Over(Enum):
    """What a sound lies over."""

    SILENCE = auto()
    SPEECH = auto()
    """The agent, who may be interrupted."""
    PROTECTED = auto()
    """What is heard to its end; what is said over it is answered after it."""


class SpeechGoes(Enum):
    """What the output does."""

    HELD = auto()
    ON = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegins:
    """What is heard is sent from here on, with what was kept from before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupts:
    """The agent is to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnds:
    """What was sent is a turn, or is to be forgotten."""

    respond: bool
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A sound over the agent was none of the caller's business with it."""

    voiced_s: float


Detected: TypeAlias = TurnBegins | Interrupts | TurnEnds | Ignored | SpeechGoes


class _State(Enum):
    SILENT = auto()
    SOUNDING = auto()
    """Perhaps somebody speaks; nothing is sent."""
    SPEAKING = auto()
    """Somebody does, and it is sent."""
    TRAILING = auto()
    """They have stopped, and may go on."""


class OurDetection:
    """Decides for one call.

    Args:
        settings: times.
    """

    def __init__(self, settings: Detecting) -> None:
        self.settings = settings
        self._state = _State.SILENT
        self._over = Over.SILENCE
        self._held = False
        self._pace = Pace()
        self._ended_at = 0.0
        self._due_at = 0.0

    @property
    def busy(self) -> bool:
        """Whether somebody speaks, perhaps, or a turn is being made."""
        return self._state is not _State.SILENT

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick`; ``None``: not before something is fed."""
        return self._due_at if self._state is _State.TRAILING else None

    def feed(self, detection: Detection, over: Over, asked: ExpectationKind) -> list[Detected]:
        """Take what a detector makes of the sound.

        Args:
            detection: what it says.
            over: what is being said just now.
            asked: what sort of answer is expected.
        """
        match detection:
            case SpeechStarted():
                return self._started(detection.at, over)
            case SpeechConfirmed():
                return self._confirmed()
            case SpeechProgressed():
                return self._progressed(detection.voiced_s, over)
            case SpeechMisfired():
                return self._misfired()
            case SpeechEnded():
                return self._ended(detection, over, asked)
            case _:
                return []

    def tick(self, now: float) -> list[Detected]:
        """Do what is due."""
        if self._state is not _State.TRAILING or now < self._due_at:
            return []
        self._state = _State.SILENT
        return [TurnEnds(respond=True, ended_at=self._ended_at), *self._let_go()]

    def press(self) -> list[Detected]:
        """The caller pressed a button to talk: what is said is void."""
        self._state, self._over = _State.SPEAKING, Over.SILENCE
        return [Interrupts(), TurnBegins()]

    def release(self, now: float) -> list[Detected]:
        """What was said is the turn, whatever is still to come: the button was let go, or a host wants the answer."""
        begun = self._state in (_State.SPEAKING, _State.TRAILING)
        self._state = _State.SILENT
        return [*([TurnEnds(respond=True, ended_at=now)] if begun else []), *self._let_go()]

    def _started(self, at: float, over: Over) -> list[Detected]:
        if self._state is _State.TRAILING:
            self._pace.observe(at - self._ended_at)
            self._state = _State.SPEAKING
            return []
        self._state, self._over = _State.SOUNDING, over
        if over is not Over.SPEECH or self._held:
            return []
        self._held = True
        return [SpeechGoes.HELD]

    def _confirmed(self) -> list[Detected]:
        if self._state is not _State.SOUNDING:
            return []
        self._state = _State.SPEAKING
        return [TurnBegins()]

    def _progressed(self, voiced_s: float, over: Over) -> list[Detected]:
        if self._over is Over.SPEECH and over is not Over.SPEECH:
            self._over = over  # What it lay over is at its end.
            return self._let_go()
        if self._over is not Over.SPEECH or voiced_s <= self.settings.interrupt_s:
            return []
        self._over = Over.SILENCE
        return [Interrupts(), *self._let_go()]

    def _misfired(self) -> list[Detected]:
        if self._state is _State.SPEAKING:  # It was the caller's going on, too short to be any.
            self._state = _State.TRAILING
            return []
        self._state = _State.SILENT
        return self._let_go()

    def _ended(self, sound: SpeechEnded, over: Over, asked: ExpectationKind) -> list[Detected]:
        if self._over is Over.SPEECH and over is Over.SPEECH:
            self._state = _State.SILENT
            ignored = Ignored(voiced_s=sound.voiced_s)
            return [TurnEnds(respond=False, ended_at=sound.ended_at), ignored, *self._let_go()]
        self._state = _State.TRAILING
        self._ended_at = sound.ended_at
        self._due_at = sound.ended_at + self.settings.hold(asked, self._pace)
        return self._let_go()

    def _let_go(self) -> list[Detected]:
        if not self._held:
            return []
        self._held = False
        return [SpeechGoes.ON]
