"""JSON Schema, as pydantic writes it, as the subset that Gemini takes: one word it does not know ends the session.

``$ref`` is inlined, ``const`` becomes an enum, ``oneOf`` becomes ``anyOf``, ``allOf`` is merged, and what there is no
word for is said in the description. Sources: ``types.Schema`` of google-genai 3.6, and refusals in public reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["DEPTH_LIMIT", "NODE_LIMIT", "project"]

Node: TypeAlias = dict[str, Any]

DEPTH_LIMIT = 16
"""How deep schemas may be nested; below that anything is taken. pydantic's own are three or four levels deep."""

NODE_LIMIT = 2_000
"""How many schemas one may become by inlining: references that fan out would grow without end."""

_COPIED: Mapping[str, type | tuple[type, ...]] = {
    "title": str, "description": str, "pattern": str, "nullable": bool,
    "minItems": int, "maxItems": int, "minProperties": int, "maxProperties": int, "minLength": int, "maxLength": int,
    "minimum": (int, float), "maximum": (int, float), "default": object, "example": object,
}  # fmt: skip
"""What is taken as it is, and what it has to be."""

_FORMATS = {
    "string": frozenset({"enum", "date-time"}),
    "number": frozenset({"float", "double"}),
    "integer": frozenset({"int32", "int64"}),
}
"""What a format may be; others are refused ("only 'enum' and 'date-time' are supported for STRING type")."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""What a parameter may be called, as ``types.FunctionDeclaration`` says."""

_ANYTHING: Node = {"type": "string"}
"""Where a schema says nothing: a type is needed."""


def project(schema: Mapping[str, Any]) -> Node:
    """Write a schema of an object as Gemini takes it.

    Args:
        schema: a tool's parameters; what is no object's becomes an object without properties.

    Returns:
        Plain JSON, no part of it shared with ``schema``.
    """
    made = _Projection(schema).node(schema, 0, ())
    return made if made.get("type") == "object" else {"type": "object", "properties": {}}


class _Projection:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def node(self, schema: object, depth: int, within: tuple[str, ...]) -> Node:
        """Project one schema; ``within`` names the references it lies in."""
        self._nodes += 1
        if not isinstance(schema, Mapping) or depth > DEPTH_LIMIT or self._nodes > NODE_LIMIT:
            return dict(_ANYTHING)
        resolved, within = self._resolve(schema, within)
        if resolved is None:
            return {"type": "object", **({"description": text} if (text := _text(schema, "description")) else {})}
        merged = self._merge(resolved, within)
        choices = merged.get("anyOf") or merged.get("oneOf")
        if isinstance(choices, Sequence) and not isinstance(choices, str) and choices:
            return self._choice(merged, choices, depth, within)
        types = _types(merged)
        if len(types) > 1:
            variants = [{**merged, "type": each} for each in types]
            return self._choice({"description": merged.get("description")}, variants, depth, within)
        made = self._typed(merged, types[0] if types else None, depth, within)
        if _may_be_null(merged):
            made["nullable"] = True
        return made

    def _resolve(self, schema: Mapping[str, Any], within: tuple[str, ...]) -> tuple[Node | None, tuple[str, ...]]:
        """Follow a reference, and what it refers to; ``None`` when it goes round in a circle, or nowhere."""
        found = dict(schema)
        while isinstance(ref := found.pop("$ref", None), str):
            target = _at(self._root, ref)
            if ref in within or target is None:
                return None, within
            within = (*within, ref)
            found = {**target, **found}
        return found, within

    def _merge(self, schema: Node, within: tuple[str, ...]) -> Node:
        """Merge ``allOf`` into one: properties and what is required add up, of limits the narrower holds."""
        parts = schema.pop("allOf", None)
        for part in parts if isinstance(parts, list) else ():
            resolved = self._resolve(part, within)[0] if isinstance(part, Mapping) else None
            for name, value in (self._merge(resolved, within) if resolved else {}).items():
                schema[name] = _joined(name, schema[name], value) if name in schema else value
        return schema

    def _choice(self, schema: Node, choices: Sequence[object], depth: int, within: tuple[str, ...]) -> Node:
        others = [choice for choice in choices if not _is_null(choice)]
        nullable = len(others) < len(choices) or _may_be_null(schema)
        made = [self.node(choice, depth + 1, within) for choice in others]
        told = {name: text for name in ("title", "description") if (text := _text(schema, name))}
        if len(made) == 1:
            # Without `anyOf` the one that is left stands for all; what was said of all of them goes before.
            shared = {name: value for name, value in schema.items() if name in ("properties", "required", "type")}
            alone = made[0] if not shared else self.node({**shared, **_plain(others[0])}, depth + 1, within)
            result = {**alone, **told}
        elif made:
            result = {**told, "anyOf": made}
        else:
            result = {**_ANYTHING, **told}
        default = schema.get("default")
        return result | ({"nullable": True} if nullable else {}) | ({} if default is None else {"default": default})

    def _typed(self, schema: Node, kind: str | None, depth: int, within: tuple[str, ...]) -> Node:
        enum = schema.get("enum")
        values: list[Any] = list(enum) if isinstance(enum, list) else []
        if "const" in schema:
            values = [schema["const"]]
        kind = kind or _kind_of(schema, values)
        made: Node = {"type": kind, **_copied(schema)}
        notes = _narrow(made, schema, kind)
        known = [value for value in values if isinstance(value, str) and value]
        if kind == "string" and known:
            made["enum"] = known
        elif kind != "string" and (shown := [json.dumps(value) for value in values if value is not None]):
            # An enum is of strings only: for others it is refused.
            notes.append(f"One of: {', '.join(shown)}." if len(shown) > 1 else f"Always {shown[0]}.")
        if kind == "array":
            made.update(self._items(schema, depth, within))
        elif kind == "object":
            made.update(self._properties(schema, depth, within))
        if notes:
            made["description"] = " ".join(filter(None, (_text(made, "description"), *notes)))
        return made

    def _items(self, schema: Node, depth: int, within: tuple[str, ...]) -> Node:
        places = schema.get("prefixItems")
        if isinstance(places, list) and places:
            items = self._choice({}, places, depth, within)
            return {"items": items, "minItems": len(places), "maxItems": len(places)}
        return {"items": self.node(schema.get("items"), depth + 1, within)}

    def _properties(self, schema: Node, depth: int, within: tuple[str, ...]) -> Node:
        given = schema.get("properties")
        properties = {
            name: self.node(value, depth + 1, within)
            for name, value in (given.items() if isinstance(given, Mapping) else ())
            if isinstance(name, str) and _NAME.fullmatch(name)
        }
        made: Node = {"properties": properties}
        for name in ("required", "propertyOrdering"):
            if named := [each for each in _strings(schema.get(name)) if each in properties]:
                made[name] = named
        return made


