from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.declining import is_decline, is_going_back, read_correction


@pytest.mark.parametrize(
    "said",
    [
        "I don't have one.",
        "No, I don't have a loyalty number.",
        "I do not have any",
        "Skip that.",
        "Let's skip it, please.",
        "I'd rather not say.",
        "No loyalty number.",
        "None.",
        "Oh, there's none.",
        "We haven't got one",
        "Leave it blank.",
    ],
)
def test_an_answer_that_is_declined(said: str) -> None:
    assert is_decline(said)


@pytest.mark.parametrize(
    "said",
    [
        "No.",
        "No, thank you, it's AB123456.",
        "A B one two three four five six",
        "I have one.",
        "I don't have it with me but it's AB123456",
        "Nairobi",
        "Nothing Hill",
        "",
    ],
)
def test_an_answer_that_is_not_declined(said: str) -> None:
    assert not is_decline(said)


@pytest.mark.parametrize("said", ["Go back.", "Can we go back, please?", "Undo that", "the previous question, please"])
def test_going_back(said: str) -> None:
    assert is_going_back(said)


@pytest.mark.parametrize("said", ["My back hurts", "I am going to Lisbon and back", "Lisbon"])
def test_not_going_back(said: str) -> None:
    assert not is_going_back(said)


@pytest.mark.parametrize(
    ("said", "about", "value"),
    [
        ("Actually, make it three.", None, "three."),
        ("No, sorry, actually three.", None, "three."),
        ("Actually, change the date to Friday.", "date", "Friday."),
        ("Can you change the departure date to the second of November?", "departure date", "the second of November?"),
        ("Please change my name to Amina.", "name", "Amina."),
        ("I meant Lisbon", None, "Lisbon"),
        ("Wait, I mean Lisbon.", None, "Lisbon."),
        ("Make it three, please.", None, "three, please."),
    ],
)
def test_a_correction_says_what_it_is_about_and_what_it_is(said: str, about: str | None, value: str) -> None:
    read = read_correction(said)
    assert read is not None
    topic, words = read
    assert (topic, words.lstrip(", ")) == (about, value)


@pytest.mark.parametrize("said", ["Lisbon", "Three.", "What time is it?", "I make shoes", ""])
def test_what_corrects_nothing(said: str) -> None:
    assert read_correction(said) is None


@given(st.text(max_size=600))
def test_nothing_that_is_said_breaks_it(said: str) -> None:
    is_decline(said)
    is_going_back(said)
    read_correction(said)


@pytest.mark.parametrize(
    "said", ["no, " * 5_000, "change the " + "a " * 5_000, "i don't have " * 2_000, "actually, " * 3_000]
)
def test_no_utterance_takes_long(said: str) -> None:
    began = time.process_time()
    is_decline(said)
    read_correction(said)
    assert time.process_time() - began < 0.1
