"""Fields: a value read out of an utterance by its JSON Schema, and what sort of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from agents.core.expectation import ExpectedAnswer
from agents.reading.assent import read_yes_no
from agents.reading.choice import read_choice
from agents.reading.codes import read_code
from agents.reading.dates import read_date
from agents.reading.digits import read_digits
from agents.reading.money import read_money
from agents.reading.numbers import read_number
from agents.reading.spelling import read_address
from agents.reading.times import read_time

__all__ = ["expected_answer", "field_schema", "is_free_text", "read_value", "takes_digits"]

TEXT_LIMIT = 2_000
"""Characters of an utterance that go into a field without a limit of its own."""


def field_schema(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of one field, references followed and ``null`` left out; empty when there is no such field."""
    return _resolved(schema.get("properties", {}).get(name, {}), schema.get("$defs", {}))


def read_value(field: Mapping[str, Any], utterance: str, today: date) -> Any:
    """Read one value.

    Args:
        field: what :func:`field_schema` returned.
        utterance: what the caller said.
        today: what "tomorrow" counts from.

    Returns:
        A JSON value that fits the field; ``None`` when the utterance has none.
    """
    if _wants_a_yes(field):
        return read_yes_no(utterance) or None
    if "enum" in field:
        return read_choice(utterance, [str(choice) for choice in field["enum"]])
    match field.get("type"):
        case "boolean":
            return read_yes_no(utterance)
        case "integer":
            number = read_number(utterance)
            return int(number) if number is not None and number.denominator == 1 else None
        case "number":
            money = read_money(utterance)
            number = read_number(utterance) if money is None else Fraction(money.amount)
            return None if number is None else float(number)
        case "string":
            return _read_string(field, utterance, today)
        case _:
            return None


def is_free_text(field: Mapping[str, Any]) -> bool:
    """Whether the field takes any words at all."""
    return field.get("type") == "string" and not {"enum", "pattern", "format"} & field.keys()


def _read_string(field: Mapping[str, Any], utterance: str, today: date) -> str | None:
    text = utterance.strip()[: field.get("maxLength", TEXT_LIMIT)]
    match field.get("format"):
        case "email":
            return read_address(utterance)
        case "date":
            day = read_date(utterance, today)
            return None if day is None else day.isoformat()
        case "time":
            at = read_time(utterance)
            return None if at is None else at.isoformat()
    pattern = field.get("pattern")
    if pattern is None:
        return text if len(text) >= field.get("minLength", 1) else None
    candidates = [read_digits(utterance)] if takes_digits(pattern) else [text, read_code(utterance)]
    return next((value for value in candidates if value is not None and re.search(pattern, value)), None)


def takes_digits(pattern: str) -> bool:
    """Whether a pattern is one for digits: some row of them fits, and no row of letters does."""
    return any(re.search(pattern, "5" * length) for length in range(1, 20)) and not any(
        re.search(pattern, "x" * length) for length in range(20)
    )


def expected_answer(field: Mapping[str, Any]) -> ExpectedAnswer | None:
    """Say what sort of answer a field wants, so that a voice can listen for it.

    Args:
        field: what :func:`field_schema` returned.

    Returns:
        It; ``None`` when any words will do.
    """
    if _wants_a_yes(field):
        return ExpectedAnswer(kind="yes_no")
    if "enum" in field:
        return ExpectedAnswer(kind="choice", choices=tuple(str(choice) for choice in field["enum"]))
    match field.get("type"), field.get("format"):
        case "boolean", _:
            return ExpectedAnswer(kind="yes_no")
        case (("integer" | "number"), _):
            return ExpectedAnswer(kind="number")
        case "string", "email":
            return ExpectedAnswer(kind="spelling")
        case "string", ("date" | "time") as kind:
            return ExpectedAnswer(kind=kind)
        case "string", _ if takes_digits(field.get("pattern", "")):
            return ExpectedAnswer(kind="digits", length=_only_length(field["pattern"]))
        case _:
            return None


def _wants_a_yes(field: Mapping[str, Any]) -> bool:
    return len(field.get("enum", ())) == 1 and field["enum"][0] is True


def _only_length(pattern: str) -> int | None:
    """How many digits a pattern takes; ``None`` when it takes rows of several lengths."""
    lengths = [length for length in range(1, 20) if re.search(pattern, "5" * length)]
    return lengths[0] if len(lengths) == 1 else None


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in field:
        return _resolved(definitions.get(field["$ref"].rsplit("/", 1)[-1], {}), definitions)
    if "const" in field:
        return {"enum": [field["const"]], **field}
    for option in field.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolved({**option, **{key: value for key, value in field.items() if key != "anyOf"}}, definitions)
    return field
