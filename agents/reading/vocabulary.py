"""Sets of words, written down readably."""

from __future__ import annotations

import re

__all__ = ["vocabulary", "words"]


def vocabulary(*lines: str) -> frozenset[str]:
    """Make a set of the words of some lines, parted by spaces."""
    return frozenset(word for line in lines for word in line.split())


def words(text: str) -> list[str]:
    """Take an utterance apart: lower case, apostrophes and inner hyphens kept, numerals whole."""
    return re.findall(r"[a-z]+(?:['-][a-z]+)*|\d+(?:[.,]\d+)*", text.lower().replace("’", "'"))
