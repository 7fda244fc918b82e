"""The projection of schemas: what Gemini has a word for stays, and nothing else is sent."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from pydantic import BaseModel, Field

from agents.concierge import create
from agents.concierge.bookings import BookingDesk
from agents.core.abort import AbortSignal
from agents.models.driven import s2s_driven_model
from pipelines.realtime.gemini.schema import DEPTH_LIMIT, NODE_LIMIT, project
from tests.realtime.gemini_service.grammar import check_message


def accepted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Project a schema, and have the strict service check it as the parameters of a function."""
    projected = project(schema)
    check_message({"setup": {"tools": [{"functionDeclarations": [{"name": "f", "parameters": projected}]}]}})
    return projected


def field(schema: Any, **document: Any) -> Any:
    """Project a schema as one field of an object."""
    return accepted({"type": "object", "properties": {"field": schema}, **document})["properties"]["field"]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"type": "string", "$comment": "x", "additionalProperties": False}, {"type": "string"}),
        ({"const": "yes"}, {"type": "string", "enum": ["yes"]}),
        ({"const": True, "type": "boolean"}, {"type": "boolean", "description": "Always true."}),
        ({"enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}),
        ({"enum": ["a", "", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, {"type": "integer", "nullable": True}),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (
            {"allOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 20}]},
            {"type": "integer", "minimum": 3, "maximum": 9},
        ),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        (
            {"type": "number", "exclusiveMaximum": 2.5},
            {"type": "number", "maximum": 2.5, "description": "Less than 2.5."},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "description": "Format: date."}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            {
                "type": "array",
                "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"title": 7, "minLength": True, "type": "string"}, {"type": "string"}),
        (
            {"type": "object", "properties": {"a": {}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "object", "properties": {}}),
    ],
)
def test_a_schema_becomes_what_gemini_has_words_for(given: Any, made: Any) -> None:
    assert field(given) == made


def test_references_are_inlined_and_what_stands_beside_them_goes_before() -> None:
    document = {"$defs": {"Colour": {"enum": ["red", "blue"], "type": "string", "description": "A colour."}}}
    assert field({"$ref": "#/$defs/Colour"}, **document)["enum"] == ["red", "blue"]
    assert field({"$ref": "#/$defs/Colour", "description": "The car's."}, **document)["description"] == "The car's."
    optional = {"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}], "description": "Perhaps."}
    assert field(optional, **document) == {
        "type": "string", "enum": ["red", "blue"], "description": "Perhaps.", "nullable": True,
    }  # fmt: skip


def test_a_reference_to_nowhere_or_elsewhere_is_an_object() -> None:
    for ref in ("#/$defs/Missing", "https://example.com/schema", "#"):
        assert field({"$ref": ref, "description": "What?"})["type"] == "object"


def test_recursion_ends() -> None:
    class Node(BaseModel):
        name: str
        children: list[Node] = []
        parent: Node | None = None

    Node.model_rebuild()
    node = accepted(Node.model_json_schema())
    assert node["properties"]["children"]["items"]["type"] == "object"


def test_schemas_that_fan_out_or_go_deep_are_bounded() -> None:
    wide: dict[str, Any] = {"$defs": {"L0": {"type": "string"}}}
    for level in range(1, 20):
        below = {"$ref": f"#/$defs/L{level - 1}"}
        wide["$defs"][f"L{level}"] = {"type": "object", "properties": {"a": below, "b": below}}
    assert count(accepted({**wide, "type": "object", "properties": {"top": {"$ref": "#/$defs/L19"}}})) <= NODE_LIMIT * 3
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(DEPTH_LIMIT * 4):
        deep = {"type": "object", "properties": {"in": deep}}
    assert count(accepted(deep)) <= 3 * (DEPTH_LIMIT + 2)


def test_what_is_no_object_has_no_parameters() -> None:
    for schema in ({"type": "string"}, {"anyOf": [{"type": "object"}, {"type": "string"}]}, {}):
        assert project(schema) == {"type": "object", "properties": {}}


def count(schema: object) -> int:
    """Count the objects in a schema."""
    if isinstance(schema, dict):
        return 1 + sum(count(each) for each in schema.values())
    return sum(count(each) for each in schema) if isinstance(schema, list) else 0


class Seat(enum.Enum):
    WINDOW = "window"
    AISLE = "aisle"


class Guest(BaseModel):
    name: Annotated[str, Field(min_length=2, pattern="^[A-Z]")]
    born: date | None = None
    loyalty: int | str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Everything(BaseModel):
    guests: list[Guest]
    seat: Seat = Seat.WINDOW
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    place: tuple[int, str] = (1, "a")
    confirmed: Literal[True] = True
    stars: Literal[1, 2, 3] = 1
    notes: dict[str, Any] = {}
    prices: dict[str, float] = {}
    anything: Any = None
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    at: datetime | None = None


def test_what_pydantic_writes_is_accepted() -> None:
    made = accepted(Everything.model_json_schema())["properties"]
    assert made["guests"]["items"]["properties"]["loyalty"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert made["pet"]["nullable"] is True and len(made["pet"]["anyOf"]) == 2
    assert made["stars"]["description"] == "One of: 1, 2, 3."


async def test_every_tool_of_the_concierge_is_accepted(tmp_path: Path) -> None:
    desk = BookingDesk(tmp_path / "bookings.db")
    glove = create(s2s_driven_model("gemini"), now=lambda: datetime.now(UTC), bookings=desk).build()
    await glove.prepare_request(AbortSignal())
    assert len(glove.tools) > 5
    for tool in glove.tools:
        assert accepted(tool.spec.input_schema)["type"] == "object"


WORDS = """
    type properties items required anyOf oneOf allOf enum const $ref $defs format minimum title description nullable
    prefixItems additionalProperties minLength pattern default example exclusiveMinimum not propertyOrdering
"""
NAMES = some.sampled_from(WORDS.split())
JUNK = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-5, 5)
    | some.sampled_from(["string", "object", "array", "null", "#/$defs/a", "#", "", "integer"]),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES | some.just("a"), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=100)
@given(some.dictionaries(NAMES | some.just("a"), JUNK, max_size=6))
def test_whatever_it_is_it_becomes_something_that_is_accepted(schema: dict[str, Any]) -> None:
    accepted(schema)
    accepted({"type": "object", "properties": {"field": schema}, "$defs": {"a": schema}})
