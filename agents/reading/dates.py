"""Dates as they are said: "the second of November", "tomorrow", "next Friday", "Monday the seventh".

Well-kept libraries were tried (dateparser, parsedatetime, timefhuman): each takes some of these for another day, and
one of them any sentence for today. Here only what was surely said is read.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence, Set
from datetime import date, timedelta

from agents.reading.ordinals import with_ordinals

__all__ = ["names_part_of_a_date", "read_date"]

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_DAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14}
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1}
_FILLING = frozenset(["of", "the", ",", "on"])
_PAUSED = _FILLING | {"."}
"""What may stand behind a part of a date that was surely one; a full stop is a pause, as recognisers write them."""
_FIGURES = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b|\b(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})\b")


def read_date(text: str, today: date) -> date | None:
    """Read the one date of an utterance.

    Args:
        text: an utterance. Figures between slashes are read month first, as recognisers of American English write
            them, unless only the other order can be meant.
        today: what "tomorrow" counts from. A date without a year is the next such date, today included.

    Returns:
        The date; ``None`` when there is none, more than one, or one that no calendar has.
    """
    figures = [_in_figures(match) for match in _FIGURES.finditer(text)]
    tokens = with_ordinals(_FIGURES.sub(" ", text)).split()
    found = {*figures, *_dates(tokens, today)}
    return next(iter(found)) if len(found) == 1 else None


def names_part_of_a_date(text: str) -> bool:
    """Whether an utterance has a word in it that dates are made of."""
    tokens = with_ordinals(text).split()
    return any(token in _MONTHS or token in _DAYS or token in _NEAR or _ordinal(token) for token in tokens)


def _dates(tokens: Sequence[str], today: date) -> Iterator[date | None]:
    place = 0
    while place < len(tokens):
        read = _day_and_month(tokens, place, today) or _counted(tokens, place, today) or _weekday(tokens, place, today)
        read = read or _day_alone(tokens, place, today)
        if read is None:
            place += 1
        else:
            found, place = read
            yield found


Read = tuple[date | None, int]
"""What was read, which may be no date of any calendar, and behind which token."""


def _day_and_month(tokens: Sequence[str], start: int, today: date) -> Read | None:
    """Read "2nd of November 2026", "November 2", with or without a weekday before."""
    weekday, place = _optional_weekday(tokens, start)
    place = place if weekday is None else _skip(tokens, place, _PAUSED)
    first, behind = _day_or_month(tokens, place)
    if first is None:
        return None
    place = _skip(tokens, behind, _FILLING if tokens[place].isdecimal() else _PAUSED)
    second, behind = _day_or_month(tokens, place)
    if second is None or first[0] == second[0]:
        return None
    day, month = (first[1], second[1]) if first[0] == "day" else (second[1], first[1])
    year, behind = _optional_year(tokens, behind)
    if year is not None:
        return _on(year, month, day, weekday), behind
    for candidate in range(today.year, today.year + 9):
        found = _on(candidate, month, day, None)
        if found is not None and found >= today:
            return (found if weekday in (None, found.weekday()) else None), behind
    return None, behind


def _day_or_month(tokens: Sequence[str], place: int) -> tuple[tuple[str, int] | None, int]:
    if place >= len(tokens):
        return None, place
    token = tokens[place]
    if token in _MONTHS:
        return ("month", _MONTHS[token]), place + 1
    day = _ordinal(token) or (int(token) if token.isdecimal() and 1 <= int(token) <= 31 else 0)
    return (("day", day), place + 1) if day else (None, place)


def _optional_year(tokens: Sequence[str], place: int) -> tuple[int | None, int]:
    behind = _skip(tokens, place, _PAUSED)
    figures = [token for token in tokens[behind : behind + 2] if token.isdecimal()]
    if figures and 1900 <= int(figures[0]) <= 2199:
        return int(figures[0]), behind + 1
    if len(figures) == 2 and figures[0] in ("19", "20", "21") and len(figures[1]) == 2:
        return int(figures[0] + figures[1]), behind + 2  # "twenty twenty-seven"
    return None, place


def _counted(tokens: Sequence[str], start: int, today: date) -> Read | None:
    """Read "tomorrow", "the day after tomorrow", "in two weeks", "a week from tomorrow"."""
    if tokens[start] in _NEAR:
        return today + timedelta(days=_NEAR[tokens[start]]), start + 1
    said = list(tokens[start : start + 5])
    if said[:3] == ["day", "after", "tomorrow"]:
        return today + timedelta(days=2), start + 3
    ahead = said[0] == "in"
    said = said[1:] if ahead else said
    if len(said) < 2 or said[1] not in _UNITS or not (said[0] in ("a", "one") or said[0].isdecimal()):
        return None
    count = 1 if said[0] in ("a", "one") else int(said[0])
    days, behind = count * _UNITS[said[1]], start + ahead + 2
    if not ahead:
        if len(said) < 4 or said[2] != "from" or said[3] not in ("now", *_NEAR):
            return None
        days, behind = days + _NEAR.get(said[3], 0), behind + 2
    return (today + timedelta(days=days) if days <= 3_660 else None), behind


def _weekday(tokens: Sequence[str], start: int, today: date) -> Read | None:
    """Read a weekday: "Friday" is the next one, "next Friday" that of next week, "Monday the 7th" must be one."""
    next_week = tokens[start] == "next"
    place = start + 1 if next_week else start
    weekday, behind = _optional_weekday(tokens, place)
    if weekday is None:
        return None
    day = _ordinal(tokens[behind]) if behind < len(tokens) else 0
    if day:
        found = _next_with_day(today, day)
        return (found if found is not None and found.weekday() == weekday else None), behind + 1
    ahead = (weekday - today.weekday() - 1) % 7 + 1
    if next_week:
        ahead = weekday - today.weekday() + 7
    return today + timedelta(days=ahead), behind


def _day_alone(tokens: Sequence[str], start: int, today: date) -> Read | None:
    """Read "the 21st": the next one, today included. Without an article it may be anything."""
    if tokens[start] != "the" or start + 1 >= len(tokens):
        return None
    day = _ordinal(tokens[start + 1])
    following = tokens[start + 2] if start + 2 < len(tokens) else ""
    if not day or (following and following not in (".", ",", "?", "!", "please", "then", "if", "maybe")):
        return None
    behind = _skip(tokens, start + 2, _PAUSED)
    if behind < len(tokens) and tokens[behind] in _MONTHS:
        return None
    return _next_with_day(today, day), start + 2


def _optional_weekday(tokens: Sequence[str], place: int) -> tuple[int | None, int]:
    if place < len(tokens) and tokens[place] in _DAYS:
        return _DAYS[tokens[place]], _skip(tokens, place + 1)
    return None, place


def _next_with_day(today: date, day: int) -> date | None:
    year, month = today.year, today.month
    for _ in range(12):
        found = _on(year, month, day, None)
        if found is not None and found >= today:
            return found
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return None


def _skip(tokens: Sequence[str], place: int, passed_over: Set[str] = _FILLING) -> int:
    while place < len(tokens) and tokens[place] in passed_over:
        place += 1
    return place


def _ordinal(token: str) -> int:
    """Which day of the month a token is; 0: none."""
    figure = token.removesuffix("th")
    return int(figure) if figure != token and figure.isdecimal() and 1 <= int(figure) <= 31 else 0


def _on(year: int, month: int, day: int, weekday: int | None) -> date | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return found if weekday in (None, found.weekday()) else None


def _in_figures(match: re.Match[str]) -> date | None:
    if match[1]:
        return _on(int(match[1]), int(match[2]), int(match[3]), None)
    year = int(match[6]) + (2000 if len(match[6]) == 2 else 0)
    return _on(year, int(match[4]), int(match[5]), None) or _on(year, int(match[5]), int(match[4]), None)
