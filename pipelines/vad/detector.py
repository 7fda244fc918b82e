"""From speech probabilities to speech: when somebody began, was surely speaking, fell silent and ended.

Above: ``cascade`` feeds it one probability per window. Below: ``silero`` makes the probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

__all__ = [
    "Detection",
    "DetectorSettings",
    "SpeechConfirmed",
    "SpeechDetector",
    "SpeechEnded",
    "SpeechMisfired",
    "SpeechPaused",
    "SpeechProgressed",
    "SpeechStarted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSettings:
    """Thresholds on probability and time. The defaults are Silero's own and the measurements of its first users."""

    entry: float = 0.5
    """Probability, 0 to 1, at which a window is speech."""
    exit: float = 0.35
    """Probability below which a window is silence; between the two nothing changes."""
    onset_s: float = 0.0
    """Seconds of speech without a break before there is a sound at all; 0: a single window begins one."""
    confirm_s: float = 0.25
    """Seconds of speech before it is believed; less is a misfire."""
    confirm_asked_s: float = 0.15
    """The same while a question is open: "yes" is short."""
    pause_s: float = 0.09
    """Seconds of silence after which a recogniser may decode ahead."""
    end_s: float = 0.25
    """Seconds of silence after which an end is noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted:
    """Perhaps somebody speaks."""

    at: float
    """Seconds of the call's clock: the start of the first speech window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechConfirmed:
    """Somebody does speak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechProgressed:
    """Speech goes on: one more window."""

    voiced_s: float
    """Seconds of speech in the segment so far."""
    level: float
    """Loudest window so far, RMS, full scale 1."""
    sureness: float
    """Highest probability so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechPaused:
    """Speech fell silent a moment ago; it may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnded:
    """Confirmed speech is over."""

    started_at: float
    ended_at: float
    """Seconds of the call's clock: the end of the last speech window, not the moment it was noticed."""
    voiced_s: float
    level: float
    sureness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechMisfired:
    """It was too short to be speech."""

    started_at: float
    ended_at: float
    voiced_s: float


Detection: TypeAlias = SpeechStarted | SpeechConfirmed | SpeechProgressed | SpeechPaused | SpeechEnded | SpeechMisfired


class _State(Enum):
    SILENT = auto()
    TENTATIVE = auto()
    SPEAKING = auto()


class SpeechDetector:
    """Hysteresis over windows of equal length.

    Args:
        window_s: seconds a window lasts.
        settings: thresholds.
    """

    def __init__(self, window_s: float, settings: DetectorSettings | None = None) -> None:
        self.settings = settings or DetectorSettings()
        self._window_s = window_s
        self._state = _State.SILENT
        self._onset: list[tuple[float, float, float]] = []
        """Speech windows in a row that begin no sound yet."""
        self._started_at = 0.0
        self._voiced_until = 0.0
        self._voiced_s = 0.0
        self._level = 0.0
        self._sureness = 0.0
        self._paused = False

    @property
    def sounding(self) -> bool:
        """Whether somebody speaks, perhaps."""
        return self._state is not _State.SILENT

    def believe(self) -> SpeechConfirmed:
        """Take the sound in progress for speech, however short it is."""
        self._state = _State.SPEAKING
        return SpeechConfirmed()

    def lapse(self) -> list[Detection]:
        """End the speech in progress, if any: no more audio comes (a caller muted in mid-word)."""
        self._onset.clear()
        return [self._end()] if self.sounding else []

    def feed(
        self, probability: float, level: float, ends_at: float, *, asked: bool = False, patience_s: float = 0.0
    ) -> list[Detection]:
        """Take one window.

        Args:
            probability: that the window is speech.
            level: its RMS, full scale 1.
            ends_at: when the window ended, seconds of the call's clock.
            asked: whether a question is open.
            patience_s: seconds of silence that are waited for more of the same speech, where that is longer than
                usual; a sound that is not believed yet ends as usual.
        """
        if self._state is _State.SILENT:
            if probability < self.settings.entry:
                self._onset.clear()
                return []
            self._onset.append((probability, level, ends_at))
            return self._start(asked)
        if probability >= self.settings.entry:
            return self._speech(probability, level, ends_at, asked)
        if probability >= self.settings.exit:
            self._voiced_until = ends_at
            return []
        return self._silence(ends_at, patience_s)

    def _start(self, asked: bool) -> list[Detection]:
        """Begin a sound with the speech so far, if that is enough for one."""
        if len(self._onset) * self._window_s < self.settings.onset_s - 1e-9:
            return []
        self._begin(self._onset[0][2] - self._window_s)
        found: list[Detection] = [SpeechStarted(at=self._started_at)]
        for probability, level, ends_at in self._onset:
            found += self._speech(probability, level, ends_at, asked)
        self._onset.clear()
        return found

    def _begin(self, at: float) -> None:
        self._state = _State.TENTATIVE
        self._started_at = self._voiced_until = at
        self._voiced_s = self._level = self._sureness = 0.0
        self._paused = False

    def _speech(self, probability: float, level: float, ends_at: float, asked: bool) -> list[Detection]:
        self._voiced_s += self._window_s
        self._voiced_until = ends_at
        self._level = max(self._level, level)
        self._sureness = max(self._sureness, probability)
        self._paused = False
        found: list[Detection] = [SpeechProgressed(voiced_s=self._voiced_s, level=self._level, sureness=self._sureness)]
        needed = self.settings.confirm_asked_s if asked else self.settings.confirm_s
        if self._state is _State.TENTATIVE and self._voiced_s >= needed - 1e-9:
            self._state = _State.SPEAKING
            found.append(SpeechConfirmed())
        return found

    def _silence(self, ends_at: float, patience_s: float) -> list[Detection]:
        silent_s = ends_at - self._voiced_until
        believed = self._state is _State.SPEAKING
        if silent_s >= max(self.settings.end_s, patience_s if believed else 0.0) - 1e-9:
            return [self._end()]
        if believed and not self._paused and silent_s >= self.settings.pause_s - 1e-9:
            self._paused = True
            return [SpeechPaused()]
        return []

    def _end(self) -> Detection:
        confirmed = self._state is _State.SPEAKING
        self._state = _State.SILENT
        if not confirmed:
            return SpeechMisfired(started_at=self._started_at, ended_at=self._voiced_until, voiced_s=self._voiced_s)
        return SpeechEnded(
            started_at=self._started_at,
            ended_at=self._voiced_until,
            voiced_s=self._voiced_s,
            level=self._level,
            sureness=self._sureness,
        )
