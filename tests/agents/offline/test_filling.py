from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agents.offline.filling import field_schema, fill, read_value


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    what: str = Field(min_length=2, max_length=20)
    note: str | None = None
    count: int | None = None
    weight: float | None = None
    size: Size | None = None
    by: Literal["post", "van"] | None = None
    only: Literal["this"] | None = None
    gift: bool | None = None
    code: Annotated[str, Field(pattern=r"^\d{4}$")] | None = None
    plate: Annotated[str, Field(pattern=r"^[A-Z]{2}")] | None = None
    mail: Annotated[str, Field(json_schema_extra={"format": "email"})] | None = None
    list: dict[str, int] | None = None


@pytest.mark.parametrize(
    ("field", "said", "value"),
    [
        ("what", " a red ball ", "a red ball"),
        ("what", "x", None),
        ("what", "y" * 50, "y" * 20),
        ("note", "", None),
        ("count", "three of them", 3),
        ("count", "two and a half", None),
        ("weight", "two and a half", 2.5),
        ("weight", "heavy", None),
        ("size", "the large one", "large"),
        ("by", "by van please", "van"),
        ("only", "this", "this"),
        ("gift", "yes please", True),
        ("gift", "nope", False),
        ("gift", "seven", None),
        ("code", "one two three four", "1234"),
        ("code", "one two three", None),
        ("plate", "AB 12", "AB 12"),
        ("plate", "twelve", None),
        ("mail", "joe at acme dot com", "joe@acme.com"),
        ("list", "one", None),
        ("nothing", "one", None),
    ],
)
def test_a_value_is_read_by_its_schema(field: str, said: str, value: Any) -> None:
    schema = Order.model_json_schema()
    assert read_value(field_schema(schema, field), said) == value


def test_a_first_call_is_given_what_is_required_and_what_cannot_be_mistaken() -> None:
    assert fill(Order.model_json_schema(), "send a large ball") == {"what": "send a large ball", "size": "large"}
