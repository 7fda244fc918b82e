"""Read the value of an input field out of an utterance, by the field's JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agents.reading.assent import read_yes_no
from agents.reading.choice import read_choice
from agents.reading.digits import read_digits
from agents.reading.numbers import read_number
from agents.reading.spelling import read_address

__all__ = ["fill", "is_free_text", "read_value"]

TEXT_LIMIT = 2_000
"""Characters of an utterance that go into a field without a limit of its own."""


def fill(schema: Mapping[str, Any], utterance: str) -> dict[str, Any]:
    """Fill a tool's input with what the utterance surely says.

    A required field takes whatever it can read. An optional one is filled only if its value cannot be mistaken: a
    choice, digits or an address; what else is optional the tool will ask for.

    Args:
        schema: JSON Schema of the input, an object.
        utterance: what the caller said.
    """
    required = schema.get("required", ())
    filled = {}
    for name in schema.get("properties", {}):
        field = field_schema(schema, name)
        if name in required or _is_unmistakable(field):
            value = read_value(field, utterance)
            if value is not None:
                filled[name] = value
    return filled


def field_schema(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of one field, references followed and ``null`` left out; empty when there is no such field."""
    return _resolved(schema.get("properties", {}).get(name, {}), schema.get("$defs", {}))


def read_value(field: Mapping[str, Any], utterance: str) -> Any:
    """Read one value.

    Args:
        field: what :func:`field_schema` returned.
        utterance: what the caller said.

    Returns:
        A JSON value that fits the field; ``None`` when the utterance has none.
    """
    if "enum" in field:
        return read_choice(utterance, [str(choice) for choice in field["enum"]])
    match field.get("type"):
        case "boolean":
            return read_yes_no(utterance)
        case "integer":
            number = read_number(utterance)
            return int(number) if number is not None and number.denominator == 1 else None
        case "number":
            number = read_number(utterance)
            return None if number is None else float(number)
        case "string":
            return _read_string(field, utterance)
        case _:
            return None


def is_free_text(field: Mapping[str, Any]) -> bool:
    """Whether the field takes any words at all."""
    return field.get("type") == "string" and not {"enum", "pattern", "format"} & field.keys()


def _read_string(field: Mapping[str, Any], utterance: str) -> str | None:
    text = utterance.strip()[: field.get("maxLength", TEXT_LIMIT)]
    if field.get("format") == "email":
        return read_address(utterance)
    pattern = field.get("pattern")
    if pattern is None:
        return text if len(text) >= field.get("minLength", 1) else None
    value = read_digits(utterance) if _takes_digits(pattern) else text
    return value if value is not None and re.search(pattern, value) else None


def _is_unmistakable(field: Mapping[str, Any]) -> bool:
    return "enum" in field or field.get("format") == "email" or _takes_digits(field.get("pattern", ""))


def _takes_digits(pattern: str) -> bool:
    """Whether a pattern is one for digits: some row of them fits, and no row of letters does."""
    return any(re.search(pattern, "5" * length) for length in range(1, 20)) and not any(
        re.search(pattern, "x" * length) for length in range(20)
    )


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in field:
        return _resolved(definitions.get(field["$ref"].rsplit("/", 1)[-1], {}), definitions)
    if "const" in field:
        return {"enum": [field["const"]], **field}
    for option in field.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolved({**option, **{key: value for key, value in field.items() if key != "anyOf"}}, definitions)
    return field
