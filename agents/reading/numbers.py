"""Numbers in words: "a hundred and five", "three point five", "two and a half"."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["SMALL", "TENS", "read_number", "with_numerals"]

_SMALL = (
    "zero one two three four five six seven eight nine ten",
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"

SMALL = {word: value for value, word in enumerate(" ".join(_SMALL).split())}
"""The numbers below twenty, by word."""
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), start=1) if value > 1}
"""The tens from twenty, by word."""

_SCALES = {"dozen": 12, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_PARTS = {"half": Fraction(1, 2), "halves": Fraction(1, 2), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4)}
_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+|[a-z]+(?:'[a-z]+)*|[^\sa-z\d]")
NUMERAL = re.compile(r"\d+(?:\.\d+)?")


def with_numerals(text: str) -> str:
    """Write the numbers of an utterance in numerals.

    Args:
        text: an utterance.

    Returns:
        The utterance in lower case, tokens parted by single spaces, numbers as ``12`` or ``3.5``.
    """
    tokens = _TOKEN.findall(re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text.lower()))
    written: list[str] = []
    position = 0
    while position < len(tokens):
        value, used = _number_at(tokens, position)
        written.append(tokens[position] if value is None else _numeral(value))
        position += max(1, used)
    return " ".join(written)


def read_number(text: str) -> Fraction | None:
    """Read the one number of an utterance.

    Returns:
        Its exact value; ``None`` when there is none, or more than one.
    """
    tokens = with_numerals(text).split()
    found = [place for place, token in enumerate(tokens) if NUMERAL.fullmatch(token)]
    if len(found) != 1:
        return None
    negative = found[0] > 0 and tokens[found[0] - 1] in ("minus", "negative", "-")
    return Fraction(tokens[found[0]]) * (-1 if negative else 1)


def _number_at(tokens: list[str], start: int) -> tuple[Fraction | None, int]:
    """Read the number that begins at a token.

    Returns:
        Its value, or ``None``, and how many tokens it is.
    """
    part, used = _part_at(tokens, start)
    if part is not None:
        return part, used
    whole, used = _cardinal_at(tokens, start)
    if whole is None:
        return None, 0
    value, position = whole, start + used
    if tokens[position : position + 1] == ["point"]:
        decimals, used = _decimals_at(tokens, position + 1)
        if decimals:
            return value + Fraction(int(decimals), 10 ** len(decimals)), position + 1 + used - start
    if tokens[position : position + 1] == ["and"]:
        part, used = _part_at(tokens, position + 1)
        if part is not None:
            return value + part, position + 1 + used - start
    if tokens[position : position + 1] and tokens[position] in ("halves", "quarters"):
        return value * _PARTS[tokens[position]], position + 1 - start
    return value, position - start


def _part_at(tokens: list[str], start: int) -> tuple[Fraction | None, int]:
    words = tokens[start : start + 2]
    if words and words[0] in ("half", "quarter"):
        # "Half a mile", "a quarter of an hour": the article counts nothing more.
        return _PARTS[words[0]], 2 if words[1:] in (["a"], ["an"]) else 1
    if len(words) == 2 and words[0] in ("a", "one") and words[1] in ("half", "quarter"):
        return _PARTS[words[1]], 2
    if len(words) == 2 and words[0] in ("three", "3") and words[1] == "quarters":
        return Fraction(3, 4), 2
    return None, 0


def _cardinal_at(tokens: list[str], start: int) -> tuple[Fraction | None, int]:
    """Add up a cardinal: groups below a thousand, each with its scale."""
    total = Fraction(0)
    group: Fraction | None = None
    last = "start"
    position = start
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        numeral = token.replace(",", "")
        if last == "start" and NUMERAL.fullmatch(numeral.removeprefix(".") if token.startswith(".") else numeral):
            group, last = Fraction("0" + numeral), "unit"
        elif token in SMALL and (last in ("start", "hundred", "scale") or (last == "tens" and 0 < SMALL[token] < 10)):
            group, last = (group or 0) + Fraction(SMALL[token]), "unit"
        elif token in TENS and last in ("start", "hundred", "scale"):
            group, last = (group or 0) + Fraction(TENS[token]), "tens"
        elif token == "hundred" and last == "unit" and group is not None:
            group, last = group * 100, "hundred"
        elif token in _SCALES and group is not None:
            total, group, last = total + group * _SCALES[token], None, "scale"
        elif token == "a" and last == "start" and following in ("hundred", *_SCALES):
            group, last = Fraction(1), "unit"
        elif not (token == "and" and last in ("hundred", "scale") and (following in SMALL or following in TENS)):
            break
        position += 1
    if last == "start":
        return None, 0
    return total + (group or 0), position - start


def _decimals_at(tokens: list[str], start: int) -> tuple[str, int]:
    digits = ""
    position = start
    while position < len(tokens):
        token = tokens[position]
        if token.isdigit():
            digits += token
        elif token in SMALL and SMALL[token] < 10:
            digits += str(SMALL[token])
        elif token == "oh":
            digits += "0"
        else:
            break
        position += 1
    return digits, position - start


def _numeral(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.10f}".rstrip("0")
