"""Fill a tool's input with what an utterance surely says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from agents.reading.fields import field_schema, read_value, takes_digits

__all__ = ["fill"]


def fill(schema: Mapping[str, Any], utterance: str, today: date) -> dict[str, Any]:
    """Fill a tool's input with what the utterance surely says.

    A required field takes whatever it can read. An optional one is filled only if its value cannot be mistaken: a
    choice, digits or an address; what else is optional the tool will ask for.

    Args:
        schema: JSON Schema of the input, an object.
        utterance: what the caller said.
        today: what "tomorrow" counts from.
    """
    required = schema.get("required", ())
    filled = {}
    for name in schema.get("properties", {}):
        field = field_schema(schema, name)
        if name in required or _is_unmistakable(field):
            value = read_value(field, utterance, today)
            if value is not None:
                filled[name] = value
    return filled


def _is_unmistakable(field: Mapping[str, Any]) -> bool:
    return "enum" in field or field.get("format") == "email" or takes_digits(field.get("pattern", ""))
