from __future__ import annotations

from typing import Any

import pytest

from agents.forms.type_string import describe_type
from agents.offline.form_view import read_form, schema_of


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "email"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "time"},
        {"type": "boolean"},
        {"type": "integer"},
        {"type": "number"},
        {"enum": ["window", "aisle"]},
        {"type": "string"},
    ],
)
def test_a_type_that_a_form_describes_is_understood(schema: dict[str, Any]) -> None:
    assert schema_of(describe_type(schema)) == schema


def test_a_yes_is_told_from_a_choice() -> None:
    assert schema_of(describe_type({"const": True, "type": "boolean"})) == {"type": "boolean", "enum": [True]}
    assert schema_of("integer between 1 and 9 (may be empty)") == {"type": "integer"}


@pytest.mark.parametrize("data", [None, "text", {}, {"fields": 1, "form": "x"}, {"fields": []}, {"done": True}])
def test_what_shows_no_form_is_none(data: Any) -> None:
    assert read_form(data) is None
