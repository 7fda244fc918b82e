"""Digits as they are dictated: "two, seven, nine", "279-413", "oh double five"."""

from __future__ import annotations

import re

from agents.reading.numbers import SMALL, TENS
from agents.reading.vocabulary import vocabulary

__all__ = ["read_digits"]

_ZERO = {"oh": "0", "o": "0", "nought": "0", "naught": "0", "niner": "9"}
_SOUND_ALIKE = {"to": "2", "too": "2", "for": "4", "fore": "4", "won": "1", "ate": "8", "tree": "3"}
_REPEAT = {"double": 2, "triple": 3, "treble": 3}
_ZEROS = {"hundred": "00", "thousand": "000"}
_AROUND = vocabulary(
    "a actually and area at call can code dash digits extension get hello hi hyphen i i'm is it it's me mobile my no",
    "number of ok okay on phone please plus reach s say so sure telephone thank thanks that that's the then there uh",
    "um well yeah yes you",
)
"""Words people put around a number."""


def read_digits(text: str) -> str | None:
    """Read a number that is said digit by digit, in groups or as a whole.

    Args:
        text: an utterance.

    Returns:
        The digits in order; ``None`` when the utterance has none or is plainly about something else.
    """
    tokens = re.findall(r"[a-z']+|\d+", text.lower())
    said: list[str | None] = []
    strays = 0
    position = 0
    while position < len(tokens):
        digits, used = _digits_at(tokens, position)
        if digits is None and tokens[position] not in _AROUND and tokens[position] not in _SOUND_ALIKE:
            strays += 1
        said.append(digits)
        position += used
    groups = [group for group in said if group is not None]
    # One misheard word in a number is forgiven; a sentence that happens to have a number in it is not one.
    if not groups or strays > min(1, len("".join(groups)) // 3):
        return None
    return "".join(groups)


def _digits_at(tokens: list[str], position: int) -> tuple[str | None, int]:
    """Read the digits that begin at a token.

    Returns:
        The digits, or ``None``, and how many tokens they are.
    """
    token = tokens[position]
    following = tokens[position + 1] if position + 1 < len(tokens) else ""
    if token in _REPEAT and (one := _single(following)):
        return one * _REPEAT[token], 2
    if token in TENS:
        unit = SMALL.get(following, 0)
        return (str(TENS[token] + unit), 2) if 0 < unit < 10 else (str(TENS[token]), 1)
    if token in _SOUND_ALIKE and position > 0 and _single(tokens[position - 1]) and _single(following):
        return _SOUND_ALIKE[token], 1
    if (one := _single(token)) is not None:
        return (one + _ZEROS[following], 2) if following in _ZEROS else (one, 1)
    return None, 1


def _single(token: str) -> str | None:
    if token.isdigit():
        return token
    if token in SMALL:
        return str(SMALL[token])
    return _ZERO.get(token)
