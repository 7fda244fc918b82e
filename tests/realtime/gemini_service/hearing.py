"""The service's ear: who speaks in what is sent, where Gemini detects that itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.audio.levels import rms
from pipelines.vad.base import WINDOW
from pipelines.vad.detector import DetectorSettings, SpeechConfirmed, SpeechDetector, SpeechEnded
from pipelines.vad.energy import EnergyModel
from pipelines.vad.silero import SileroModel

__all__ = ["Hearing", "VoiceModel"]

VoiceModel: TypeAlias = EnergyModel | SileroModel

WINDOW_S = WINDOW / HEARING_RATE
PREFIX = 3 * HEARING_RATE // 10
"""Samples before speech that belong to it."""


class Hearing:
    """Finds turns in the caller's voice.

    Args:
        model: tells speech from silence.
        detection: ``automaticActivityDetection``.
    """

    def __init__(self, model: VoiceModel, detection: dict[str, Any]) -> None:
        self._stream = model.open()
        self._detector = SpeechDetector(WINDOW_S, _settings(model, detection))
        self._tail = np.zeros(0, np.int16)
        self._kept = np.zeros(0, np.int16)
        self._judged = 0
        self._speaking = False

    def feed(self, samples: Samples) -> list[Samples | None]:
        """Take more of the caller's voice.

        Returns:
            ``None`` for speech that began, and a turn's audio for speech that ended, in order.
        """
        found: list[Samples | None] = []
        heard = np.concatenate([self._tail, samples])
        whole = len(heard) // WINDOW * WINDOW
        self._tail = heard[whole:]
        for start in range(0, whole, WINDOW):
            window = heard[start : start + WINDOW]
            self._kept = np.concatenate([self._kept, window])
            (probability,) = self._stream.feed(window)
            self._judged += 1
            for detected in self._detector.feed(probability, rms(window), self._judged * WINDOW_S):
                match detected:
                    case SpeechConfirmed():
                        confirming = round(self._detector.settings.confirm_s * HEARING_RATE)
                        self._kept = self._kept[-(PREFIX + confirming) :]
                        self._speaking = True
                        found.append(None)
                    case SpeechEnded():
                        found.append(self._kept)
                        self._kept = self._kept[:0]
                        self._speaking = False
        if not self._speaking:
            self._kept = self._kept[-(PREFIX + HEARING_RATE) :]
        return found

    def end(self) -> Samples | None:
        """Nothing more comes: give the turn in progress, if there is one."""
        if not self._speaking:
            return None
        turn, self._kept, self._speaking = self._kept, self._kept[:0], False
        self._detector.lapse()
        return turn


def _settings(model: VoiceModel, detection: dict[str, Any]) -> DetectorSettings:
    silence_s = int(detection.get("silenceDurationMs", 500)) / 1000
    if isinstance(model, EnergyModel):
        return replace(model.detector, end_s=silence_s)
    return DetectorSettings(confirm_s=0.15, end_s=silence_s)
