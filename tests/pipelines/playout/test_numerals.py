"""Figures become the words people say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.playout.numerals import amount, cardinal, digit_by_digit, ordinal, plural, year


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (40, "forty"),
        (99, "ninety-nine"),
        (100, "one hundred"),
        (1250, "one thousand two hundred fifty"),
        (1_000_000, "one million"),
        (21_000_345, "twenty-one million three hundred forty-five"),
        (10**15, "one" + " zero" * 15),
    ],
)
def test_whole_numbers_are_said(number: int, said: str) -> None:
    assert cardinal(number) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "first"),
        (12, "twelfth"),
        (20, "twentieth"),
        (23, "twenty-third"),
        (100, "one hundredth"),
        (105, "one hundred fifth"),
    ],
)
def test_places_are_said(number: int, said: str) -> None:
    assert ordinal(number) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1999, "nineteen ninety-nine"),
        (2005, "two thousand five"),
        (1900, "nineteen hundred"),
        (1905, "nineteen oh five"),
        (2026, "twenty twenty-six"),
    ],
)
def test_years_are_said(number: int, said: str) -> None:
    assert year(number) == said


def test_amounts_decimals_codes_and_plurals_are_said() -> None:
    assert amount("1,250.50") == "one thousand two hundred fifty point five zero"
    assert amount(".5") == "zero point five"
    assert amount("007") == "zero zero seven"
    assert amount("9" * 5000 + ".5").endswith("nine point five")
    assert digit_by_digit("0-49") == "zero four nine"
    assert plural("nineteen ninety") == "nineteen nineties"
    assert plural("nineteen hundred") == "nineteen hundreds"


@given(st.integers(0, 10**15 - 1))
def test_different_numbers_sound_different_and_have_no_figures(number: int) -> None:
    assert cardinal(number) != cardinal(number + 1)
    assert not any(char.isdigit() for char in cardinal(number) + ordinal(number))
