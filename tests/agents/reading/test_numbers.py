from __future__ import annotations

from fractions import Fraction

import pytest

from agents.reading.numbers import read_number, with_numerals


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("What is twelve times seven?", "what is 12 times 7 ?"),
        ("a hundred and five", "105"),
        ("two thousand three hundred and forty-one", "2341"),
        ("one million two hundred thousand", "1200000"),
        ("2.5 million", "2500000"),
        ("1,200 plus 3", "1200 plus 3"),
        ("three point oh five", "3.05"),
        ("two and a half", "2.5"),
        ("half a mile", "0.5 mile"),
        ("three quarters of eight", "0.75 of 8"),
        ("a dozen", "12"),
        ("twenty and thirty", "20 and 30"),
        ("two seven nine", "2 7 9"),
        ("twenty one ten", "21 10"),
        ("nobody", "nobody"),
        ("a hundred", "100"),
        ("hundred", "hundred"),
    ],
)
def test_numbers_in_words_are_written_in_numerals(said: str, written: str) -> None:
    assert with_numerals(said) == written


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("About twenty-five, I think", Fraction(25)),
        ("minus three point five", Fraction(-7, 2)),
        ("none", None),
        ("two or three", None),
    ],
)
def test_the_one_number_of_an_utterance_is_read(said: str, value: Fraction | None) -> None:
    assert read_number(said) == value
