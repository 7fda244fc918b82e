"""Words are compared across spellings, scripts and punctuation."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.turns.words import (
    interrupts,
    is_backchannel,
    located_words,
    new_words,
    without_echo,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mm-hm, it's 7:30!", ["mm", "hm", "it's", "7", "30"]),
        ("It’s O'Brien’s 'quoted' dogs'", ["it's", "o'brien's", "quoted", "dogs"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("ｆｕｌｌ ７", ["full", "7"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("नमस्ते, दुनिया।", ["नमस्ते", "दुनिया"]),
        ("今日は晴れ", ["今", "日", "は", "晴", "れ"]),
        ("iPhoneは高い", ["iphone", "は", "高", "い"]),
        ("안녕하세요 여러분", ["안녕하세요", "여러분"]),
        ("Привет, МИР", ["привет", "мир"]),
        ("مرحبا، كيف حالك؟", ["مرحبا", "كيف", "حالك"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("snake_case 😀 — …", ["snake", "case"]),
        ("", []),
        ("?!… \ud800", []),
    ],
)
def test_words_are_normalised_in_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_know_their_places_and_never_raise(text: str) -> None:
    located = located_words(text)
    assert all(0 <= word.start < word.end <= len(text) and word.text for word in located)
    assert all(a.end <= b.start or (a.start, a.end) == (b.start, b.end) for a, b in pairwise(located))


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF)))
def test_case_and_punctuation_change_no_words(text: str) -> None:
    assert words(f"«{text}»!") == words(text)
    assert words(" ".join(words(text))) == words(text)


@pytest.mark.parametrize(
    "text",
    [
        "mm-hm",
        "Mm-hmm.",
        "mhm",
        "Mm hmm",
        "Mmm-hmm",
        "Uh-huh.",
        "Uh huh",
        "yeah",
        "Yeah, yeah.",
        "Okay.",
        "OK",
        "right",
        "I see.",
        "sure",
        "got it",
        "oh",
        "ah",
        "Hmmmm",
        "Oh, okay, I see.",
        "Ohhh",
        "All right.",
        "That's right, yeah.",
    ],
)
def test_acknowledgements_are_backchannels(text: str) -> None:
    assert is_backchannel(words(text))


@pytest.mark.parametrize(
    "text", ["", "Tuesday", "I see a problem", "okay but", "got", "no", "yeah Tuesday", "stop", "I", "right now"]
)
def test_anything_that_says_more_is_no_backchannel(text: str) -> None:
    assert not is_backchannel(words(text))


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop!",
        "Stop it, please",
        "wait",
        "Wait wait wait",
        "no",
        "No, that's wrong",
        "hang on",
        "Hold on a second",
        "Excuse me.",
        "Pardon?",
        "Sorry?",
        "One moment.",
        "Actually, make it Friday",
        "shut up",
        "Enough.",
        "Quiet!",
        "Okay, stop.",
        "Um, wait",
        "No worries, but stop",
        "Yeah, no",
        "Please stop",
        "What?",
        "that's enough",
    ],
)
def test_commands_interrupt(text: str) -> None:
    assert interrupts(words(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the bus stop",
        "I got off at the stop",
        "no problem",
        "No worries.",
        "Okay, no problem",
        "I can't wait",
        "Tuesday",
        "mm-hm",
        "yeah",
        "quiet in here today",
        "enough people came",
        "what time is it",
        "there is no room",
        "stopping",
        "Okay.",
    ],
)
def test_the_same_words_elsewhere_do_not_interrupt(text: str) -> None:
    assert not interrupts(words(text))


def test_three_shared_words_are_echo_and_two_are_not() -> None:
    agent = words("Your flight leaves at ten past nine tomorrow")
    assert without_echo(words("flight leaves at"), agent) == []
    assert without_echo(words("leaves at, wait"), agent) == ["leaves", "at", "wait"]
    assert without_echo(words("no flight LEAVES, at ten no"), agent) == ["no", "no"]
    assert without_echo([], agent) == []
    assert without_echo(["stop"], []) == ["stop"]


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_echo_is_cut_exactly_where_a_run_of_three_is_shared(heard: list[str], spoken: list[str]) -> None:
    said = "".join(spoken)
    shared = [at for at in range(len(heard) - 2) if "".join(heard[at : at + 3]) in said]
    kept = [word for at, word in enumerate(heard) if not any(first <= at < first + 3 for first in shared)]
    assert without_echo(heard, spoken) == kept


@pytest.mark.parametrize(
    ("sent", "live", "pending", "expected"),
    [
        ("Book a flight.", "book a flight to Oslo.", True, "to Oslo."),
        ("Book a flight", "Book a flight, and a hotel", True, "and a hotel"),
        ("Book a flight.", "Book a flight", True, ""),
        ("Hello?", "Hello?", False, "Hello?"),
        ("Book a flight to Oslo", "Book a", True, ""),
        ("Book a flight", "What time is it?", True, "What time is it?"),
        ("", "Hello.", False, "Hello."),
        ("Hello", "", True, ""),
        ("今日は", "今日は、晴れ", True, "晴れ"),
        ("नमस्ते", "नमस्ते दुनिया", True, "दुनिया"),
    ],
)
def test_only_new_words_are_kept(sent: str, live: str, pending: bool, expected: str) -> None:
    assert new_words(sent, live, pending=pending) == expected
