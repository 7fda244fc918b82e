"""Which stretches of a call are worth paper, and where on it: long silence is cut, long calls are wrapped like music.

Above: ``picture``. Everything here is arithmetic on milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.trace import Trace

__all__ = ["Piece", "Stave", "lay_out"]

_MARGIN_MS = 400.0
"""Kept before and after whatever happened."""

_LONGEST_SILENCE_MS = 2_000.0
"""A longer stretch in which nothing happened is cut."""

_STAVE_MS = 13_000.0
"""Most of a call on one stave: at 1600 pixels a word of normal speech still has room for its letters."""

_SHORTEST_STAVE_MS = 4_000.0
_SLACK = 0.3
"""How far, of a stave, a break may move from an even share to a moment when nobody speaks."""

_MOMENTS = 49
"""How many moments are looked at for a break."""

_GAP_MS = 250.0
"""Width of a cut on paper."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the call, drawn without a cut."""

    start_ms: float
    end_ms: float
    offset_ms: float
    """Where it begins on its stave."""
    skipped_ms: float = 0.0
    """How much silence was cut before it; 0 where the call begins or the stave before goes on."""

    @property
    def length_ms(self) -> float:
        """How long it is."""
        return self.end_ms - self.start_ms

    def place(self, t_ms: float) -> float:
        """Give the position on the stave of a moment inside the piece."""
        return self.offset_ms + t_ms - self.start_ms

    def clip(self, start_ms: float, end_ms: float) -> tuple[float, float] | None:
        """Give the part of a span that lies in the piece, placed; ``None`` when nothing does."""
        start, end = max(start_ms, self.start_ms), min(end_ms, self.end_ms)
        return (self.place(start), self.place(end)) if start < end else None


@dataclass(frozen=True, slots=True)
class Stave:
    """One row of the picture."""

    pieces: tuple[Piece, ...]

    @property
    def length_ms(self) -> float:
        """How much paper its pieces take, cuts included."""
        return self.pieces[-1].offset_ms + self.pieces[-1].length_ms

    @property
    def start_ms(self) -> float:
        """When it begins."""
        return self.pieces[0].start_ms

    @property
    def end_ms(self) -> float:
        """When it ends."""
        return self.pieces[-1].end_ms

    def locate(self, t_ms: float) -> float | None:
        """Give the position of a moment on this stave; ``None`` when it is elsewhere or was cut."""
        for piece in self.pieces:
            if piece.start_ms <= t_ms < piece.end_ms:
                return piece.place(t_ms)
        return None


def lay_out(
    trace: Trace, *, length_ms: float = _STAVE_MS, window_ms: tuple[float, float] = (0.0, math.inf)
) -> tuple[tuple[Stave, ...], float]:
    """Choose what of a call is drawn.

    Args:
        trace: of the call.
        length_ms: most of the call on one stave.
        window_ms: only what happened between these moments.

    Returns:
        At least one stave, and the length in ms that all of them are drawn to.
    """
    staves: list[Stave] = []
    row: list[Piece] = []
    position, last_end = 0.0, 0.0
    for start, end in _stretches(trace, length_ms, window_ms):
        gap = _GAP_MS if row and start > last_end else 0.0
        if row and position + gap + end - start > length_ms:
            staves.append(Stave(tuple(row)))
            row, position, gap = [], 0.0, 0.0
        row.append(Piece(start, end, position + gap, start - last_end))
        position += gap + end - start
        last_end = end
    staves.append(Stave(tuple(row)))
    return tuple(staves), max(_SHORTEST_STAVE_MS, *(stave.length_ms for stave in staves))


def _stretches(trace: Trace, longest_ms: float, window_ms: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Yield what is kept, ascending, none longer than a stave, breaking long ones where the fewest things go on."""
    first, last = window_ms
    kept = sorted((max(start, first), min(end, last)) for start, end in _busy(trace) if start <= last and end >= first)
    busy = np.array(kept, np.float64).reshape(-1, 2)
    for start, end in _merge(kept):
        begin = start
        while (rest := end - begin) > longest_ms:
            share_ms = rest / math.ceil(rest / longest_ms)
            latest = begin + min(share_ms * (1 + _SLACK), longest_ms)
            cut = _quiet_moment(busy, begin + share_ms, begin + share_ms * (1 - _SLACK), latest)
            yield begin, cut
            begin = cut
        yield begin, end


def _busy(trace: Trace) -> Iterator[tuple[float, float]]:
    yield from ((span.start_ms, span.end_ms) for span in trace.spans)
    yield from ((sentence.start_ms, sentence.end_ms) for sentence in trace.sentences)
    yield from ((wait.speech_end_ms, wait.first_sound_ms) for wait in trace.waits)
    yield from ((mark.t_ms, mark.t_ms) for mark in trace.marks)
    yield from ((t_ms, t_ms) for t_ms, probability in trace.probabilities if probability >= trace.exit)


def _merge(busy: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for start, end in busy:
        if kept and start - kept[-1][1] <= _LONGEST_SILENCE_MS:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end))
        else:
            kept.append((start, end))
    return [(max(0.0, start - _MARGIN_MS), end + _MARGIN_MS) for start, end in kept] or [(0.0, _SHORTEST_STAVE_MS)]


def _quiet_moment(busy: npt.NDArray[np.float64], wanted_ms: float, earliest_ms: float, latest_ms: float) -> float:
    """Find, of the moments at which the fewest things go on, the nearest to the wanted one.

    Args:
        busy: when each thing begins and ends, shape ``(things, 2)``.
        wanted_ms: where an even share ends.
        earliest_ms: the first moment that is looked at.
        latest_ms: the last.
    """
    starts, ends = busy[:, 0], busy[:, 1]
    moments: list[float] = np.linspace(earliest_ms, latest_ms, _MOMENTS).tolist()
    return min(moments, key=lambda at: (np.count_nonzero((starts < at) & (ends > at)), abs(at - wanted_ms)))
