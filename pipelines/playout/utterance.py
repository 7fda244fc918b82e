"""An utterance: everything spoken in one go, as text, as audio, and as what of it was heard."""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.playout.alignment import word_times
from pipelines.playout.position import heard_end, word_start_s
from pipelines.playout.speakable import Speakable
from pipelines.tts.base import WordTime

__all__ = ["Break", "Piece", "Utterance", "UtteranceKind"]

UtteranceKind: TypeAlias = Literal["reply", "greeting", "narration", "apology", "tool_result"]


@dataclass(slots=True, kw_only=True)
class Piece:
    """A sentence or clause of an utterance, spoken as one."""

    start: int
    """Offset of its first character in the utterance's source text."""
    spoken: Speakable
    """What the synthesiser was given, with the way back to the source."""
    first_sample: int
    """Where its audio begins in the utterance's audio."""
    samples: int = 0
    """How much audio there is so far."""
    complete: bool = False
    """Whether that is all of its audio."""
    words: tuple[WordTime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A place in an utterance's audio before whose rest another utterance is heard."""

    at_sample: int
    other: int
    """The other's number."""


class Utterance:
    """What is said under one number.

    Args:
        number: ascending within a call.
        kind: why it is said.
        rate: hertz of its audio.
    """

    def __init__(self, number: int, kind: UtteranceKind, *, rate: int) -> None:
        self.number = number
        self.kind: UtteranceKind = kind
        self.rate = rate
        self.text = ""
        """The source text so far, as the model or host wrote it."""
        self.pieces: list[Piece] = []
        self.samples = 0
        """How much audio there is so far."""
        self.complete = False
        """Whether there will be no more audio."""
        self.breaks: deque[Break] = deque()
        """Places where others speak before the rest of it, in order."""
        self.cut_short = False
        """Whether some of its text will never be made into audio."""
        self.given_samples = 0
        """How much of the audio the output was given."""
        self.begun = False
        """Whether an output was given its first sample."""
        self.heard_samples = 0
        """How much of the audio is proven played."""
        self._heard_pieces = 0
        self._chunks: list[Samples] = []
        self._starts: list[int] = []

    def open_piece(self, start: int, spoken: Speakable) -> Piece:
        """Begin the next sentence; its audio follows with ``append``."""
        piece = Piece(start=start, spoken=spoken, first_sample=self.samples)
        self.pieces.append(piece)
        return piece

    def append(self, samples: Samples, words: tuple[WordTime, ...] = ()) -> None:
        """Add audio to the piece opened last; kept, not copied."""
        piece = self.pieces[-1]
        piece.samples += len(samples)
        piece.words += words
        if len(samples):
            self._starts.append(self.samples)
            self._chunks.append(samples)
            self.samples += len(samples)

    def close_piece(self) -> None:
        """There will be no more audio of the piece opened last; without the engine's word times they are estimated."""
        piece = self.pieces[-1]
        piece.complete = True
        if not piece.words and piece.samples:
            first = bisect.bisect_right(self._starts, piece.first_sample) - 1
            piece.words = word_times(piece.spoken.text, np.concatenate(self._chunks[first:]), self.rate)

    def audio(self, first: int, count: int) -> Samples:
        """Return at most ``count`` samples from ``first`` on, a view where possible; at least one if there is one."""
        index = bisect.bisect_right(self._starts, first) - 1
        if index < 0 or first >= self.samples:
            return np.zeros(0, dtype=np.int16)
        offset = first - self._starts[index]
        return self._chunks[index][offset : offset + count]

    @property
    def unplayed_s(self) -> float:
        """Seconds of audio the output was not given yet."""
        return (self.samples - self.given_samples) / self.rate

    @property
    def playable(self) -> int:
        """How many samples the output may be given now: up to the next break, or to the end of what there is."""
        return (self.breaks[0].at_sample if self.breaks else self.samples) - self.given_samples

    @property
    def heard_whole(self) -> bool:
        """Whether every sample there will be is proven played."""
        return self.complete and self.heard_samples >= self.samples

    def heard_end(self) -> int:
        """Offset into the source text up to which words were heard, rounded down to whole words."""
        if self.heard_whole and not self.cut_short:
            return len(self.text)
        end = 0
        if (at := self._first_unheard()) > 0:
            before = self.pieces[at - 1]
            end = before.start + before.spoken.source_end(len(before.spoken.text))
        if at < len(self.pieces) and (played := self._played(self.pieces[at])) > 0:
            end = max(end, self.pieces[at].start + self._heard_in(self.pieces[at], played / self.rate))
        return min(end, len(self.text))

    def resume_sample(self) -> int:
        """The sample at which the first word not proven heard begins."""
        if (at := self._first_unheard()) == len(self.pieces):
            return self.heard_samples
        piece = self.pieces[at]
        if (played := self._played(piece)) <= 0:
            return piece.first_sample
        begins_s = word_start_s(piece.spoken, played / self.rate, self._duration(piece), piece.words)
        return piece.first_sample + min(int(begins_s * self.rate), played)

    def _played(self, piece: Piece) -> int:
        """How much of a piece is proven played, and of what comes after it; negative before it."""
        return self.heard_samples - piece.first_sample

    def _first_unheard(self) -> int:
        """Count the pieces heard whole: in a long utterance only those are looked at that were not counted yet."""
        while self._heard_pieces < len(self.pieces):
            piece = self.pieces[self._heard_pieces]
            if not piece.complete or self._played(piece) < max(piece.samples, 1):
                break
            self._heard_pieces += 1
        return self._heard_pieces

    def _heard_in(self, piece: Piece, played_s: float) -> int:
        return heard_end(piece.spoken, played_s, self._duration(piece), piece.words)

    def _duration(self, piece: Piece) -> float:
        """Seconds of a piece; while it is being made, no less than its text will take at a brisk pace."""
        made = piece.samples / self.rate
        return made if piece.complete else max(made, len(piece.spoken.text) / BRISK_CHARACTERS_PER_S)


BRISK_CHARACTERS_PER_S = 15.0
"""Characters of text a voice speaks in a second; used only while a sentence's audio is still being made."""
