"""A segment of speech on its way to a decoder: what of it is to be decoded when, and what need not be decoded again.

Above: ``whisper`` carries it out. Pure: time is counted in samples, loudness is measured from them.
"""

from __future__ import annotations

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.audio.levels import SILENCE_DBFS, dbfs, rms

__all__ = ["OpenSegment"]

_VOICED_DB = 20.0
"""Below the segment's loudest chunk; what is louder counts as speech when partials are paced."""

_STEP_DB = 2.0
"""How finely the levels of chunks are told apart for that."""

_RESUMED = 0.25
"""Of the segment's loudest chunk: -12 dB; what is louder after a pause is speech again."""

_TAIL = int(0.4 * HEARING_RATE)
"""Most silence after a pause that changes nothing about what was said: longer than the VAD's way from pause to end."""

_FIRST_PARTIAL = int(0.5 * HEARING_RATE)
"""Speech before the first partial: enough for a word that interrupts."""

_PARTIAL_EVERY = HEARING_RATE
"""New speech before the next one."""

_PARTIAL_SHARE = 5
"""One decode per this share of a long stretch instead: decoding 10 s costs 0.35 s, too much for every second."""

_LOCK_LENGTH = 8 * HEARING_RATE
_LOCK_SILENCE = int(0.2 * HEARING_RATE)
"""A stretch of this length is locked by a silence of this length after the pause was noticed: a sentence's end."""

_LOCK_ANYWAY = 15 * HEARING_RATE
"""A stretch of this length is locked by any pause."""

_LONGEST = 28 * HEARING_RATE
"""The longest stretch one decode takes; it is cut at its last pause, or here."""


class OpenSegment:
    """The stretch of a segment that is not locked yet. All positions are in samples from the segment's start."""

    def __init__(self) -> None:
        self.start = 0
        """Where the stretch begins."""
        self.total = 0
        """How much was fed."""
        self._chunks: list[Samples] = []
        self._loudest = 0.0
        self._paused_at: int | None = None
        self._resumed = False
        self._by_level = [0] * (int(-SILENCE_DBFS / _STEP_DB) + 1)
        self._voiced_decoded = 0
        self._decodes = 0

    def feed(self, samples: Samples) -> int | None:
        """Take audio: int16, 16 kHz.

        Returns:
            Where the stretch is to be locked now, or ``None``: at its last pause, or at the end of what was fed.
        """
        level = rms(samples)
        self._loudest = max(self._loudest, level)
        self._by_level[int(-dbfs(level) / _STEP_DB)] += len(samples)
        quiet = self.total - self._paused_at if self._paused_at is not None else 0
        self._chunks.append(samples)
        self.total += len(samples)
        if self.total - self.start >= _LONGEST:
            return self.start + _LONGEST if self._paused_at is None else self._paused_at
        if self._paused_at is not None and not self._resumed and level > _RESUMED * self._loudest:
            self._resumed = True
            length = self._paused_at - self.start
            if length >= _LOCK_ANYWAY or (length >= _LOCK_LENGTH and quiet >= _LOCK_SILENCE):
                return self._paused_at
        return None

    def pause(self) -> None:
        """Speech fell silent just now."""
        self._paused_at = self.total
        self._resumed = False

    @property
    def voiced(self) -> int:
        """Samples that were about as loud as the loudest: speech, without the quiet before and within it."""
        loudest = int(-dbfs(self._loudest) / _STEP_DB)
        return sum(self._by_level[loudest : loudest + int(_VOICED_DB / _STEP_DB)])

    def partial_due(self) -> bool:
        """Whether there is enough new speech for another partial."""
        if not self._decodes:
            return self.voiced >= _FIRST_PARTIAL
        every = max(_PARTIAL_EVERY, (self.total - self.start) // _PARTIAL_SHARE)
        return self.voiced - self._voiced_decoded >= every

    def said_at_pause(self) -> bool:
        """Whether all that was said was said at the last pause: only a little silence came after it."""
        return self._paused_at is not None and not self._resumed and self.total - self._paused_at <= _TAIL

    def take(self, end: int) -> Samples:
        """Return the stretch up to a position, for decoding."""
        self._decodes += 1
        self._voiced_decoded = self.voiced
        return self._joined()[: end - self.start]

    def lock(self, end: int) -> None:
        """Begin a new stretch at a position; what lies before it is forgotten."""
        self._chunks = [self._joined()[end - self.start :]]
        self.start = end
        self._paused_at = None
        self._resumed = False

    def _joined(self) -> Samples:
        if len(self._chunks) != 1:
            self._chunks = [np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.int16)]
        return self._chunks[0]
