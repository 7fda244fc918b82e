"""What sort of value a field takes, in a few words that a model understands, from the field's JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["describe_type"]

Schema: TypeAlias = Mapping[str, Any]

FORMATS = {
    "email": "email address",
    "date": "date (YYYY-MM-DD)",
    "date-time": "timestamp (ISO 8601)",
    "time": "time (HH:MM:SS)",
    "duration": "duration (ISO 8601)",
    "uri": "URL",
    "url": "URL",
    "uuid": "uuid",
    "ipv4": "IPv4 address",
    "ipv6": "IPv6 address",
}

SHOWN_KEYS = 6
"""Keys of an object that are named."""

SAFE_INTEGER = 2**53 - 1
"""Bounds at or beyond what other languages hold exactly say nothing about the question."""


def describe_type(schema: Schema) -> str:
    """Describe a schema, such as ``integer between 1 and 9`` or ``one of: window | aisle``."""
    return _describe(schema, schema.get("$defs", {}), 0)


def _describe(schema: Schema, known: Schema, depth: int) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        # Depth ends the description of a model that holds itself.
        return _describe(known[name], known, depth) if name in known and depth < 4 else "value"
    if "const" in schema:
        return f"exactly {_literal(schema['const'])}"
    if "enum" in schema:
        return "one of: " + " | ".join(map(_literal, schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _union(schema[union], known, depth)
    if len(schema.get("allOf", ())) == 1:
        return _describe(schema["allOf"][0], known, depth)
    return _typed(schema, known, depth)


def _typed(schema: Schema, known: Schema, depth: int) -> str:
    match schema.get("type"):
        case "string":
            return _text(schema)
        case "integer" | "number" as kind:
            return f"{kind}{_range(schema)}"
        case "boolean":
            return "true or false"  # "yes or no" makes models send text.
        case "null":
            return "empty"
        case "array":
            return _list(schema, known, depth)
        case "object":
            return _object(schema, depth)
        case _:
            return "value"


def _union(branches: list[Schema], known: Schema, depth: int) -> str:
    parts = [_describe(branch, known, depth) for branch in branches if branch.get("type") != "null"]
    if not parts:
        return "empty"
    text = " or ".join(dict.fromkeys(parts))
    return text if len(parts) == len(branches) else f"{text} (may be empty)"


def _text(schema: Schema) -> str:
    if "format" in schema:
        return FORMATS.get(schema["format"], f"text ({schema['format']})")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and most is not None:
        return f"text ({least}–{most} chars)"
    if least is not None:
        return f"text (min {least} chars)"
    return "text" if most is None else f"text (max {most} chars)"


def _range(schema: Schema) -> str:
    least, most = _bound(schema, "minimum"), _bound(schema, "maximum")
    above, below = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    if least is not None and most is not None:
        return f" between {least} and {most}"
    bounds = ((" >= ", least), (" > ", above), (" <= ", most), (" < ", below))
    return "".join(f"{sign}{bound}" for sign, bound in bounds if bound is not None)


def _bound(schema: Schema, name: str) -> Any:
    bound = schema.get(name)
    if bound is None or (isinstance(bound, int) and abs(bound) >= SAFE_INTEGER):
        return None
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def _list(schema: Schema, known: Schema, depth: int) -> str:
    text = f"list of {_describe(schema.get('items', {}), known, depth + 1)}"
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and most is not None:
        return f"{text} ({least}–{most})"
    if least is not None:
        return f"{text} (at least {least})"
    return text if most is None else f"{text} (at most {most})"


def _object(schema: Schema, depth: int) -> str:
    keys = list(schema.get("properties", ()))
    if not keys or depth >= 2:
        return "object"
    more = " …" if len(keys) > SHOWN_KEYS else ""
    return f"object with: {', '.join(keys[:SHOWN_KEYS])}{more}"


def _literal(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
