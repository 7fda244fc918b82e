from __future__ import annotations

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.times import read_time


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("At half past seven.", "07:30"),
        ("half past seven in the evening", "19:30"),
        ("A quarter to nine in the morning.", "08:45"),
        ("quarter past three", "15:15"),
        ("ten to one", "12:50"),
        ("ten minutes past five p.m.", "17:10"),
        ("seven thirty p.m.", "19:30"),
        ("7:30 PM", "19:30"),
        ("7.30 a.m.", "07:30"),
        ("at 14:30", "14:30"),
        ("Noon.", "12:00"),
        ("midnight", "00:00"),
        ("five o'clock", "17:00"),
        ("Nine o'clock, please", "09:00"),
        ("tonight at eight", "08:00"),
        ("at eight tonight", "20:00"),
        ("at 12 a.m.", "00:00"),
        ("12 p.m.", "12:00"),
        ("Eleven.", "11:00"),
        ("three", "15:00"),
        ("nineteen fifteen", "19:15"),
        ("at nine or at ten", None),
        ("two of us are going there", None),
        ("25:10", None),
        ("I don't know", None),
        ("", None),
    ],
)
def test_a_time_is_read_as_it_is_said(said: str, meant: str | None) -> None:
    assert read_time(said) == (None if meant is None else time.fromisoformat(meant))


@given(st.times().map(lambda at: at.replace(second=0, microsecond=0, tzinfo=None, fold=0)))
def test_every_time_is_read_with_its_half_of_the_day(at: time) -> None:
    hour = at.hour % 12 or 12
    assert read_time(f"{hour}:{at.minute:02} {'a.m.' if at.hour < 12 else 'p.m.'}") == at


@given(st.text(max_size=200))
def test_nothing_that_is_said_breaks_it(said: str) -> None:
    read_time(said)
