"""What the caller said that was no turn, until a model knows of it."""

from __future__ import annotations

from agents.core.abort import AbortSignal

__all__ = ["Overheard"]

OVERHEARD_KEPT = 8
"""Overheard remarks kept for the next model call; older ones are dropped, for they no longer matter."""

OVERHEARD_LIMIT = 500
"""Characters kept of one of them."""


class Overheard:
    """Words that were no turn, until a model that was given them has answered."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._offered = 0

    def add(self, words: str) -> None:
        """Keep words; the oldest are dropped."""
        if not words.strip():
            return
        self._words.append(words.strip()[:OVERHEARD_LIMIT])
        if len(self._words) > OVERHEARD_KEPT:
            del self._words[0]
            self._offered = max(0, self._offered - 1)

    def render(self, _signal: AbortSignal | None) -> str | None:
        """Write them down for a model call."""
        self._offered = len(self._words)
        if not self._words:
            return None
        quoted = "; ".join(f'"{words}"' for words in self._words)
        return f"While you were speaking the caller also said, without wanting to interrupt: {quoted}."

    def delivered(self) -> None:
        """Forget what was rendered: a model call that had it has answered."""
        del self._words[: self._offered]
        self._offered = 0
