from __future__ import annotations

from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, Field, IPvAnyAddress, TypeAdapter

from agents.forms.type_string import describe_type


class Seat(StrEnum):
    WINDOW = "window"
    AISLE = "aisle"


class Address(BaseModel):
    street: str
    city: str


class Node(BaseModel):
    name: str
    next: Node | None = None


class Wide(BaseModel):
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        (str, "text"),
        (Annotated[str, Field(min_length=2)], "text (min 2 chars)"),
        (Annotated[str, Field(max_length=9)], "text (max 9 chars)"),
        (Annotated[str, Field(min_length=2, max_length=9)], "text (2–9 chars)"),
        (int, "integer"),
        (Annotated[int, Field(ge=1)], "integer >= 1"),
        (Annotated[int, Field(gt=1)], "integer > 1"),
        (Annotated[float, Field(le=2.5)], "number <= 2.5"),
        (Annotated[float, Field(lt=2)], "number < 2"),
        (Annotated[int, Field(ge=1, le=9)], "integer between 1 and 9"),
        (Annotated[int, Field(ge=-(2**53 - 1), le=2**53 - 1)], "integer"),
        (bool, "true or false"),
        (date, "date (YYYY-MM-DD)"),
        (datetime, "timestamp (ISO 8601)"),
        (time, "time (HH:MM:SS)"),
        (timedelta, "duration (ISO 8601)"),
        (AnyUrl, "URL"),
        (UUID, "uuid"),
        (IPvAnyAddress, "text (ipvanyaddress)"),
        (Seat, "one of: window | aisle"),
        (Literal["a", 1], "one of: a | 1"),
        (Literal[True], "exactly true"),
        (Literal["yes"], "exactly yes"),
        (int | str, "integer or text"),
        (int | None, "integer (may be empty)"),
        (None, "empty"),
        (list[int], "list of integer"),
        (Annotated[list[int], Field(min_length=1, max_length=3)], "list of integer (1–3)"),
        (Annotated[list[int], Field(min_length=1)], "list of integer (at least 1)"),
        (Annotated[list[int], Field(max_length=3)], "list of integer (at most 3)"),
        (Address, "object with: street, city"),
        (list[Address], "list of object with: street, city"),
        (list[list[Address]], "list of list of object"),
        (Wide, "object with: a, b, c, d, e, f …"),
        (Node, "object with: name, next"),
        (dict[str, int], "object"),
        (Any, "value"),
    ],
)
def test_a_type_is_described_from_its_schema(type_: Any, said: str) -> None:
    assert describe_type(TypeAdapter(type_).json_schema()) == said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "format": "email"}, "email address"),
        ({"type": "string", "format": "uri"}, "URL"),
        ({"type": "string", "format": "ipv4"}, "IPv4 address"),
        ({"type": "string", "format": "ipv6"}, "IPv6 address"),
        ({"type": "string", "format": "colour"}, "text (colour)"),
        ({"allOf": [{"type": "integer"}]}, "integer"),
        ({"$ref": "#/$defs/Gone"}, "value"),
        ({"anyOf": [{"type": "null"}]}, "empty"),
    ],
)
def test_a_schema_written_by_hand_is_described(schema: dict[str, Any], said: str) -> None:
    assert describe_type(schema) == said
