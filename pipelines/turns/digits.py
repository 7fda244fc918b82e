"""Numbers said digit by digit, in groups, or written; and the words numbers are made of.

Above: ``answers`` asks whether a number is whole. Below: ``reading``, ``words``.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.turns.reading import FILLERS, LEAD_INS
from pipelines.turns.words import vocabulary

__all__ = ["DIGIT", "TEEN", "TEN", "one_digit", "read_digits"]

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEEN_NAMES = tuple(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905 - readable
)
_TEN_NAMES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
DIGIT = {name: str(value) for value, name in enumerate(_UNITS)} | {"oh": "0", "o": "0", "nought": "0"}
TEEN = {name: str(value) for value, name in enumerate(_TEEN_NAMES, start=10)}
TEN = {name: str(value) for value, name in enumerate(_TEN_NAMES, start=2)}
_REPEATS = {"double": 2, "triple": 3}
_BETWEEN_DIGITS = vocabulary("dash hyphen space and then plus point slash pause area code") | FILLERS


def read_digits(heard: Sequence[str]) -> str | None:
    """Read a number said digit by digit, in groups, or written.

    "2, 7 nine", "double five", "oh", "twenty one" and "eight hundred" give 279, 55, 0, 21 and 800. Words that lead to
    the number, and separators inside it, are passed over.

    Returns:
        The digits so far; ``""`` when only words leading to a number were said; ``None`` for anything else.
    """
    digits, at = "", 0
    while at < len(heard):
        said, size = _digits_at(heard, at)
        if not size:
            if heard[at] not in (_BETWEEN_DIGITS if digits else LEAD_INS | _BETWEEN_DIGITS):
                return None
            said, size = "", 1
        digits += said
        at += size
    return digits


def _digits_at(heard: Sequence[str], at: int) -> tuple[str, int]:
    """Read the digits said at a place, and over how many words."""
    word = heard[at]
    following = heard[at + 1] if at + 1 < len(heard) else ""
    if word.isdigit():
        return word, 1
    if word in _REPEATS and (digit := one_digit(following)):
        return digit * _REPEATS[word], 2
    if word in DIGIT:
        return (DIGIT[word] + "00", 2) if following == "hundred" else (DIGIT[word], 1)
    if word in TEN:
        return (TEN[word] + DIGIT[following], 2) if following in _UNITS[1:] else (TEN[word] + "0", 1)
    return (TEEN[word], 1) if word in TEEN else ("", 0)


def one_digit(word: str) -> str:
    """The digit a word is, said or written; empty when it is none."""
    return word if len(word) == 1 and word.isdigit() else DIGIT.get(word, "")
