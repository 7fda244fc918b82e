"""Codes of letters and figures, as they are spelled: "A, B, one two three, four five six" is ``AB123456``."""

from __future__ import annotations

import re

from agents.reading.digits import read_digits
from agents.reading.numbers import SMALL
from agents.reading.spelling import LETTERS, TEXT_LIMIT, spelled_out
from agents.reading.vocabulary import vocabulary

__all__ = ["read_code"]

_LEAD_IN = vocabulary(
    "a and booking card code i'm is it it's its loyalty member membership my number oh ok okay reference so sure",
    "that's the this uh um well yeah yes",
)
_PASSED_OVER = vocabulary("and dash hyphen please space then uh um")
_REPEAT = {"double": 2, "triple": 3}


def read_code(text: str) -> str | None:
    """Read a code.

    Args:
        text: an utterance.

    Returns:
        The code in capitals; ``None`` when there is anything else in the utterance, or nothing.
    """
    tokens = re.findall(r"[A-Za-z0-9']+", spelled_out(text[:TEXT_LIMIT]))
    while len(tokens) > 1 and tokens[0].lower() in _LEAD_IN and len(tokens[0]) > 1:
        tokens.pop(0)
    code, repeat = "", 1
    for token in tokens:
        if token.lower() in _PASSED_OVER:
            continue
        if token.lower() in _REPEAT:
            repeat = _REPEAT[token.lower()]
            continue
        meant = _characters(token)
        if meant is None:
            return None
        code += meant[:1] * (repeat - 1) + meant
        repeat = 1
    return code.upper() or None


def _characters(token: str) -> str | None:
    """What a token stands for in a code."""
    if len(token) == 1 or token.isupper() or re.search(r"\d", token):
        return token
    word = token.lower()
    if word in LETTERS:
        return LETTERS[word]
    return read_digits(word) if word in SMALL or word.endswith("ty") else None
