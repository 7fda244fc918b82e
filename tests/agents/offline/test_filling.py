from __future__ import annotations

from datetime import date

from agents.offline.filling import fill
from tests.agents.reading.test_fields import Order

TODAY = date(2026, 12, 1)


def test_a_first_call_is_given_what_is_required_and_what_cannot_be_mistaken() -> None:
    assert fill(Order.model_json_schema(), "send a large ball", TODAY) == {"what": "send a large ball", "size": "large"}
