"""Money and units are said in words."""

from __future__ import annotations

import re

import pytest

from pipelines.playout.measures import CODES, SIGNS, UNITS, counted, measure, price


@pytest.mark.parametrize(
    ("figures", "currency", "scale", "said"),
    [
        ("9.99", "$", None, "nine dollars and ninety-nine cents"),
        ("1.01", "£", None, "one pound and one penny"),
        ("1,250", "EUR", None, "one thousand two hundred fifty euros"),
        ("0.50", "$", None, "fifty cents"),
        ("0.00", "$", None, "zero cents"),
        ("7.00", "$", None, "seven dollars"),
        ("1.5", "$", "bn", "one point five billion dollars"),
        ("2", "¥", "thousand", "two thousand yen"),
        ("1.234", "$", None, "one point two three four dollars"),
    ],
)
def test_prices_are_said(figures: str, currency: str, scale: str | None, said: str) -> None:
    assert price(figures, currency, scale) == said


def test_amounts_of_units_are_said_in_the_right_number() -> None:
    assert measure("1", "km") == "one kilometre"
    assert measure("1.0", "km") == "one point zero kilometres"
    assert measure("3", "km/h", to="5") == "three to five kilometres per hour"
    assert measure("1", "%") == "one percent"
    assert counted("01", "second", "seconds") == "one second"
    assert counted("00", "second", "seconds") == "zero seconds"


def test_every_known_sign_code_and_unit_can_be_said() -> None:
    for currency in [*SIGNS, *CODES.split("|")]:
        assert price("2", currency).startswith("two ")
    for unit in UNITS.split("|"):
        assert measure("2", re.sub(r"\\", "", unit)).startswith("two ")
