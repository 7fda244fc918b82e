from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.digits import read_digits
from agents.spoken import say_digits


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("Two, seven, nine, four, one, three, eight, six, two.", "279413862"),
        ("two seven nine", "279"),
        ("279-413-862", "279413862"),
        ("279413862.", "279413862"),
        ("2, 7, 9, 4, 1, 3, 8, 6, 2.", "279413862"),
        ("2794 13862", "279413862"),
        ("279,413,862", "279413862"),
        ("It's oh double five two.", "0552"),
        ("triple zero one", "0001"),
        ("zero O oh", "000"),
        ("My number is two seven nine, thank you.", "279"),
        ("Uh, yeah, you can call me on 279 413 862.", "279413862"),
        ("No, it's two seven nine.", "279"),
        ("two seven nine for one three", "279413"),
        ("seven to seven", "727"),
        ("It's 279 413 for my mobile", "279413"),
        ("seventy nine, forty one", "7941"),
        ("eight hundred, five five five", "800555"),
        ("nineteen eighty", "1980"),
        ("two seven banana nine four one", "27941"),
    ],
)
def test_dictated_digits_are_read(said: str, digits: str) -> None:
    assert read_digits(said) == digits


@pytest.mark.parametrize(
    "said",
    [
        "",
        "What time is it?",
        "what is twelve times seven",
        "One of my colleagues is running late.",
        "I don't know it by heart",
        "to",
        "call me",
    ],
)
def test_what_is_no_number_is_not_read_as_one(said: str) -> None:
    assert read_digits(said) is None


@given(st.text(alphabet="0123456789", min_size=1, max_size=20))
def test_digits_that_are_read_back_are_the_digits_that_were_given(digits: str) -> None:
    assert read_digits(say_digits(digits)) == digits
