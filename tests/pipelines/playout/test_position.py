"""What was played becomes what was heard, never more; and what was not heard is found again in the audio."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.playout.position import heard_end, offset_start_s, word_start_s
from pipelines.playout.speakable import speakable
from pipelines.tts.base import WordTime

SENTENCE = speakable("Your flight leaves at ten, from gate nine.")


def heard(played_s: float, total_s: float = 4.0) -> str:
    return SENTENCE.source[: heard_end(SENTENCE, played_s, total_s)]


def test_nothing_played_is_nothing_heard_and_all_played_is_all() -> None:
    assert heard(0.0) == ""
    assert heard(-1.0) == ""
    assert heard(4.0) == SENTENCE.source
    assert heard(9.0) == SENTENCE.source
    assert heard(0.0, 0.0) == SENTENCE.source


def test_the_heard_part_ends_on_a_word() -> None:
    ends = [0, 4, 11, 18, 21, 25, 26, 31, 36, 41, 42]
    reached = {heard_end(SENTENCE, 0.01 * step, 4.0) for step in range(401)}
    assert reached - {26} == set(ends) - {26, 41}


def test_no_part_of_a_word_with_a_hyphen_is_heard_alone() -> None:
    spoken = speakable("Which e-mail address - the well-known one?")
    reached = {spoken.source[: heard_end(spoken, 0.01 * step, 4.0)] for step in range(401)}
    assert {said.split()[-1] for said in reached if said} == set(spoken.source.split())
    times = tuple(WordTime(end_char=chars, end_s=seconds) for chars, seconds in [(5, 0.4), (7, 0.6), (12, 1.0)])
    assert spoken.source[: heard_end(spoken, 0.7, 3.0, times)] == "Which"
    assert word_start_s(spoken, 0.7, 3.0, times) == pytest.approx(0.4)
    assert spoken.source[: heard_end(spoken, 1.0, 3.0, times)] == "Which e-mail"


def test_a_pause_at_a_comma_takes_time() -> None:
    plain = speakable("one two three four")
    paused = speakable("one two, three four")
    assert heard_end(plain, 2.9, 4.0) > len("one two")
    assert heard_end(paused, 2.9, 4.0) <= len("one two,")


def test_word_times_come_before_interpolation() -> None:
    spoken = speakable("It costs $9.99 now.")
    ends = [(2, 0.2), (8, 0.6), (13, 1.0), (21, 1.4), (25, 1.6), (37, 2.2), (43, 2.6), (48, 3.0)]
    times = tuple(WordTime(end_char=chars, end_s=seconds) for chars, seconds in ends)
    assert heard_end(spoken, 0.1, 3.2, times) == 0
    assert heard_end(spoken, 0.6, 3.2, times) == len("It costs")
    assert heard_end(spoken, 2.5, 3.2, times) == len("It costs")
    assert heard_end(spoken, 2.6, 3.2, times) == len("It costs $9.99")
    assert word_start_s(spoken, 2.5, 3.2, times) == pytest.approx(0.6)
    assert offset_start_s(spoken, len("It costs $9.99"), 3.2, times) == pytest.approx(2.6)


def test_a_cut_word_is_said_again_from_its_start() -> None:
    start = word_start_s(SENTENCE, 1.1, 4.0)
    assert heard(1.1) == "Your flight"
    assert 1.0 < start < 1.1
    assert heard(start + 0.01) == "Your flight"
    assert word_start_s(SENTENCE, 0.1, 4.0) == 0.0
    assert word_start_s(SENTENCE, 4.0, 4.0) == 4.0


texts = st.text() | st.lists(st.sampled_from(["$9.99", "**so**", "one", "two,", "三四", "😀", "7:30 pm.", "…"])).map(
    " ".join
)
seconds = st.floats(0.0, 60.0)


@given(texts, seconds, seconds, st.floats(0.1, 60.0))
def test_longer_played_is_never_less_heard(text: str, one: float, other: float, total: float) -> None:
    spoken = speakable(text)
    less, more = sorted((one, other))
    assert 0 <= heard_end(spoken, less, total) <= heard_end(spoken, more, total) <= len(text)


@given(texts, seconds, st.floats(0.1, 60.0))
def test_resuming_skips_nothing_and_claims_nothing(text: str, played: float, total: float) -> None:
    spoken = speakable(text)
    start = word_start_s(spoken, played, total)
    assert 0.0 <= start <= max(played, total)
    if played < total:
        assert start <= played
        assert heard_end(spoken, start, total) <= heard_end(spoken, played, total)
