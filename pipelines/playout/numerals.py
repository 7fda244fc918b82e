"""Numerals: figures in English words, as they are said on the telephone.

Above: ``rewrites``. Below: nothing. (``num2words`` does this for many languages, but brings a parser of command lines
with it that has had no release since 2014 and no wheel.)
"""

from __future__ import annotations

__all__ = ["amount", "cardinal", "digit_by_digit", "ordinal", "plural", "year"]

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_LIMIT = 10**15
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_ORDINALS |= {"twelve": "twelfth"}


def cardinal(number: int) -> str:
    """Say a whole number: 1250 is "one thousand two hundred fifty".

    Args:
        number: not negative; from 10**15 on it is said digit by digit.
    """
    if number < 20:
        return _UNITS[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_UNITS[number % 10]}" if number % 10 else "")
    if number >= _LIMIT:
        return digit_by_digit(str(number))
    size, name = next(scale for scale in _SCALES if number >= scale[0])
    rest = number % size
    return f"{cardinal(number // size)} {name}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """Say a place in an order: 23 is "twenty-third"."""
    said = cardinal(number)
    head, last = said[: max(said.rfind(" "), said.rfind("-")) + 1], said[max(said.rfind(" "), said.rfind("-")) + 1 :]
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    return head + (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def year(number: int) -> str:
    """Say a year from 1000 to 9999: "nineteen ninety-nine", "two thousand five", "nineteen hundred"."""
    century, rest = divmod(number, 100)
    if century % 10 == 0 and rest < 10:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def digit_by_digit(figures: str) -> str:
    """Say every digit of a text, passing over what is none: "0-49" is "zero four nine"."""
    return " ".join(_UNITS[int(figure)] for figure in figures if figure in "0123456789")


def amount(figures: str) -> str:
    """Say a written amount with its commas and decimals: "1,250.5" is "one thousand two hundred fifty point five".

    A leading zero makes a whole number a code, said digit by digit.
    """
    whole, _, decimals = figures.replace(",", "").partition(".")
    if not decimals and len(whole) > 1 and whole[0] == "0":
        return digit_by_digit(whole)
    # Figures no telephone call says are not worth the work of turning them into one integer.
    said = cardinal(int(whole or "0")) if len(whole) <= 15 else digit_by_digit(whole)
    return f"{said} point {digit_by_digit(decimals)}" if decimals else said


def plural(said: str) -> str:
    """Say the plural of a number's words: "nineteen nineties"."""
    return f"{said[:-1]}ies" if said.endswith("y") else f"{said}s"
