from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.money import Money, read_money


@pytest.mark.parametrize(
    ("said", "amount", "currency"),
    [
        ("Twenty dollars.", "20", "USD"),
        ("twenty dollars and fifty cents", "20.5", "USD"),
        ("twenty dollars fifty", "20.5", "USD"),
        ("$1,200", "1200", "USD"),
        ("about £12.50", "12.50", "GBP"),
        ("two hundred and fifty euros", "250", "EUR"),
        ("fifty cents", "0.5", None),
        ("five pence", "0.05", "GBP"),
        ("a thousand", "1000", None),
        ("2.5 million dollars", "2500000", "USD"),
        ("3.50", "3.50", None),
    ],
)
def test_an_amount_is_read_as_it_is_said(said: str, amount: str, currency: str | None) -> None:
    assert read_money(said) == Money(amount=Decimal(amount), currency=currency)


@pytest.mark.parametrize("said", ["none", "", "ten or twenty dollars", "ten, twenty, thirty", "no money"])
def test_what_is_not_one_amount_is_none(said: str) -> None:
    assert read_money(said) is None


@given(st.text(max_size=200))
def test_nothing_that_is_said_breaks_it(said: str) -> None:
    read_money(said)
