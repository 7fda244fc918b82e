"""Voice activity by loudness alone, against a learned noise floor: no model, and no difference between voice and door.

Above: ``detector`` turns the probabilities into speech starts and ends. Pure: time is counted in samples. The figures
are those of voice.md 1.7; its frame is our window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.audio.levels import rms
from pipelines.vad.base import WINDOW
from pipelines.vad.detector import DetectorSettings

__all__ = ["EnergyModel", "EnergySettings", "EnergyStream"]

FALLS = 0.2
"""Part of the way by which the floor follows a quieter window that is no speech."""

RISES = 0.02
"""The same for a louder one."""

LEAKS = 1.001
"""Factor by which speech lifts the floor per window, so that a noise that never ends is silence in the end."""

LEAK = 1e-6
"""Lift per window besides, so that a floor of digital silence rises too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergySettings:
    """What is speech. Levels are RMS of full scale 1."""

    threshold: float = 0.01
    """No speech is softer, however quiet it is around."""
    adaptive: bool = True
    """Whether the floor counts; else the threshold alone."""
    multiplier: float = 3.0
    """Speech is this many times as loud as the floor."""
    ceiling: float = 0.5
    """What is louder is speech, however loud it is around."""
    speech_s: float = 0.096
    """Seconds of speech without a break before somebody speaks."""
    silence_s: float = 0.45
    """Seconds of silence before they have stopped. 1.2 where nothing else ends a turn; here endpointing does, and an
    agent that fell silent for a cough is to go on within 0.8 s of it (the turn engine's figure, voice.md 1.15)."""


class EnergyModel:
    """An engine that has nothing to load.

    Args:
        settings: what is speech.
    """

    name = "energy"

    def __init__(self, settings: EnergySettings | None = None) -> None:
        self._settings = settings or EnergySettings()
        # A window is speech when it is louder than the threshold, not when it is as loud; nothing lies between speech
        # and silence; and what was loud for long enough is believed, for there is no more to know of it.
        louder = math.nextafter(0.5, 1.0)
        self.detector = DetectorSettings(
            entry=louder,
            exit=louder,
            onset_s=self._settings.speech_s,
            confirm_s=self._settings.speech_s,
            confirm_asked_s=self._settings.speech_s,
            end_s=self._settings.silence_s,
        )

    def warm(self) -> None:
        """Do nothing."""

    def open(self) -> EnergyStream:
        """Begin listening to a call."""
        return EnergyStream(self._settings)


class EnergyStream:
    """One call's sound: its loudness, and how loud it is around.

    Args:
        settings: what is speech.
        floor: how loud it is around, as RMS; ``None``: as loud as the first window, which a call begins with.
    """

    def __init__(self, settings: EnergySettings | None = None, *, floor: float | None = None) -> None:
        self._settings = settings or EnergySettings()
        self._floor = floor
        self._window = np.zeros(WINDOW, np.int16)
        self._filled = 0

    @property
    def threshold(self) -> float:
        """RMS above which the next window is speech."""
        settings = self._settings
        if self._floor is None or not settings.adaptive:
            return settings.threshold
        return min(max(settings.threshold, self._floor * settings.multiplier), settings.ceiling)

    @property
    def pending(self) -> int:
        """Samples taken that do not fill a window yet: 0 to 511."""
        return self._filled

    def feed(self, samples: Samples) -> list[float]:
        """Take the next samples: int16 mono at 16 kHz, any length.

        Returns:
            For each window that became complete, oldest first, how its loudness compares with what is speech: 0.5 is
            just as loud, 1.0 twice as loud and more.
        """
        found = []
        at = 0
        while at < len(samples):
            taken = min(WINDOW - self._filled, len(samples) - at)
            self._window[self._filled : self._filled + taken] = samples[at : at + taken]
            self._filled += taken
            at += taken
            if self._filled == WINDOW:
                self._filled = 0
                found.append(self._judge(rms(self._window)))
        return found

    def reset(self) -> None:
        """Forget the window in progress; it is as loud around as it was before."""
        self._filled = 0

    def _judge(self, level: float) -> float:
        threshold = self.threshold
        if self._floor is None:
            self._floor = level
        elif level > threshold:
            self._floor = min(self._floor * LEAKS + LEAK, level)
        else:
            self._floor += (FALLS if level < self._floor else RISES) * (level - self._floor)
        return min(1.0, level / (2 * threshold))
