"""The overview of a call that takes several pages: a row a page, to find the one worth looking into.

Above: ``picture`` puts it on the first page. Below: ``paper`` draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Samples
from pipelines.trace import MarkKind, Trace

if TYPE_CHECKING:
    from voice_server.paper import Paper

__all__ = ["Overview"]

_ROW, _BELOW = 30, 22
"""Pixels: the height of a row, and what is left below the last."""

_COLUMNS = 700
"""Into how many columns a row of sound is parted."""

_INK, _GREY, _RULE = "#1a202c", "#718096", "#e8ecf1"
_CALLER, _AGENT, _CUT = "#2b6cb0", "#2f855a", "#c53030"


class Overview:
    """An overview to be drawn: the caller above each line, the agent below.

    Turns are marked where they were committed, and the agent where it was cut.

    Args:
        trace: of the call.
        pages: when each page begins and ends, milliseconds.
        peaks: the loudest sample of ``caller`` and ``agent``.
    """

    def __init__(self, trace: Trace, pages: Sequence[tuple[float, float]], peaks: Mapping[str, int]) -> None:
        self._trace = trace
        self._pages = pages
        self._peaks = peaks
        self._longest_ms = max(end - start for start, end in pages)
        self.height = len(pages) * _ROW + _BELOW
        """Pixels it takes."""

    def draw(self, paper: Paper, x: tuple[float, float], top: float) -> None:
        """Draw it.

        Args:
            paper: what to draw on.
            x: where rows begin and end at most; page numbers stand before them.
            top: where it begins.
        """
        for row, (start_ms, end_ms) in enumerate(self._pages):
            middle = top + row * _ROW + _ROW / 2
            end = x[0] + (end_ms - start_ms) / self._longest_ms * (x[1] - x[0])
            paper.words(x[0] - 14, middle, f"page {row + 1}", _GREY, align="right", size=11)
            paper.line((x[0], end), (middle, middle), _RULE)
            self._sound(paper, (x[0], end), middle, row)
            self._moments(paper, (x[0], end), middle, row)

    def _sound(self, paper: Paper, x: tuple[float, float], middle: float, row: int) -> None:
        reach = _ROW / 2 - 3
        sides: tuple[tuple[str, Samples, int, str, int], ...] = (
            ("caller", self._trace.caller, HEARING_RATE, _CALLER, -1),
            ("agent", self._trace.agent, SPEAKING_RATE, _AGENT, 1),
        )
        for name, samples, rate, colour, way in sides:
            first, last = (round(t_ms * rate / 1000) for t_ms in self._pages[row])
            part = samples[first:last]
            if len(part) < _COLUMNS:
                continue
            loud = _loudness(part) / max(self._peaks[name], 2_000) * reach
            columns = x[0] + np.linspace(0, len(part) / (last - first), _COLUMNS) * (x[1] - x[0])
            paper.wave(columns, np.full(_COLUMNS, middle), middle + way * loud, colour)

    def _moments(self, paper: Paper, x: tuple[float, float], middle: float, row: int) -> None:
        start_ms, end_ms = self._pages[row]
        commits = [said.commit_ms for said in self._trace.said if said.commit_ms is not None]
        cuts = [mark.t_ms for mark in self._trace.marks if mark.kind is MarkKind.CANCEL]
        for moments, colour, way in ((commits, _CALLER, -1), (cuts, _CUT, 1)):
            for t_ms in moments:
                if start_ms <= t_ms < end_ms:
                    at = x[0] + (t_ms - start_ms) / (end_ms - start_ms) * (x[1] - x[0])
                    paper.line((at, at), (middle, middle + way * (_ROW / 2 - 2)), colour, width=2)


def _loudness(samples: Samples) -> npt.NDArray[np.float64]:
    """Give the loudest sample of each column."""
    starts = np.linspace(0, len(samples), _COLUMNS, endpoint=False).astype(np.intp)
    high = np.maximum.reduceat(samples, starts).astype(np.float64)
    low = np.minimum.reduceat(samples, starts).astype(np.float64)
    return np.maximum(high, -low)
