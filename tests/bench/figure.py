"""A figure: something measured, beside what it was to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Figure", "table"]

_WIDTHS = (34, 18, 22)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    what: str
    aim: str = ""
    """Empty: nothing was promised, it is only good to know."""
    measured: str
    good: bool | None = None
    """Whether the aim was met; ``None`` when there is none."""
    how: str
    """How it was made."""

    def __str__(self) -> str:
        sign = {None: " ", True: "✓", False: "✗"}[self.good]
        return f"{sign} {_row(self.what, self.aim, self.measured)}{self.how}"


def table(figures: Iterable[Figure]) -> Iterable[str]:
    """Write figures as lines, each as soon as it is there, under a heading."""
    yield f"  {_row('figure', 'aim', 'measured')}how it was made"
    for figure in figures:
        yield str(figure)


def _row(*cells: str) -> str:
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
