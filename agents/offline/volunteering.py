"""Values that a caller volunteers: what an utterance says of a form's questions, by the words around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from agents.offline.form_view import FormField
from agents.reading.codes import read_code
from agents.reading.dates import read_date
from agents.reading.digits import read_digits
from agents.reading.fields import read_value
from agents.reading.names import read_name
from agents.reading.numbers import with_numerals
from agents.reading.spelling import read_address
from agents.reading.vocabulary import vocabulary, words

__all__ = ["answer_to", "corrected", "volunteered"]

SHORTEST_NUMBER = 4
"""Digits in a row that are an answer by themselves where any words would do: "two of us" is none."""

DIRECTIONS = ("from", "to")
"""What the label of a question for a place ends with: "Flying from"."""

_NAME = r"[A-Z][\w'’-]*(?:\s+(?:(?:de|da|del|la|le|of|the|van|von|bin)\s+)*[A-Z][\w'’-]*)*"
_INTRODUCTION = re.compile(rf"\b(?:[Mm]y name is|[Mm]y name's|I'm|I’m|I am|[Tt]his is|for)\s+({_NAME})")
_PAIR = re.compile(rf"({_NAME})\s+to\s+({_NAME})")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PEOPLE = re.compile(r"\b(\d+)\s+(?:of us|people|persons?|travell?ers?|passengers?|adults?|guests?|tickets?)\b")
_COUNTS = vocabulary("many number people persons travellers travelers passengers guests party tickets")
_LIGHT = vocabulary("a an and are at be for from how i in is it many my of on or please the to we what which your you")


def answer_to(field: FormField, said: str, today: date) -> Any:
    """Read the answer to a question that was just asked.

    Returns:
        A JSON value; ``None`` when there is none in the utterance.
    """
    if field.schema != {"type": "string"}:
        return read_value(field.schema, said, today)
    code = read_code(said)
    if code is not None and re.search(r"\d", code) and re.search(r"[A-Z]", code):
        return code
    digits = read_digits(said)
    if digits is not None and len(digits) >= SHORTEST_NUMBER:
        return digits
    name = read_name(said)
    # Of a name or a place it is plain what is none; other questions take whatever was said.
    return name if name is not None or _wants_a_name(field) else said.strip() or None


def volunteered(fields: Sequence[FormField], said: str, today: date) -> dict[str, Any]:
    """Read what an utterance says of several questions; only what the words around it leave no doubt of.

    Args:
        fields: the questions.
        said: the utterance.
        today: what "tomorrow" counts from.
    """
    found = {field.id: _by_cue(field, said, today) for field in fields}
    return {field_id: value for field_id, value in found.items() if value is not None}


def corrected(
    fields: Sequence[FormField], about: str | None, said: str, today: date, *, plain: bool
) -> tuple[FormField, Any] | None:
    """Find which answer a caller takes back, and the new one.

    Args:
        fields: the questions that are answered.
        about: what the caller named, if they did.
        said: the words of the new answer.
        today: what "tomorrow" counts from.
        plain: whether it is plain that something is taken back; else the words around a value must say which it is.

    Returns:
        ``None`` when it is not clear which.
    """
    if about is not None:
        named = [field for field in fields if _content(about) & _content(f"{field.label} {field.id}")]
        if len(named) == 1 and (value := answer_to(named[0], said, today)) is not None:
            return named[0], value
        return None
    cued = volunteered(fields, said, today)
    if not cued and plain:
        typed = [field for field in fields if field.schema != {"type": "string"} and not field.confirms]
        read = {field.id: read_value(field.schema, said, today) for field in typed}
        cued = {field_id: value for field_id, value in read.items() if value is not None}
    changes = [(field, cued[field.id]) for field in fields if field.id in cued and cued[field.id] != field.value]
    return changes[0] if len(changes) == 1 else None


def _by_cue(field: FormField, said: str, today: date) -> Any:
    match field.schema.get("type"), field.schema.get("format"):
        case "string", "date":
            day = read_date(said, today)
            return None if day is None else day.isoformat()
        case "string", "email":
            written = _ADDRESS.search(said)
            return None if written is None else read_address(written[0])
        case "integer", _:
            about_people = _COUNTS & _content(f"{field.label} {field.question}", light=False)
            counted = _PEOPLE.search(with_numerals(said)) if about_people else None
            return None if counted is None else int(counted[1])
        case "string", None:
            return _name_by_cue(field, said)
        case _:
            return None


def _name_by_cue(field: FormField, said: str) -> str | None:
    last = _last_word(field)
    if last in DIRECTIONS:
        pair = _PAIR.search(said)
        after = re.search(rf"\b{last}\s+({_NAME})", said)
        if after is not None:
            return after[1]
        return None if pair is None or last == "to" else pair[1]
    if _wants_a_name(field):
        introduced = _INTRODUCTION.search(said)
        return None if introduced is None else introduced[1]
    return None


def _wants_a_name(field: FormField) -> bool:
    return _last_word(field) in DIRECTIONS or "name" in _content(field.label, light=False)


def _last_word(field: FormField) -> str:
    return field.label.split()[-1].lower()


def _content(text: str, *, light: bool = True) -> frozenset[str]:
    """The words of a text that say what it is about, without plural endings."""
    found = [word for word in words(text.replace("_", " ")) if not (light and word in _LIGHT)]
    return frozenset(word[:-1] if light and word.endswith("s") and len(word) > 3 else word for word in found)
