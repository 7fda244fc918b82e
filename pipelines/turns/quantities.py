"""Dates, times of day and numbers: whether one that is being said is whole.

Above: ``answers``. Below: ``digits``, ``reading``, ``words``. What they mean, the agent reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.turns.digits import DIGIT, TEEN, TEN
from pipelines.turns.reading import LEAD_INS, Reading, without_closer
from pipelines.turns.words import vocabulary

__all__ = ["read_date", "read_number", "read_time"]

_MONTHS = vocabulary("""
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec
""")
_DAYS = vocabulary("monday tuesday wednesday thursday friday saturday sunday")
_NEAR = vocabulary("today tomorrow tonight")
_SPANS = vocabulary("day days week weeks month months fortnight")
_ORDINALS = vocabulary("""
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth
""")
_LEADING = LEAD_INS | vocabulary("on of in the at by around about next this coming from after before until leaving")
_OPENING = vocabulary("on of in the at by next this coming from after before until and or a")
"""Behind one of these something is still to come."""

_NAMED_TIMES = vocabulary("noon midday midnight")
_PARTS_OF_DAY = vocabulary("morning afternoon evening night tonight")
_TIME_WORDS = vocabulary("half quarter past to minutes o'clock oclock a p m am pm")
_SCALES = vocabulary("hundred thousand million dozen")


def read_date(heard: Sequence[str]) -> Reading:
    """Judge a date: "the second of" is begun, "the second of November" may get a year, "tomorrow" is whole."""
    said, closed = without_closer(heard)
    kinds = {_kind_in_a_date(word) for word in said} - {""}
    if "other" in kinds:
        return Reading.OTHER
    if not kinds or said[-1] in _OPENING:
        return Reading.BEGUN
    if "near" in kinds or {"number", "span"} <= kinds or {"year", "month"} <= kinds:
        return Reading.COMPLETE
    day = bool(kinds & {"ordinal", "number", "tens"})
    if day and "month" in kinds and sum(_kind_in_a_date(word) in ("tens", "number") for word in said) >= 2:
        return Reading.COMPLETE  # "November second, twenty twenty-six"
    if (day and "month" in kinds) or "ordinal" in kinds or "weekday" in kinds:
        return Reading.COMPLETE if closed else Reading.EXTENDABLE
    return Reading.BEGUN


def read_time(heard: Sequence[str]) -> Reading:
    """Judge a time of day: "half past" is begun, "seven" may go on, "seven thirty p.m." is whole."""
    said, closed = without_closer(heard)
    if any(word in _NAMED_TIMES for word in said):
        return Reading.COMPLETE
    known = _LEADING | _TIME_WORDS | _PARTS_OF_DAY
    if not all(word in known or _is_number(word) for word in said):
        return Reading.OTHER
    if not any(_is_number(word) for word in said) or said[-1] in _OPENING | {"past", "to", "half", "quarter"}:
        return Reading.BEGUN
    whole = closed or said[-1] in _PARTS_OF_DAY | {"am", "pm"} or (said[-1] == "m" and said[-2] in ("a", "p"))
    return Reading.COMPLETE if whole else Reading.EXTENDABLE


def read_number(heard: Sequence[str]) -> Reading:
    """Judge a number: "a hundred and" is begun, "twenty" may go on, "three" and "two of us" are whole."""
    said, closed = without_closer(heard)
    places = [place for place, word in enumerate(said) if _is_number(word) or word in _SCALES]
    others = [word for word in said if word not in _LEADING and not _is_number(word) and word not in _SCALES]
    if len(others) > 2:
        return Reading.OTHER
    if not places:
        return Reading.OTHER if others else Reading.BEGUN
    if said[-1] in vocabulary("and or point a"):
        return Reading.BEGUN
    grows = places[-1] == len(said) - 1 and (said[-1] in TEN or said[-1] in _SCALES)
    return Reading.EXTENDABLE if grows and not closed else Reading.COMPLETE


def _kind_in_a_date(word: str) -> str:
    """What a word is in a date: empty for one that only leads to it, ``other`` for one that belongs to none."""
    figures = word.rstrip("stndrh")
    kinds = (
        ("month", word in _MONTHS),
        ("weekday", word in _DAYS),
        ("near", word in _NEAR),
        ("span", word in _SPANS),
        ("ordinal", word in _ORDINALS or (figures != word and figures.isdecimal())),
        ("tens", word in TEN),
        ("year", word.isdecimal() and len(word) == 4),
        ("number", _is_number(word)),
        ("", word in _LEADING),
    )
    return next((kind for kind, is_it in kinds if is_it), "other")


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in DIGIT or word in TEEN or word in TEN
