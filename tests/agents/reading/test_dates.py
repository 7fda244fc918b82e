from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.dates import names_part_of_a_date, read_date

TODAY = date(2026, 12, 1)
"""A Tuesday."""


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Tomorrow.", "2026-12-02"),
        ("The day after tomorrow, please.", "2026-12-03"),
        ("Today", "2026-12-01"),
        ("On the second of November.", "2027-11-02"),
        ("On the second of November, 2026, please.", "2026-11-02"),
        ("November 2nd, 2026.", "2026-11-02"),
        ("November the 2nd", "2027-11-02"),
        ("2 November 2026", "2026-11-02"),
        ("March third, twenty twenty-seven", "2027-03-03"),
        ("the twelfth of december two thousand and twenty six", "2026-12-12"),
        ("It's the 12th of December.", "2026-12-12"),
        ("Uh, December twenty-fourth.", "2026-12-24"),
        ("December 1st", "2026-12-01"),
        ("Sat 5th Dec", "2026-12-05"),
        ("Saturday, the fifth of December", "2026-12-05"),
        ("Sunday, the fifth of December", None),
        ("Friday", "2026-12-04"),
        ("This Friday.", "2026-12-04"),
        ("next Friday", "2026-12-11"),
        ("Tuesday", "2026-12-08"),
        ("Monday the seventh", "2026-12-07"),
        ("Monday the eighth", None),
        ("in two weeks", "2026-12-15"),
        ("In ten days.", "2026-12-11"),
        ("A week from today.", "2026-12-08"),
        ("two days from tomorrow", "2026-12-04"),
        ("the twenty-first", "2026-12-21"),
        ("The 31st, please.", "2026-12-31"),
        ("the first", "2026-12-01"),
        ("the thirty-second", None),
        ("the first thing is a question", None),
        ("2026-11-02", "2026-11-02"),
        ("11/02/2026", "2026-11-02"),
        ("25/12/2026", "2026-12-25"),
        ("November. Second.", "2027-11-02"),
        ("The second. Of November.", "2027-11-02"),
        ("November 2nd. 2026.", "2026-11-02"),
        ("Saturday. December fifth.", "2026-12-05"),
        ("There are 2. November is fine.", None),
        ("February 30th", None),
        ("February 29th", "2028-02-29"),
        ("February 29th, 2027", None),
        ("tomorrow or on Friday", None),
        ("tomorrow, the second of December", "2026-12-02"),
        ("I don't know", None),
        ("two of us", None),
        ("three", None),
        ("I may come back", None),
        ("in 99999999 weeks", None),
        ("", None),
    ],
)
def test_a_date_is_read_as_it_is_said(said: str, meant: str | None) -> None:
    found = read_date(said, TODAY)
    assert found == (None if meant is None else date.fromisoformat(meant))


@given(st.dates(min_value=TODAY, max_value=date(2035, 12, 31)))
def test_every_date_is_read_in_every_way_it_is_written(day: date) -> None:
    for form in ("%d %B %Y", "%B %d, %Y", "on the %d of %B, %Y", "%A, %B %d %Y", "%Y-%m-%d", "%m/%d/%Y"):
        assert read_date(day.strftime(form), TODAY) == day


@given(st.text(max_size=200))
def test_nothing_that_is_said_breaks_it(said: str) -> None:
    read_date(said, TODAY)
    names_part_of_a_date(said)


def test_a_beginning_of_a_date_is_told_from_other_words() -> None:
    assert names_part_of_a_date("On the second of")
    assert names_part_of_a_date("November")
    assert not names_part_of_a_date("two of us")
