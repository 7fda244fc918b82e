from __future__ import annotations

import pytest

from agents.reading.choice import read_choice

WAYS = ("phone", "e-mail")


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("Phone, please.", "phone"),
        ("By telephone.", "phone"),
        ("E-mail.", "e-mail"),
        ("Email me", "e-mail"),
        ("an e mail", "e-mail"),
        ("mail", "e-mail"),
        ("The second one.", "e-mail"),
        ("the first", "phone"),
        ("the latter", "e-mail"),
        ("thong", "phone"),
        ("Fone, please.", "phone"),
        ("Emil.", "e-mail"),
        ("none", None),
        ("banana", None),
        ("What time is it?", None),
        ("either", None),
        ("phone or e-mail", None),
        ("", None),
        ("the third", None),
    ],
)
def test_a_choice_is_read(said: str, choice: str | None) -> None:
    assert read_choice(said, WAYS) == choice


def test_a_choice_of_several_words_needs_them_all() -> None:
    sizes = ("small table", "large table")
    assert read_choice("the large table please", sizes) == "large table"
    assert read_choice("a table", sizes) is None
