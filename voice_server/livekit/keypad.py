"""A telephone's keypad: keys become one line of text.

Pure. Above: ``leg`` types it in.
"""

from __future__ import annotations

__all__ = ["Keypad"]

GAP_S = 2.0
"""Seconds after the last key at which they are complete: who looks at a card while they key needs one."""

END = "#"
KEYS = frozenset("0123456789*ABCD")
MOST = 64
"""Keys in a row; then they are complete: longer than any card's number."""


class Keypad:
    """Collects one caller's keys."""

    def __init__(self) -> None:
        self._keys = ""
        self._until: float | None = None

    @property
    def deadline(self) -> float | None:
        """When to call ``tick``, unless a key comes before; ``None``: nothing was keyed."""
        return self._until

    def press(self, key: str, now: float) -> str | None:
        """Take a key.

        Args:
            key: a digit, ``*``, ``#``, or ``A`` to ``D``; anything else is none.
            now: seconds of the clock.

        Returns:
            What was keyed, when it is complete; ``#`` ends it and is none of it. ``None``: it is not yet.
        """
        if key == END:
            return self._complete()
        if key not in KEYS:
            return None
        self._keys += key
        self._until = now + GAP_S
        return self._complete() if len(self._keys) >= MOST else None

    def tick(self, now: float) -> str | None:
        """Give what was keyed, when nothing came after it for long enough."""
        return self._complete() if self._until is not None and now >= self._until else None

    def _complete(self) -> str | None:
        keys, self._keys, self._until = self._keys, "", None
        return f"DTMF: {keys}" if keys else None
