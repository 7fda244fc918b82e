"""Dates, times and numbers are waited for while they are begun, and answered when they are whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.turns.quantities import read_date, read_number, read_time
from pipelines.turns.reading import Reading
from pipelines.turns.words import words


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("On the", Reading.BEGUN),
        ("The second of", Reading.BEGUN),
        ("November.", Reading.BEGUN),
        ("In two", Reading.BEGUN),
        ("Next", Reading.BEGUN),
        ("A week from", Reading.BEGUN),
        ("Two", Reading.BEGUN),
        ("The second.", Reading.EXTENDABLE),
        ("Friday.", Reading.EXTENDABLE),
        ("On the second of November.", Reading.EXTENDABLE),
        ("November 2nd", Reading.EXTENDABLE),
        ("November the twenty-first", Reading.EXTENDABLE),
        ("Friday, please.", Reading.COMPLETE),
        ("Tomorrow.", Reading.COMPLETE),
        ("The day after tomorrow.", Reading.COMPLETE),
        ("In two weeks.", Reading.COMPLETE),
        ("November 2nd, 2026.", Reading.COMPLETE),
        ("The second of November, twenty twenty-six", Reading.COMPLETE),
        ("I don't know yet.", Reading.OTHER),
        ("What time is it?", Reading.OTHER),
    ],
)
def test_a_date(text: str, reading: Reading) -> None:
    assert read_date(words(text)) is reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("At", Reading.BEGUN),
        ("At half past", Reading.BEGUN),
        ("A quarter to", Reading.BEGUN),
        ("Seven in the", Reading.BEGUN),
        ("Seven.", Reading.EXTENDABLE),
        ("Seven thirty", Reading.EXTENDABLE),
        ("Half past seven.", Reading.EXTENDABLE),
        ("Five o'clock.", Reading.EXTENDABLE),
        ("Seven thirty p.m.", Reading.COMPLETE),
        ("7:30 PM", Reading.COMPLETE),
        ("Seven in the evening.", Reading.COMPLETE),
        ("Noon.", Reading.COMPLETE),
        ("Seven, please.", Reading.COMPLETE),
        ("Whenever you like.", Reading.OTHER),
    ],
)
def test_a_time(text: str, reading: Reading) -> None:
    assert read_time(words(text)) is reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("A hundred and", Reading.BEGUN),
        ("Two point", Reading.BEGUN),
        ("It's", Reading.BEGUN),
        ("Twenty", Reading.EXTENDABLE),
        ("A hundred.", Reading.EXTENDABLE),
        ("Three.", Reading.COMPLETE),
        ("Twenty-five.", Reading.COMPLETE),
        ("Two of us.", Reading.COMPLETE),
        ("Twenty, please", Reading.COMPLETE),
        ("Twenty dollars.", Reading.COMPLETE),
        ("Where would we go?", Reading.OTHER),
    ],
)
def test_a_number(text: str, reading: Reading) -> None:
    assert read_number(words(text)) is reading


_PARTS = words("the on of november second friday two twenty past half m a at or noon week")


@given(st.lists(st.sampled_from(_PARTS), min_size=1))
def test_no_order_of_their_words_breaks_it(heard: list[str]) -> None:
    for read in (read_date, read_time, read_number):
        read(heard)
