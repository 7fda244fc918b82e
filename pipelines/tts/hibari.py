"""The local voice: hibari on one worker thread, sentence by sentence.

Measured on one core: 10 ms for "Yes.", 18 ms for five words, 50-95 ms for 95 characters, 180 ms for 190; so the first
clause of a long sentence is worth giving alone.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import SPEAKING_RATE, Samples
from pipelines.clock import Clock
from pipelines.lane import Lane
from pipelines.tts.base import SpeechAudio, SynthesisError

__all__ = ["LONGEST_TEXT", "HibariVoice", "trim"]

LONGEST_TEXT = 2_000
"""Characters of one text; a sentence has about a hundred. Bounds what a model can make the lane do for one call."""

_SEED = 0
"""Of the breath noise, so that the same sentence is the same audio every time."""

_GRAIN = SPEAKING_RATE // 200
"""Samples of the 5 ms steps in which silence is looked for."""

_SILENCE = 10 ** (-60 / 20)
"""RMS below which a step is silent: the voice's floor is under -95 dBFS, its softest fricatives are above -55."""

_LEAD = SPEAKING_RATE // 50
"""Samples kept before the first sound: 20 ms, enough for a soft onset. The voice puts 180 to 350 ms there."""

_TAIL_SENTENCE = SPEAKING_RATE * 3 // 10
"""Samples kept after the last sound of a sentence: 0.3 s, a speaker's pause before the next. The voice puts 0.5 s."""

_TAIL_CLAUSE = SPEAKING_RATE * 12 // 100
"""The same where a clause ends, whose sentence goes on: 0.12 s."""

_SENTENCE_ENDS = (".", "!", "?", "…")


class HibariVoice:
    """A ``Synthesizer`` on hibari's voice "heart" (American English, 24 kHz), whose weights are in its wheel."""

    name = "hibari"
    rate = SPEAKING_RATE

    def __init__(self) -> None:
        self._lane = Lane("tts.hibari")
        self._guard = threading.Lock()
        self._engine: Any = None

    def warm(self) -> None:
        """Load the voice and its dictionaries (0.8 s). Blocking, idempotent, thread-safe."""
        self._loaded()

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        """Speak a sentence or a clause.

        Args:
            text: a text of several sentences is given one by one, as each is ready. A text of nothing but punctuation
                gives no audio.
            clock: whose time the work is charged to.

        Raises:
            SynthesisError: the engine failed, cannot say any of it, or the text has more than 2,000 characters.
        """
        if len(text) > LONGEST_TEXT:
            raise SynthesisError(
                f"a text has at most {LONGEST_TEXT} characters, got {len(text)}; give it sentence by sentence"
            )
        if not any(map(str.isalnum, text)):
            return
        try:
            samples, rest = await self._lane.run(clock, self._begin, text)
            while True:
                if len(samples):
                    yield SpeechAudio(samples=samples)
                if not rest:
                    return
                samples = await self._lane.run(clock, self._render, rest.pop(0))
        except SynthesisError:
            raise
        except Exception as error:  # whatever the engine raises is the engine's failure
            raise SynthesisError(f"hibari failed on {len(text)} characters: {error!r}") from error

    def _loaded(self) -> Any:
        with self._guard:
            if self._engine is None:
                from hibari import Hibari

                engine = Hibari()
                engine("Warm up.", seed=_SEED)
                self._engine = engine
            return self._engine

    def _begin(self, text: str) -> tuple[Samples, list[str]]:
        """Phonemize a text and render its first sentence: one job, so that a short text waits for the lane once."""
        first, *rest = self._loaded().phonemize(text) or [""]
        if not first:
            raise SynthesisError(f"hibari speaks English and has no sounds for a text of {len(text)} characters")
        return self._render(first), rest

    def _render(self, phonemes: str) -> Samples:
        wave = self._loaded().from_phonemes(phonemes, seed=_SEED)
        ends = phonemes.rstrip("\"”’)]' ").endswith(_SENTENCE_ENDS)
        wave = trim(wave, tail=_TAIL_SENTENCE if ends else _TAIL_CLAUSE)
        np.multiply(wave, np.float32(32767.0), out=wave)
        np.clip(wave, -32768.0, 32767.0, out=wave)
        return wave.astype(np.int16)


def trim(wave: npt.NDArray[np.float32], *, tail: int) -> npt.NDArray[np.float32]:
    """Cut the silence a voice puts around its words, so that the first sound comes early.

    Args:
        wave: ±1.0, shape ``(samples,)``, 24 kHz.
        tail: samples to keep after the last sound.

    Returns:
        A view that begins 20 ms before the first sound; nothing when there is no sound.
    """
    steps = wave[: len(wave) // _GRAIN * _GRAIN].reshape(-1, _GRAIN)
    loud = np.flatnonzero(np.einsum("ij,ij->i", steps, steps) > _GRAIN * _SILENCE**2)
    if not len(loud):
        return wave[:0]
    return wave[max(0, int(loud[0]) * _GRAIN - _LEAD) : (int(loud[-1]) + 1) * _GRAIN + tail]
