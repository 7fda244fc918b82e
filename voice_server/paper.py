"""Paper: boxes, lines, waves and words in pixels, on matplotlib.

Above: ``picture`` decides what to draw. One axes covers the whole figure; x runs right and y runs down.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.patheffects import withStroke

__all__ = ["Paper"]

_DPI = 100
_POINTS = 72 / _DPI
"""Points of one pixel: font sizes are given in pixels."""

_ELLIPSIS = "…"

Align: TypeAlias = Literal["left", "center", "right"]


class Paper:
    """One page.

    Args:
        width: pixels.
        height: pixels.
    """

    def __init__(self, width: float, height: float) -> None:
        self._figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor="white")
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set_axis_off()
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)
        self._renderer: Any = cast(Any, self._canvas).get_renderer()
        self.measure = lru_cache(maxsize=4096)(self._measure)

    def box(
        self, x: tuple[float, float], y: tuple[float, float], colour: str, *, edge: str = "none", **style: Any
    ) -> None:
        """Fill a rectangle between two x and two y; ``style`` is matplotlib's (``alpha``, ``linestyle``, ``hatch``)."""
        self._axes.add_patch(
            Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0], facecolor=colour, edgecolor=edge, linewidth=1, **style)
        )

    def pill(
        self, x: tuple[float, float], y: tuple[float, float], colour: str, *, edge: str = "none", **style: Any
    ) -> None:
        """Fill a rectangle with round corners."""
        radius = min(4.0, (x[1] - x[0]) / 2)
        shape = f"round,pad=0,rounding_size={radius}"
        self._axes.add_patch(
            FancyBboxPatch(
                (x[0], y[0]),
                max(x[1] - x[0], 0.1),
                y[1] - y[0],
                boxstyle=shape,
                facecolor=colour,
                edgecolor=edge,
                linewidth=1,
                **style,
            )
        )

    def line(
        self, x: tuple[float, float], y: tuple[float, float], colour: str, *, width: float = 1, **style: Any
    ) -> None:
        """Draw a straight line."""
        self._axes.plot(x, y, color=colour, linewidth=width, solid_capstyle="butt", **style)

    def curve(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], base: float, colour: str) -> None:
        """Draw a curve and shade it down to ``base``."""
        self._axes.fill_between(x, y, base, color=colour, alpha=0.18, linewidth=0)
        self._axes.plot(x, y, color=colour, linewidth=1.2)

    def wave(
        self, x: npt.NDArray[np.float64], low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], colour: str
    ) -> None:
        """Fill between two outlines."""
        self._axes.fill_between(x, low, high, color=colour, linewidth=0.6)

    def words(
        self,
        x: float,
        y: float,
        text: str,
        colour: str,
        *,
        room: float | None = None,
        size: float = 12,
        align: Align = "left",
        halo: bool = False,
        **style: Any,
    ) -> float:
        """Write one line, vertically centred on ``y``, cut with an ellipsis to fit ``room`` pixels.

        A halo hides what lies behind the letters.

        Returns:
            The pixels it took; 0 when there was no room for a single letter.
        """
        text = " ".join(text.split())
        bold = style.get("weight") == "bold"
        if room is not None:
            text = self._fit(text, room, size, bold)
        if halo:
            style["path_effects"] = [withStroke(linewidth=3, foreground="white")]
        if text:
            self._axes.text(
                x,
                y,
                text,
                color=colour,
                fontsize=size * _POINTS,
                ha=align,
                va="center_baseline",
                parse_math=False,
                **style,
            )
        return self.measure(text, size, bold)

    def save(self, path: Path) -> None:
        """Write the page; the suffix says which format."""
        with warnings.catch_warnings():
            # A script that the font lacks is drawn as boxes: better a picture with boxes than none.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            self._figure.savefig(path, dpi=_DPI, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)

    def _fit(self, text: str, room: float, size: float, bold: bool) -> str:
        if self.measure(text, size, bold) <= room:
            return text
        shortest, longest = 0, len(text)  # as many letters as fit, by halving
        while shortest < longest:
            middle = (shortest + longest + 1) // 2
            if self.measure(text[:middle].rstrip() + _ELLIPSIS, size, bold) <= room:
                shortest = middle
            else:
                longest = middle - 1
        return text[:shortest].rstrip() + _ELLIPSIS if shortest else ""

    def _measure(self, text: str, size: float, bold: bool = False) -> float:
        if not text:
            return 0.0
        font = FontProperties(size=size * _POINTS, weight="bold" if bold else "normal")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            return float(self._renderer.get_text_width_height_descent(text, font, False)[0])
