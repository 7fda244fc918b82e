from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reading.spelling import read_address
from agents.spoken import say_address


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("L, A, U, R, A, at, A, C, M, E, dot, C, O, M.", "laura@acme.com"),
        ("L-A-U-R-A at acme.com", "laura@acme.com"),
        ("L-A-U-R-A@acme.com", "laura@acme.com"),
        ("laura@acme.com", "laura@acme.com"),
        ("Laura at acme dot com.", "laura@acme.com"),
        ("l a u r a at a c m e dot com", "laura@acme.com"),
        ("L.A.U.R.A. at acme.com", "laura@acme.com"),
        ("L. A. U. R. A. at A. C. M. E. dot C. O. M.", "laura@acme.com"),
        ("My e-mail address is J, double O, at mail dot com", "joo@mail.com"),
        ("Sure, it's B as in Bravo, O, B at acme dot com", "bob@acme.com"),
        ("You, S, E, R, at, mail, dot, com", "user@mail.com"),
        ("J, O, E, five, at mail dot com", "joe5@mail.com"),
        ("J-O-E-at-M-A-I-L-dot-C-O-M.", "joe@mail.com"),
        ("J-O-E at M-A-I-L.C-O-M.", "joe@mail.com"),
        ("a.smith@x-y.co.uk", "a.smith@x-y.co.uk"),
        ("anna hyphen maria underscore b at acme dot org", "anna-maria_b@acme.org"),
        ("double u, I, L, L at acme dot com", "will@acme.com"),
    ],
)
def test_a_spelled_address_is_read(said: str, address: str) -> None:
    assert read_address(said) == address


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Laura.",
        "laura at acme",
        "at acme dot com",
        "What time is it?",
        "L-A-U-R-A-A-C-M-E-D-C-O-M",
        "I am at home.",
        "@",
    ],
)
def test_what_is_no_whole_address_is_not_read_as_one(said: str) -> None:
    assert read_address(said) is None


_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)


@given(_NAMES, _NAMES, st.sampled_from(["com", "org", "co.uk"]))
def test_an_address_that_is_read_back_is_the_address_that_was_given(name: str, host: str, domain: str) -> None:
    address = f"{name}@{host}.{domain}"
    assert read_address(say_address(address)) == address


@pytest.mark.parametrize("behind", ["", " Please.", " Hello?", ", thank you.", " That's it."])
def test_what_is_said_behind_an_address_is_no_part_of_it(behind: str) -> None:
    assert read_address(f"A, M, I, at, A, C, M, E, dot, C, O, M.{behind}") == "ami@acme.com"
