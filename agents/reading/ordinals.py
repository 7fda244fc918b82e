"""Ordinals in words and figures: "the twenty-first", "2nd", "third"."""

from __future__ import annotations

import re

from agents.reading.numbers import SMALL, TENS, with_numerals

__all__ = ["with_ordinals"]

_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_ORDINALS = {
    **_IRREGULAR,
    **{f"{word}th": value for word, value in SMALL.items() if 0 < value < 20 and value not in _IRREGULAR.values()},
    **{f"{word[:-1]}ieth": value for word, value in TENS.items()},
}
_TENS_BEFORE = re.compile(rf"\b({'|'.join(TENS)})[\s-]+({'|'.join(_ORDINALS)})\b")
_ALONE = re.compile(rf"\b({'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\b")
_FIGURES = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")


def with_ordinals(text: str) -> str:
    """Write the numbers of an utterance in numerals, ordinals as ``2th``, whatever the number.

    Args:
        text: an utterance. "A second" is taken for an ordinal, too: who asks for a date expects none of time.

    Returns:
        The utterance in lower case, as :func:`with_numerals` writes it.
    """
    said = _TENS_BEFORE.sub(lambda match: f"{TENS[match[1]] + _ORDINALS[match[2]]}th", text.lower())
    said = _ALONE.sub(lambda match: f"{_ORDINALS[match[1]]}th", said)
    return re.sub(r"\b(\d{1,2}) ?th\b", r"\1th", with_numerals(_FIGURES.sub(r" \1 th ", said)))
