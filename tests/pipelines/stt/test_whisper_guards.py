import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.stt.whisper_guards import (
    Attempt,
    Part,
    cut,
    has_end,
    is_noise,
    is_spelled,
    is_suspicious,
    text_of,
    unlooped,
    words_of,
)
from pipelines.stt.whisper_model import SPELLING_PROMPT


def attempt(
    *parts: tuple[str, float | None],
    seconds: float = 2.0,
    no_speech: float = 0.1,
    logprob: float = -0.4,
    ended: bool = True,
) -> Attempt:
    made = tuple(Part(text=text, end_s=end) for text, end in parts)
    return Attempt(parts=made, seconds=seconds, no_speech=no_speech, logprob=logprob, ended=ended)


def test_what_is_said_after_the_real_end_is_dropped() -> None:
    heard = attempt((" What day is it?", 2.0), (" What", None))
    assert text_of(cut(heard)) == "What day is it?"


def test_an_end_stamp_a_little_early_counts_and_one_in_the_middle_does_not() -> None:
    assert len(cut(attempt(("one", 1.86), ("two", 4.0)))) == 1
    assert len(cut(attempt(("one", 1.0), ("two", 2.0)))) == 2


def test_a_part_that_says_again_what_was_just_said_past_the_end_is_an_echo() -> None:
    assert text_of(cut(attempt((" Transfer.", 1.0), (" Transfer.", 2.5)))) == "Transfer."
    assert text_of(cut(attempt((" Transfer.", 1.0), (" Transferred.", 2.5)))) == "Transfer. Transferred."


@pytest.mark.parametrize(
    ("heard", "suspicious"),
    [
        (attempt((" Yes.", 2.0)), False),
        (attempt((" Yes. Yes. Yes.", None), ended=False), True),
        (attempt((" You are no longer muted. You are no longer", None), ended=False), True),
        (attempt((" No no no.", 2.0)), True),
        (attempt((" and how many", None), ended=False), True),
        (attempt((" What day is it?", 2.0), (" What day", None), ended=False), False),
        (attempt(), False),
        (attempt((" ...", 2.0)), False),
    ],
)
def test_a_loop_or_a_text_without_an_end_asks_for_a_second_opinion(heard: Attempt, suspicious: bool) -> None:
    assert is_suspicious(heard) is suspicious


@pytest.mark.parametrize(
    ("heard", "noise"),
    [
        (attempt((" Thank you.", 2.0), no_speech=0.84, logprob=-1.6), True),
        (attempt((" Thank you.", 2.0), no_speech=0.1, logprob=-0.3), False),
        (attempt((" Mm-hmm", 2.0), no_speech=0.68, logprob=-0.66), False),
        (attempt((" thirtieth", 2.0), no_speech=0.3, logprob=-2.2), False),
        (attempt((" Ooh, ooh, o", None), no_speech=0.68, logprob=-0.7, ended=False), True),
        (attempt((" . . .", 2.0), no_speech=0.1, logprob=-0.1), True),
        (attempt(), True),
    ],
)
def test_words_made_of_noise_are_told_from_words_said_unclearly(heard: Attempt, noise: bool) -> None:
    assert is_noise(heard) is noise


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("Yes. Yes. Yes.", "Yes."),
        ("Something is wrong! Something is wrong! Something is", "Something is wrong!"),
        ("Kilo, Kilo, Ki", "Kilo"),
        ("What day is it?", "What day is it?"),
        ("one four one", "one four one"),
        ("1, 4, 2... 9 7 5 3, 8, 6, 3, 8, 6, 3, 8, 6, 8, 6, 8, 6, 8,", "1, 4, 2... 9 7 5 3, 8, 6"),
        ("Stop it. No, no, no.", "Stop it. No"),
        ("It is 1, 2, 1, 2", "It is 1, 2, 1, 2"),
        ("", ""),
        ("...", "..."),
        ("Ja, schön. Ja, schön.", "Ja, schön."),
    ],
)
def test_a_loop_is_said_once_and_other_text_is_left_alone(text: str, once: str) -> None:
    assert unlooped(text) == once


def test_what_is_only_the_prompt_is_an_echo_and_an_address_is_not() -> None:
    assert not is_spelled(attempt((" J, O, E, at, M, A, I, L", None)), SPELLING_PROMPT)
    assert is_spelled(attempt((" J, O, E, dot, K, at, M, A, I, L, dot, C, O, M.", None)), SPELLING_PROMPT)
    assert is_spelled(attempt((" 7.", None)), SPELLING_PROMPT)


def test_what_the_prompt_makes_of_a_noise_is_not_kept() -> None:
    assert not is_spelled(attempt((" I, O, E, O, M", None), no_speech=0.65), SPELLING_PROMPT)
    assert not is_spelled(attempt((" of,", None), logprob=-2.1), SPELLING_PROMPT)
    assert not is_spelled(attempt((" I, I, I, I, I", None), ended=False), SPELLING_PROMPT)
    assert not is_spelled(attempt(), SPELLING_PROMPT)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=8), st.integers(1, 4))
def test_saying_a_text_once_never_loses_a_word_that_is_in_it(words: list[str], times: int) -> None:
    once = unlooped(" ".join(words * times))
    assert set(words_of(once)) == set(words)
    assert words_of(once) == (words * times)[: len(words_of(once))]


@given(
    st.lists(st.tuples(st.text(max_size=8), st.none() | st.floats(0, 30)), max_size=6), st.floats(0, 28), st.booleans()
)
def test_any_attempt_can_be_judged(parts: list[tuple[str, float | None]], seconds: float, ended: bool) -> None:
    heard = attempt(*parts, seconds=seconds, ended=ended)
    assert cut(heard) == heard.parts[: len(cut(heard))]
    assert is_suspicious(heard) or not words_of(text_of(cut(heard))) or has_end(heard)
    is_noise(heard), is_spelled(heard, SPELLING_PROMPT)
