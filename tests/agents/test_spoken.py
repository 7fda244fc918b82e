from __future__ import annotations

from datetime import datetime

import pytest

from agents.spoken import say_address, say_date, say_digits, say_number, say_time


@pytest.mark.parametrize(
    ("hour", "minute", "said"),
    [
        (0, 0, "twelve o'clock in the morning"),
        (9, 5, "nine oh five in the morning"),
        (11, 59, "eleven fifty-nine in the morning"),
        (12, 0, "twelve o'clock in the afternoon"),
        (17, 30, "five thirty in the afternoon"),
        (18, 10, "six ten in the evening"),
        (23, 59, "eleven fifty-nine in the evening"),
    ],
)
def test_the_time_is_said(hour: int, minute: int, said: str) -> None:
    assert say_time(datetime(2026, 1, 1, hour, minute)) == said


@pytest.mark.parametrize(
    ("month", "day", "said"),
    [
        (3, 1, "Sunday, the first of March"),
        (3, 3, "Tuesday, the third of March"),
        (11, 12, "Thursday, the twelfth of November"),
        (2, 20, "Friday, the twentieth of February"),
        (5, 31, "Sunday, the thirty-first of May"),
        (7, 29, "Wednesday, the twenty-ninth of July"),
        (9, 15, "Tuesday, the fifteenth of September"),
    ],
)
def test_the_date_is_said(month: int, day: int, said: str) -> None:
    assert say_date(datetime(2026, month, day)) == said


@pytest.mark.parametrize(
    ("digits", "said"),
    [
        ("27", "two seven"),
        ("2794", "two seven nine four"),
        ("27941", "two seven nine, four one"),
        ("279413862", "two seven nine, four one three, eight six two"),
        ("2794138620", "two seven nine, four one three, eight six two zero"),
    ],
)
def test_digits_are_said_in_groups(digits: str, said: str) -> None:
    assert say_digits(digits) == said


def test_an_address_is_said_letter_by_letter() -> None:
    assert say_address("a-b_7@x.org") == "A, dash, B, underscore, seven, at, X, dot, O, R, G"


def test_numbers_below_a_hundred_have_words() -> None:
    assert len({say_number(value) for value in range(100)}) == 100
    assert [say_number(value) for value in (0, 13, 40, 99)] == ["zero", "thirteen", "forty", "ninety-nine"]
