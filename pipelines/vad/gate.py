"""The speech gate: what a recogniser gets to hear, with the moment before it in front."""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

from pipelines.audio.frame import HEARING_RATE, Samples

__all__ = ["GateState", "SpeechGate"]


class GateState(Enum):
    """Whether audio passes."""

    CLOSED = auto()
    """Nothing passes; the last moment is kept."""
    PENDING = auto()
    """Perhaps speech: everything is kept, nothing passes yet."""
    OPEN = auto()
    """Everything passes."""


class SpeechGate:
    """Keeps noise from the recogniser without cutting the beginning of a word.

    Args:
        preroll_s: seconds kept from before the speech (0.8: room for the VAD's delay and a soft first syllable).
        pending_limit_s: a gate that waits for certainty longer than this opens (fail open; 5.0).
        rate: hertz of the samples fed.
    """

    def __init__(self, *, preroll_s: float = 0.8, pending_limit_s: float = 5.0, rate: int = HEARING_RATE) -> None:
        self.state = GateState.CLOSED
        self._preroll = int(preroll_s * rate)
        self._limit = int(pending_limit_s * rate)
        self._kept: deque[Samples] = deque()
        self._kept_samples = 0

    def feed(self, samples: Samples) -> list[Samples]:
        """Take audio; return what passes, oldest first. Chunks are kept and passed on whole, never copied."""
        if self.state is GateState.OPEN:
            return [samples]
        self._kept.append(samples)
        self._kept_samples += len(samples)
        if self.state is GateState.CLOSED:
            self._trim()
        elif self._kept_samples >= self._limit:
            return self.open()
        return []

    def hold(self) -> None:
        """Perhaps somebody speaks: keep everything from here on. Does nothing unless closed."""
        if self.state is GateState.CLOSED:
            self.state = GateState.PENDING

    def open(self) -> list[Samples]:
        """Somebody speaks: return what was kept, oldest first. Idempotent: a second call returns nothing."""
        self.state = GateState.OPEN
        kept = list(self._kept)
        self._forget()
        return kept

    def cancel(self) -> None:
        """It was not speech: back to keeping the last moment. Does nothing when open."""
        if self.state is not GateState.OPEN:
            self.state = GateState.CLOSED
            self._trim()

    def close(self) -> None:
        """Speech is over: nothing passes and nothing of it is kept."""
        self.state = GateState.CLOSED
        self._forget()

    def _trim(self) -> None:
        while len(self._kept) > 1 and self._kept_samples - len(self._kept[0]) >= self._preroll:
            self._kept_samples -= len(self._kept.popleft())

    def _forget(self) -> None:
        self._kept.clear()
        self._kept_samples = 0
