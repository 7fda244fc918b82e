from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.names import read_name


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("My name is Amina Odhiambo.", "Amina Odhiambo"),
        ("It's Laura.", "Laura"),
        ("amina odhiambo", "Amina Odhiambo"),
        ("Uh, this is Joe, please.", "Joe"),
        ("I'm called Ludwig van Beethoven", "Ludwig van Beethoven"),
        ("Lisbon.", "Lisbon"),
        ("To Lisbon, please.", "Lisbon"),
        ("From New York.", "New York"),
        ("I want to go to Rio de Janeiro.", "Rio de Janeiro"),
        ("We're flying from Nairobi.", "Nairobi"),
        ("Yes, O'Brien", "O'Brien"),
        ("José María", "José María"),
        ("McDonald", "McDonald"),
        ("Tomas", "Tomas"),
        ("Inverness", "Inverness"),
        ("please", None),
        ("", None),
        ("42", None),
        ("I think that we should talk about this another time", None),
        ("What do you mean by that?", None),
        ("I'm not sure", None),
        ("Which airport?", None),
        ("Is that important", None),
        ("Will May", "Will May"),
        ("To Lisbon?", "Lisbon"),
    ],
)
def test_a_name_is_read_out_of_the_words_around_it(said: str, name: str | None) -> None:
    assert read_name(said) == name


@given(st.text(max_size=300))
def test_nothing_that_is_said_breaks_it(said: str) -> None:
    read_name(said)
