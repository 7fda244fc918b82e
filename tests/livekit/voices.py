"""Voices whose every word can be found again in what somebody received."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import SPEAKING_RATE, Samples
from pipelines.clock import Clock
from pipelines.tts.base import SpeechAudio, Synthesizer, WordTime

__all__ = ["KeptVoice", "ToneVoice", "words_heard"]

WORD_S = 0.3
TONE_S = 0.26
"""Of a word, how long it sounds."""

LOWEST_HZ = 400
STEP_HZ = 100
WORDS = 24
"""How many words are told apart: up to 2.7 kHz, which every codec keeps."""


@dataclass
class ToneVoice:
    """Speaks every word as a tone of its own, and says when it ends."""

    name: str = "tones"
    rate: int = SPEAKING_RATE
    uttered: int = 0
    """Words so far; the next one's tone is this, counted round."""

    def warm(self) -> None:
        pass

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        at = 0
        for count, word in enumerate(text.split(), 1):
            at = text.index(word, at) + len(word)
            yield SpeechAudio(samples=_tone(self.uttered % WORDS), words=(WordTime(end_char=at, end_s=count * WORD_S),))
            self.uttered += 1


class KeptVoice:
    """Another voice, whose audio is kept."""

    def __init__(self, voice: Synthesizer) -> None:
        self.name = voice.name
        self.rate = voice.rate
        self.kept: list[Samples] = []
        self._voice = voice

    def warm(self) -> None:
        self._voice.warm()

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        async for audio in self._voice.synthesize(text, clock):
            self.kept.append(audio.samples)
            yield audio


def words_heard(samples: Samples) -> list[int]:
    """Tell which words of a :class:`ToneVoice` are in a recording, in order; each must sound for half its length."""
    size = SPEAKING_RATE // 50
    found: list[int] = []
    runs: list[tuple[int | None, int]] = []
    for start in range(0, len(samples) - size, size):
        word = _word(samples[start : start + size])
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    for word, count in runs:
        if word is not None and count * 0.02 >= TONE_S / 2:
            found.append(word)
    return found


def _tone(word: int) -> Samples:
    seconds = np.arange(round(TONE_S * SPEAKING_RATE)) / SPEAKING_RATE
    fade = np.minimum(1.0, np.minimum(seconds, TONE_S - seconds) / 0.01)
    tone = np.sin(2 * np.pi * (LOWEST_HZ + STEP_HZ * word) * seconds) * fade * 8_000
    return np.concatenate([tone, np.zeros(round((WORD_S - TONE_S) * SPEAKING_RATE))]).astype(np.int16)


def _word(part: Samples) -> int | None:
    if np.abs(part.astype(np.int32)).max(initial=0) < 1_000:
        return None
    spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part)), n=SPEAKING_RATE // 10))
    word = round((float(np.argmax(spectrum)) * 10 - LOWEST_HZ) / STEP_HZ)
    return word if 0 <= word < WORDS else None
