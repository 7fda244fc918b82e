from __future__ import annotations

import pytest

from agents.reading.assent import read_yes_no


@pytest.mark.parametrize(
    "said",
    [
        "Yes.", "Yeah", "yep", "Mm-hm.", "Mm-hmm", "uh-huh", "That's right.", "That is right, thank you.", "Okay.",
        "Correct", "Yes, please.", "It is.", "Sure, go ahead.", "Um, yes", "Right.", "Absolutely.",
        "Yes, that is all fine.", "Please do.",
    ],
)  # fmt: skip
def test_yes(said: str) -> None:
    assert read_yes_no(said) is True


@pytest.mark.parametrize(
    "said",
    ["No.", "Nope", "Nah.", "uh-uh", "No, it's two seven", "That's not right.", "Yes, that is not right", "Wrong."],
)
def test_no(said: str) -> None:
    assert read_yes_no(said) is False


@pytest.mark.parametrize(
    "said", ["", "Right, what time is it?", "What time is it?", "hmm", "two seven nine", "it", "okay so call me"]
)
def test_neither(said: str) -> None:
    assert read_yes_no(said) is None
