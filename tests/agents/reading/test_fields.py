from __future__ import annotations

from datetime import date, time
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agents.core.expectation import ExpectedAnswer
from agents.reading.fields import expected_answer, field_schema, read_value

TODAY = date(2026, 12, 1)


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
    day: date | None = None
    at: time | None = None
    price: float | None = None
    loyalty: Annotated[str, Field(pattern=r"^[A-Z]{2}\d{6}$")] | None = None
    sure: Literal[True] | None = None
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
        ("day", "The day after tomorrow.", "2026-12-03"),
        ("day", "I don't know", None),
        ("at", "half past seven in the evening", "19:30:00"),
        ("price", "twenty dollars and fifty cents", 20.5),
        ("loyalty", "A B, one two three, four five six", "AB123456"),
        ("loyalty", "It's AB-123456.", "AB123456"),
        ("loyalty", "My number is A, B, double one, two three four five.", "AB112345"),
        ("loyalty", "A B one two three", None),
        ("loyalty", "I do not have one", None),
        ("sure", "Yes, that's right.", True),
        ("sure", "No.", None),
        ("list", "one", None),
        ("nothing", "one", None),
    ],
)
def test_a_value_is_read_by_its_schema(field: str, said: str, value: Any) -> None:
    schema = Order.model_json_schema()
    assert read_value(field_schema(schema, field), said, TODAY) == value


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        ("what", None),
        ("count", ExpectedAnswer(kind="number")),
        ("size", ExpectedAnswer(kind="choice", choices=("small", "large"))),
        ("gift", ExpectedAnswer(kind="yes_no")),
        ("sure", ExpectedAnswer(kind="yes_no")),
        ("code", ExpectedAnswer(kind="digits", length=4)),
        ("plate", None),
        ("mail", ExpectedAnswer(kind="spelling")),
        ("day", ExpectedAnswer(kind="date")),
        ("at", ExpectedAnswer(kind="time")),
        ("price", ExpectedAnswer(kind="number")),
        ("list", None),
    ],
)
def test_a_field_says_what_sort_of_answer_it_wants(field: str, wanted: ExpectedAnswer | None) -> None:
    assert expected_answer(field_schema(Order.model_json_schema(), field)) == wanted
