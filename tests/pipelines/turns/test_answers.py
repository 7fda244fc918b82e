"""An utterance is read against what was asked: complete, begun, or something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.responder import OPEN_QUESTION, Expectation, ExpectationKind
from pipelines.turns.answers import read_answer
from pipelines.turns.digits import read_digits
from pipelines.turns.reading import Reading
from pipelines.turns.words import words

YES_NO = Expectation(kind=ExpectationKind.YES_NO)
SEATS = Expectation(kind=ExpectationKind.CHOICE, choices=("window seat", "aisle seat", "middle seat"))
PLANS = Expectation(kind=ExpectationKind.CHOICE, choices=("premium", "premium plus", "basic", "New York", "New Jersey"))
NUMBER = Expectation(kind=ExpectationKind.DIGITS)
NINE = Expectation(kind=ExpectationKind.DIGITS, length=9)
SPELLING = Expectation(kind=ExpectationKind.SPELLING)
MESSAGE = Expectation(kind=ExpectationKind.DICTATION)


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("279", "279"),
        ("two seven nine", "279"),
        ("2, 7, nine.", "279"),
        ("555-1234", "5551234"),
        ("double five oh one", "5501"),
        ("triple seven", "777"),
        ("twenty one fifteen", "2115"),
        ("thirty forty two", "3042"),
        ("eight hundred five five five", "800555"),
        ("My number is, um, one four", "14"),
        ("It's one four dash two nine", "1429"),
        ("my number is", ""),
        ("double", None),
        ("one for the road", None),
        ("I don't know", None),
        ("", ""),
    ],
)
def test_digits_are_read_however_they_are_said(text: str, digits: str | None) -> None:
    assert read_digits(words(text)) == digits


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_digits_said_one_by_one_come_back(digits: list[int]) -> None:
    names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    assert read_digits([names[digit] for digit in digits]) == "".join(map(str, digits))


@pytest.mark.parametrize(
    ("text", "expectation", "reading"),
    [
        ("Please tell her that the boiler is leaking.", MESSAGE, Reading.OPEN_ENDED),
        ("She can reach me at the office. That's all.", MESSAGE, Reading.COMPLETE),
        ("Yes.", YES_NO, Reading.COMPLETE),
        ("Um, yes please.", YES_NO, Reading.COMPLETE),
        ("No, thank you.", YES_NO, Reading.COMPLETE),
        ("Yes, that's correct.", YES_NO, Reading.COMPLETE),
        ("Mm-hm.", YES_NO, Reading.COMPLETE),
        ("That's wrong", YES_NO, Reading.COMPLETE),
        ("Yes, but", YES_NO, Reading.OTHER),
        ("No, I want Friday.", YES_NO, Reading.OTHER),
        ("yes um", YES_NO, Reading.OTHER),
        ("please", YES_NO, Reading.OTHER),
        ("", YES_NO, Reading.OTHER),
        ("Yes.", OPEN_QUESTION, Reading.OTHER),
        ("Window seat.", SEATS, Reading.COMPLETE),
        ("The window, please.", SEATS, Reading.COMPLETE),
        ("I'd like a window seat", SEATS, Reading.COMPLETE),
        ("windows", SEATS, Reading.COMPLETE),
        ("The second one.", SEATS, Reading.COMPLETE),
        ("Option three", SEATS, Reading.COMPLETE),
        ("Option seven", SEATS, Reading.OTHER),
        ("I'd like the", SEATS, Reading.BEGUN),
        ("a seat", SEATS, Reading.BEGUN),
        ("What does it cost?", SEATS, Reading.OTHER),
        ("Premium.", PLANS, Reading.EXTENDABLE),
        ("Premium plus.", PLANS, Reading.COMPLETE),
        ("New", PLANS, Reading.BEGUN),
        ("new york", PLANS, Reading.COMPLETE),
        ("one four", NUMBER, Reading.OPEN_ENDED),
        ("one four, that's it", NUMBER, Reading.COMPLETE),
        ("one four two nine", NINE, Reading.BEGUN),
        ("142 958 637", NINE, Reading.COMPLETE),
        ("My number is", NUMBER, Reading.BEGUN),
        ("I lost it", NINE, Reading.OTHER),
        ("L, A, U, R, A", SPELLING, Reading.OPEN_ENDED),
        ("J.O.E.", SPELLING, Reading.OPEN_ENDED),
        ("B as in bravo, O for Oscar", SPELLING, Reading.OPEN_ENDED),
        ("J, O, E, that's it", SPELLING, Reading.COMPLETE),
        ("L, A, U, R, A, at,", SPELLING, Reading.BEGUN),
        ("laura at acme", SPELLING, Reading.BEGUN),
        ("laura at acme dot", SPELLING, Reading.BEGUN),
        ("L, A, U, R, A, at, A, C, M, E, dot, C, O.", SPELLING, Reading.OPEN_ENDED),
        ("L, A, U, R, A, at, A, C, M, E, dot, C, O, M.", SPELLING, Reading.EXTENDABLE),
        ("laura@acme.com.", SPELLING, Reading.EXTENDABLE),
        ("laura@acme.com, thanks", SPELLING, Reading.COMPLETE),
        ("my e-mail is laura at acme dot co dot uk", SPELLING, Reading.EXTENDABLE),
        ("my email is", SPELLING, Reading.BEGUN),
        ("I don't have one of those things", SPELLING, Reading.OTHER),
    ],
)
def test_an_answer_is_read_against_the_question(text: str, expectation: Expectation, reading: Reading) -> None:
    assert read_answer(text, expectation) is reading


@given(st.text(), st.sampled_from([YES_NO, SEATS, NUMBER, NINE, SPELLING, OPEN_QUESTION]))
def test_any_text_can_be_read(text: str, expectation: Expectation) -> None:
    assert read_answer(text, expectation) in Reading


def test_a_longer_number_never_reads_as_less_complete() -> None:
    said = ["one", "four", "two", "nine", "five", "eight", "six", "three", "seven"]
    readings = [read_answer(" ".join(said[:count]), NINE) for count in range(1, 10)]
    assert readings == [Reading.BEGUN] * 8 + [Reading.COMPLETE]
