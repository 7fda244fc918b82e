"""Times of day as they are said: "half past seven", "a quarter to nine in the evening", "7:30 p.m.", "noon"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import time

from agents.reading.numbers import with_numerals

__all__ = ["read_time"]

_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}
_MORNING, _LATER = ("morning",), ("afternoon", "evening", "tonight", "night")
_PARTS = {"half": 30, "quarter": 15, "0.5": 30, "0.25": 15}
_FIGURES = re.compile(r"\b(\d{1,2})[:.h](\d{2})\b")
_HALVES = re.compile(r"\b([ap])\s*\.?\s*m\b\.?")
_EARLIEST_UNSAID = 7
"""An hour below it is in the afternoon when the half of the day is not said: people are asked about their days."""


def read_time(text: str) -> time | None:
    """Read the one time of an utterance.

    Args:
        text: an utterance.

    Returns:
        The time; one of which the half of the day is not said is between seven in the morning and seven in the evening.
        ``None`` when there is none, or more than one.
    """
    said = _HALVES.sub(r" \1m ", text.lower().replace("o'clock", " oclock "))
    said = _FIGURES.sub(r" \1 h \2 ", said)
    tokens = with_numerals(said).split()
    found = {time_ for time_ in _times(tokens) if time_ is not None}
    return next(iter(found)) if len(found) == 1 else None


def _times(tokens: Sequence[str]) -> Iterator[time | None]:
    place = 0
    while place < len(tokens):
        if tokens[place] in _NAMED:
            yield _NAMED[tokens[place]]
            place += 1
            continue
        clock, behind = _clock(tokens, place)
        if clock is None:
            place += 1
            continue
        hour, minute, sure = clock
        half, behind = _half(tokens, behind)
        if sure or half is not None:
            yield _at(hour, minute, half)
        place = behind


def _clock(tokens: Sequence[str], start: int) -> tuple[tuple[int, int, bool] | None, int]:
    """Read hour and minute.

    Returns:
        Them, and whether they can be nothing else; and behind which token.
    """
    past = _past(tokens, start)
    if past is not None:
        return past
    hour = _number(tokens, start, 23)
    if hour is None or (start > 0 and tokens[start - 1] == "h"):
        return None, start
    if tokens[start + 1 : start + 2] == ["h"]:
        minute = _number(tokens, start + 2, 59)
        return ((hour, minute, True), start + 3) if minute is not None else (None, start)
    if tokens[start + 1 : start + 2] == ["oclock"]:
        return (hour, 0, True), start + 2
    minute = _number(tokens, start + 1, 59)
    if minute is not None and minute >= 10:
        return (hour, minute, True), start + 2  # "seven thirty"
    alone = len(tokens) <= 4 or (start > 0 and tokens[start - 1] in ("at", "around", "by"))
    return (hour, 0, alone), start + 1


def _past(tokens: Sequence[str], start: int) -> tuple[tuple[int, int, bool], int] | None:
    """Read "half past seven", "a quarter to nine", "ten past three"."""
    minute = _PARTS.get(tokens[start], _number(tokens, start, 59))
    place = start + 1
    if tokens[place : place + 1] == ["minutes"]:
        place += 1
    if minute is None or tokens[place : place + 1] not in (["past"], ["after"], ["to"], ["before"]):
        return None
    hour = _number(tokens, place + 1, 23)
    if hour is None:
        return None
    behind = place + 2
    if tokens[behind : behind + 1] == ["oclock"]:
        behind += 1
    if tokens[place] in ("past", "after"):
        return (hour, minute, True), behind
    return ((hour - 2) % 12 + 1 if hour <= 12 else hour - 1, 60 - minute, True), behind


def _half(tokens: Sequence[str], place: int) -> tuple[str | None, int]:
    """Which half of the day is said just behind a time: ``am`` or ``pm``."""
    if tokens[place : place + 1] in (["am"], ["pm"]):
        return tokens[place], place + 1
    said = tokens[place : place + 3]
    if said[:2] in (["in", "the"], ["at", "night"], ["this", "morning"], ["this", "evening"], ["this", "afternoon"]):
        word = said[-1] if said[:2] == ["in", "the"] and len(said) == 3 else said[1]
        if word in _MORNING:
            return "am", place + len(said)
        if word in _LATER:
            return "pm", place + len(said)
    if said[:1] == ["tonight"]:
        return "pm", place + 1
    return None, place


def _at(hour: int, minute: int, half: str | None) -> time | None:
    if minute == 60:
        hour, minute = hour + 1, 0
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    elif half is None and 0 < hour < _EARLIEST_UNSAID:
        hour += 12
    return time(hour, minute) if hour < 24 else None


def _number(tokens: Sequence[str], place: int, largest: int) -> int | None:
    token = tokens[place] if place < len(tokens) else ""
    return int(token) if token.isdecimal() and int(token) <= largest else None
