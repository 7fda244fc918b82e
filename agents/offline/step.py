"""What the offline model answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One response: words, calls, or words and then calls."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Tools by name, each with its input."""
