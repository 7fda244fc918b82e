"""The service's ear: the input audio buffer, and who speaks in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.audio.levels import rms
from pipelines.audio.resample import Resampler
from pipelines.vad.base import WINDOW
from pipelines.vad.detector import DetectorSettings, SpeechConfirmed, SpeechDetector, SpeechEnded
from pipelines.vad.energy import EnergyModel
from pipelines.vad.silero import SileroModel
from tests.realtime.openai_service.items import RATE
from tests.realtime.openai_service.refused import Refused

__all__ = ["Hearing", "Started", "Stopped", "VoiceModel"]

VoiceModel: TypeAlias = EnergyModel | SileroModel

WINDOW_S = WINDOW / HEARING_RATE
LEAST = RATE // 10
"""Samples of a turn: 100 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The caller began to speak."""

    ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The caller stopped: the turn's audio."""

    ms: int
    audio: Samples


class Hearing:
    """Holds what was appended; with turn detection, finds turns in it.

    Args:
        model: tells speech from silence.
        detection: ``audio.input.turn_detection``; ``None`` for manual turns.
    """

    def __init__(self, model: VoiceModel, detection: dict[str, Any] | None) -> None:
        self.detection = detection
        self._buffer = np.zeros(0, np.int16)
        self._written = 0
        """Samples of the session so far."""
        self._to_hear = Resampler(RATE, HEARING_RATE)
        self._tail = np.zeros(0, np.int16)
        self._judged = 0
        self._speaking_from: int | None = None
        given = detection or {}
        self._prefix = RATE * int(given.get("prefix_padding_ms", 300)) // 1000
        self._stream = model.open()
        self._detector = SpeechDetector(WINDOW_S, _settings(model, given))

    def append(self, samples: Samples) -> list[Started | Stopped]:
        """Take more of the caller's voice."""
        self._buffer = np.concatenate([self._buffer, samples])
        self._written += len(samples)
        if self.detection is None:
            return []
        found: list[Started | Stopped] = []
        heard = np.concatenate([self._tail, self._to_hear.process(samples)])
        whole = len(heard) // WINDOW * WINDOW
        self._tail = heard[whole:]
        for start in range(0, whole, WINDOW):
            window = heard[start : start + WINDOW]
            (probability,) = self._stream.feed(window)
            self._judged += 1
            for detected in self._detector.feed(probability, rms(window), self._judged * WINDOW_S):
                match detected:
                    case SpeechConfirmed():
                        found.append(self._start())
                    case SpeechEnded(ended_at=at):
                        found.append(self._stop(at))
        if self._speaking_from is None:
            self._buffer = self._buffer[-(self._prefix + RATE) :]
        return found

    def clear(self) -> None:
        """Forget what was appended."""
        self._buffer = self._buffer[:0]
        self._speaking_from = None

    def commit(self) -> Samples:
        """Take what was appended for a turn."""
        if len(self._buffer) < LEAST:
            held = len(self._buffer) * 1000 / RATE
            raise Refused(
                "input_audio_buffer_commit_empty",
                "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer "
                f"only has {held:.2f}ms of audio.",
            )
        audio, self._buffer = self._buffer, self._buffer[:0]
        self._speaking_from = None
        return audio

    def _start(self) -> Started:
        began = round((self._judged * WINDOW_S - self._detector.settings.confirm_s) * RATE) - self._prefix
        self._speaking_from = max(began, self._written - len(self._buffer), 0)
        return Started(ms=self._speaking_from * 1000 // RATE)

    def _stop(self, ended_at: float) -> Stopped:
        first = self._written - len(self._buffer)
        began = first if self._speaking_from is None else self._speaking_from
        audio, self._buffer = self._buffer[max(began - first, 0) :], self._buffer[:0]
        self._speaking_from = None
        return Stopped(ms=round(self._judged * WINDOW_S * 1000), audio=audio)


def _settings(model: VoiceModel, given: dict[str, Any]) -> DetectorSettings:
    silence_s = float(given.get("silence_duration_ms", 500)) / 1000
    if isinstance(model, EnergyModel):
        return replace(model.detector, end_s=silence_s)
    threshold = float(given.get("threshold", 0.5))
    return DetectorSettings(entry=threshold, exit=max(threshold - 0.15, 0.01), confirm_s=0.15, end_s=silence_s)