def _at(root: Mapping[str, Any], ref: str) -> Mapping[str, Any] | None:
    """Find what a reference within a document means."""
    if not ref.startswith("#"):
        return None
    found: object = root
    for step in ref[1:].split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _joined(name: str, one: Any, other: Any) -> Any:
    if name == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
        return {**other, **one}
    if name == "required":
        return list(dict.fromkeys([*_strings(one), *_strings(other)]))
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if numbers and name.startswith(("min", "exclusiveMin")):
        return max(one, other)
    if numbers and name.startswith(("max", "exclusiveMax")):
        return min(one, other)
    return one


def _copied(schema: Node) -> Node:
    return {
        name: value
        for name, wanted in _COPIED.items()
        if (value := schema.get(name)) is not None
        and isinstance(value, wanted)
        and (wanted in (bool, object) or not isinstance(value, bool))
    }


def _narrow(made: Node, schema: Node, kind: str) -> list[str]:
    """Write limits and a format that Gemini has no word for, as near as there is one; the rest is notes."""
    notes = []
    for name, instead, step, words in (
        ("exclusiveMinimum", "minimum", 1, "More than"),
        ("exclusiveMaximum", "maximum", -1, "Less than"),
    ):
        limit = schema.get(name)
        if isinstance(limit, int | float) and not isinstance(limit, bool):
            made[instead] = limit + step if kind == "integer" else limit
            if kind != "integer":
                notes.append(f"{words} {limit}.")
    if kind not in ("integer", "number"):
        made.pop("minimum", None)
        made.pop("maximum", None)
    if form := _text(schema, "format"):
        if form in _FORMATS.get(kind, ()):
            made["format"] = form
        else:
            notes.append(f"Format: {form}.")
    return notes


def _types(schema: Node) -> list[str]:
    kinds = schema.get("type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return [kind for kind in listed if isinstance(kind, str) and kind in _TYPES]


def _kind_of(schema: Node, values: Sequence[Any]) -> str:
    """Tell what type a schema means that does not say so."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    for kind, python in (("boolean", bool), ("integer", int), ("number", float)):
        if values and all(isinstance(value, python) for value in values):
            return kind
    return "string"


def _is_null(schema: object) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("enum") == [None])


def _may_be_null(schema: Node) -> bool:
    kinds, values = schema.get("type"), schema.get("enum")
    return (
        schema.get("nullable") is True
        or (isinstance(kinds, list) and "null" in kinds)
        or (isinstance(values, list) and None in values)
    )


def _strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _plain(schema: object) -> Node:
    return dict(schema) if isinstance(schema, Mapping) else {}


def _text(schema: Mapping[str, Any], name: str) -> str:
    value = schema.get(name)
    return value if isinstance(value, str) else ""
