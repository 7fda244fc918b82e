"""Times, numbers and addresses in words that are said and heard well."""

from __future__ import annotations

from datetime import date, datetime

from agents.reading.numbers import SMALL, TENS

__all__ = ["say_address", "say_date", "say_digits", "say_number", "say_time"]

_SMALL_WORDS = {value: word for word, value in SMALL.items()}
_TENS_WORDS = {value: word for word, value in TENS.items()}
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_ORDINALS |= {"twelve": "twelfth", "twenty": "twentieth", "thirty": "thirtieth"}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# fmt: off
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)
# fmt: on
_SIGNS = {"@": "at", ".": "dot", "_": "underscore", "-": "dash", "+": "plus"}


def say_number(value: int) -> str:
    """Say a number from 0 to 99."""
    if value in _SMALL_WORDS:
        return _SMALL_WORDS[value]
    tens, unit = value // 10 * 10, value % 10
    return f"{_TENS_WORDS[tens]}-{_SMALL_WORDS[unit]}" if unit else _TENS_WORDS[tens]


def say_time(moment: datetime) -> str:
    """Say the time of day: "nine oh five in the morning"."""
    hour, minute = moment.hour % 12 or 12, moment.minute
    if minute == 0:
        said = f"{say_number(hour)} o'clock"
    else:
        said = f"{say_number(hour)} {'oh ' if minute < 10 else ''}{say_number(minute)}"
    if moment.hour < 12:
        return f"{said} in the morning"
    return f"{said} in the {'afternoon' if moment.hour < 18 else 'evening'}"


def say_date(moment: date, *, year: bool = False) -> str:
    """Say the day: "Tuesday, the third of March", with the year in figures if wanted."""
    *tens, last = say_number(moment.day).split("-")
    ordinal = "-".join([*tens, _ORDINALS.get(last, f"{last}th")])
    day = f"{_WEEKDAYS[moment.weekday()]}, the {ordinal} of {_MONTHS[moment.month - 1]}"
    return f"{day} {moment.year}" if year else day


def say_digits(digits: str) -> str:
    """Say digits one by one, in groups of three, the last of four rather than one alone: "two seven nine, four one"."""
    groups = [digits[start : start + 3] for start in range(0, len(digits), 3)]
    if len(groups) > 1 and len(groups[-1]) == 1:
        groups[-2:] = [groups[-2] + groups[-1]]
    return ", ".join(" ".join(_SMALL_WORDS[int(digit)] for digit in group) for group in groups)


def say_address(address: str) -> str:
    """Say an e-mail address letter by letter: "J, O, E, at, M, A, I, L, dot, C, O, M"."""
    return ", ".join(
        _SIGNS.get(sign) or (_SMALL_WORDS[int(sign)] if sign.isdigit() else sign.upper()) for sign in address
    )
