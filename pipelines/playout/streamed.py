"""A streamed utterance: audio that comes as it is made elsewhere, with words that run ahead of it or behind.

Above: the realtime pipeline speaks what a provider says with it. Below: ``alignment`` places the words of a part once
all of its audio is there; until then they are taken to be said no faster than anybody speaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.playout.alignment import word_times
from pipelines.playout.speakable import Span, Speakable
from pipelines.playout.utterance import Piece, Utterance, UtteranceKind

__all__ = ["CHARACTERS_PER_S", "PartHeard", "StreamedUtterance"]

CHARACTERS_PER_S = 13.0
"""Characters of text a voice speaks in a second, pauses included, while nothing is known of the voice: 13 to 15 in
ordinary speech, the least of it, so that no more is believed heard than was."""

TELLING = 40
"""Characters a part must have to tell how fast a voice is: two or three clauses, with their pauses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHeard:
    """How much of a part was heard."""

    part: str
    heard_s: float
    """Seconds of it that are proven played."""
    made_s: float
    """Seconds of it that there are."""


class StreamedUtterance(Utterance):
    """An utterance in parts, whose words and audio come apart.

    What is heard is told from the audio that was played: words that have not come yet are not heard, and words whose
    audio has not come are not either. Words of an earlier part may come when a later one has begun.

    Args:
        number: ascending within a call.
        kind: why it is said.
        rate: hertz of its audio.
        pace: characters a second, as this voice was heard to speak before.
    """

    def __init__(self, number: int, kind: UtteranceKind, *, rate: int, pace: float = CHARACTERS_PER_S) -> None:
        super().__init__(number, kind, rate=rate)
        self._expected_pace = pace
        self._parts: dict[str, Piece] = {}
        self._aligned: dict[str, int] = {}
        """For each part whose words were placed: how many characters of it there were."""

    def sound(self, part: str, samples: Samples) -> None:
        """Add audio to a part; kept, not copied. What comes for a part that another has followed belongs to that."""
        if not len(samples):
            return
        piece = self._part(part)
        later = self.pieces[self.pieces.index(piece) + 1 :]
        if any(other.samples for other in later):
            piece, later = self.pieces[-1], []
        for other in later:
            other.first_sample += len(samples)
        self._starts.append(self.samples)
        self._chunks.append(samples)
        self.samples += len(samples)
        piece.samples += len(samples)
        for earlier in self.pieces[: self.pieces.index(piece)]:
            earlier.complete = True

    def words(self, part: str, text: str) -> None:
        """Add words to a part."""
        piece = self._part(part)
        if not piece.spoken.source and piece is not self.pieces[0]:
            text = text.lstrip()
        piece.spoken = _verbatim(piece.spoken.source + text)
        self._lay_out()

    def close(self) -> None:
        """There will be no more audio. Idempotent."""
        for piece in self.pieces:
            piece.complete = True
        self.complete = True

    def heard_end(self) -> int:
        """Offset into the text up to which words were heard, rounded down to whole words."""
        self._align()
        return super().heard_end()

    def resume_sample(self) -> int:
        """The sample at which the first word not proven heard begins."""
        self._align()
        return super().resume_sample()

    def text_of(self, parts: Iterable[str], end: int | None = None) -> str:
        """Give the words of some of its parts.

        Args:
            parts: which; those that do not exist have no words.
            end: offset into all of the text behind which nothing counts; ``None``: everything counts.
        """
        limit = len(self.text) if end is None else end
        pieces = [self._parts[part] for part in parts if part in self._parts]
        texts = [self.text[piece.start : min(piece.start + len(piece.spoken.source), limit)] for piece in pieces]
        return " ".join(stripped for text in texts if (stripped := text.strip()))

    def parts_heard(self, parts: Iterable[str] | None = None) -> Iterator[PartHeard]:
        """Tell of each part how much was heard, in order.

        Args:
            parts: which; ``None``: all.
        """
        for part in self._parts if parts is None else parts:
            if (piece := self._parts.get(part)) is not None and piece.samples:
                heard = min(max(self.heard_samples - piece.first_sample, 0), piece.samples)
                yield PartHeard(part=part, heard_s=heard / self.rate, made_s=piece.samples / self.rate)

    @property
    def pace(self) -> float:
        """Characters a second, as far as this utterance tells."""
        told = [piece for piece in self.pieces if piece.complete and len(piece.spoken.text) >= TELLING]
        seconds = sum(piece.samples for piece in told) / self.rate
        return sum(len(piece.spoken.text) for piece in told) / seconds if seconds else self._expected_pace

    def _duration(self, piece: Piece) -> float:
        """Seconds of a part; while it is being made, no less than its text will take."""
        made = piece.samples / self.rate
        return made if piece.complete else max(made, len(piece.spoken.text) / self._expected_pace)

    def _part(self, part: str) -> Piece:
        if (piece := self._parts.get(part)) is None:
            piece = self._parts[part] = self.open_piece(len(self.text), _verbatim(""))
        return piece

    def _lay_out(self) -> None:
        """Put the words of all parts one behind the other, with a space between those of two."""
        self.text = ""
        for piece in self.pieces:
            source = piece.spoken.source
            if source and self.text and not self.text[-1].isspace():
                self.text += " "
            piece.start = len(self.text)
            self.text += source

    def _align(self) -> None:
        for part, piece in self._parts.items():
            length = len(piece.spoken.source)
            if piece.complete and piece.samples and self._aligned.get(part) != length:
                self._aligned[part] = length
                piece.words = word_times(piece.spoken.text, self._sound_of(piece), self.rate)

    def _sound_of(self, piece: Piece) -> Samples:
        end = piece.first_sample + piece.samples
        chunks: list[Samples] = []
        at = piece.first_sample
        while at < end:
            chunks.append(self.audio(at, end - at))
            at += len(chunks[-1])
        return np.concatenate(chunks)


def _verbatim(text: str) -> Speakable:
    """What is said as it is written."""
    span = Span(source_start=0, source_end=len(text), spoken_start=0, spoken_end=len(text), copied=True)
    return Speakable(source=text, text=text, spans=(span,))
