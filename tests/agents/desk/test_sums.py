from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.desk.sums import SumError, work_out


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is twelve times seven?", "12 times 7 is 84."),
        ("12 * 7", "12 times 7 is 84."),
        ("12 x 7", "12 times 7 is 84."),
        ("What's twelve multiplied by seven, please?", "12 times 7 is 84."),
        ("How many ounces are in two pounds?", "2 pounds are 32 ounces."),
        ("How many ounces are there in half a pound?", "0.5 pounds are 8 ounces."),
        ("What is three miles in kilometres?", "3 miles are about 4.83 kilometres."),
        ("Three miles in kilometers, please.", "3 miles are about 4.83 kilometres."),
        ("what is one mile in feet", "1 mile is 5280 feet."),
        ("How many minutes are in a day?", "1 day is 1440 minutes."),
        ("a quarter of an hour in minutes", "0.25 hours are 15 minutes."),
        ("Convert seventy degrees Fahrenheit to Celsius.", "70 degrees Fahrenheit are about 21.11 degrees Celsius."),
        ("minus 40 degrees fahrenheit in celsius", "minus 40 degrees Fahrenheit are minus 40 degrees Celsius."),
        ("12 plus 30 minus 2 times 4", "12 plus 30 minus 2 times 4 is 34."),
        ("ten minus three minus two", "10 minus 3 minus 2 is 5."),
        ("add 3 and 4", "3 plus 4 is 7."),
        ("subtract three from ten", "10 minus 3 is 7."),
        ("divide 10 by 3", "10 divided by 3 is about 3.33."),
        ("three minus ten", "3 minus 10 is minus 7."),
        ("ten times minus three", "10 times minus 3 is minus 30."),
        ("10 percent of 250", "10 divided by 100 times 250 is 25."),
        ("half of nine", "0.5 times 9 is 4.5."),
        ("what is 5 squared", "5 times 5 is 25."),
        ("two pounds plus three ounces in grams", "2 pounds plus 3 ounces is about 992.23 grams."),
        ("two hours plus thirty minutes", "2 hours plus 30 minutes is 2.5 hours."),
        ("ten miles divided by two miles", "10 miles divided by 2 miles is 5."),
        ("one divided by three thousand", "1 divided by 3000 is about 0.00033."),
    ],
)
def test_a_sum_is_worked_out(question: str, answer: str) -> None:
    assert work_out(question) == answer[0].upper() + answer[1:]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("", "no sum"),
        ("five", "no sum"),
        ("seven divided by zero", "divided by zero"),
        ("what is 2 miles in pounds", "Miles measure length, and pounds weight"),
        ("two miles plus three", "has a unit and the other has none"),
        ("two miles times three miles", "plain number"),
        ("six divided by two miles", "only divide a measure"),
        ("two seven nine", "two numbers"),
        ("five in miles", "not of what"),
        ("the square root of nine", "'square'"),
        ("__import__('os') times 3", "'_'"),
        ("billion", "'billion'"),
        (" times ".join(["a billion"] * 20), "larger number"),
    ],
)
def test_what_has_no_answer_says_why(question: str, reason: str) -> None:
    with pytest.raises(SumError, match=reason):
        work_out(question)


@given(st.integers(0, 10**6), st.sampled_from("+-*/"), st.integers(1, 10**6))
def test_sums_agree_with_arithmetic(left: int, sign: str, right: int) -> None:
    answer = work_out(f"{left} {sign} {right}").rsplit(" is ", 1)[1]
    exact = {
        "+": Fraction(left + right),
        "-": Fraction(left - right),
        "*": Fraction(left * right),
        "/": Fraction(left, right),
    }[sign]
    said = Fraction(answer.removeprefix("about ").replace("minus ", "-").rstrip("."))
    assert abs(said - exact) <= Fraction(1, 200)


@given(st.text())
def test_whatever_is_asked_there_is_an_answer_or_a_reason(question: str) -> None:
    try:
        assert work_out(question).endswith(".")
    except SumError as exc:
        assert str(exc)
