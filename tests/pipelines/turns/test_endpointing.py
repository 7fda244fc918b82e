"""How long a caller is waited for depends on their words, on what was asked and on their pace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.responder import OPEN_QUESTION, Expectation, ExpectationKind
from pipelines.turns.endpointing import Endpointing, Hold, Pace

YES_NO = Expectation(kind=ExpectationKind.YES_NO)
CITY = Expectation(kind=ExpectationKind.CHOICE, choices=("Vienna", "Graz"))
NUMBER = Expectation(kind=ExpectationKind.DIGITS)
NINE = Expectation(kind=ExpectationKind.DIGITS, length=9)
SPELLING = Expectation(kind=ExpectationKind.SPELLING)
FLOOR, CEILING = 0.3, 2.8
slow = Pace()
for _ in range(40):
    slow.observe(2.0)


@pytest.mark.parametrize(
    ("text", "seconds", "reason"),
    [
        ("", 0.0, "empty"),
        ("…", 0.0, "empty"),
        ("What time is it?", 0.4, "question"),
        ("Is it?", 0.4, "question"),
        ("Where are you from?", 0.4, "question"),
        ("“Where to?”", 0.4, "question"),
        ("几点了？", 0.4, "question"),
        ("Stop!", 0.4, "question"),
        ("Can you book the?", 1.2, "unfinished"),
        ("I need a flight to Oslo.", 0.6, "statement"),
        ("(I need a flight.)", 0.6, "statement"),
        ("I think so.", 0.6, "statement"),
        ("Please do so.", 0.6, "statement"),
        ("Tell me.", 0.6, "statement"),
        ("I want to go.", 0.6, "statement"),
        ("Turn it on.", 0.6, "statement"),
        ("मुझे टिकट चाहिए।", 0.6, "statement"),
        ("Да.", 0.6, "statement"),
        ("네.", 0.6, "statement"),
        ("I need a flight to.", 1.2, "unfinished"),
        ("I went home and.", 1.2, "unfinished"),
        ("It is because.", 1.2, "unfinished"),
        ("So I was thinking um.", 1.2, "unfinished"),
        ("So.", 1.2, "unfinished"),
        ("I would like.", 1.2, "unfinished"),
        ("This is my.", 1.2, "unfinished"),
        ("Hey,", 1.2, "unfinished"),
        ("I was going...", 1.2, "unfinished"),
        ("I was going…", 1.2, "unfinished"),
        ("So what I'm wondering is", 1.2, "unfinished"),
        ("book a flight", 1.2, "unfinished"),
        ("The hull id is K", 2.0, "dictation"),
        ("The hull id is K.", 2.0, "dictation"),
        ("It is 2 7.", 2.0, "dictation"),
        ("27", 2.0, "dictation"),
        ("Is it 4 K?", 2.0, "dictation"),
        ("A table for 2.", 0.6, "statement"),
        ("What is 12 times 12?", 0.4, "question"),
        ("Is that plan B?", 0.4, "question"),
        ("Book it for 7:30.", 0.6, "statement"),
        ("A-B-C", 2.0, "dictation"),
    ],
)
def test_words_alone_fall_into_tiers(text: str, seconds: float, reason: str) -> None:
    assert Endpointing().hold(text) == Hold(seconds, reason)


@pytest.mark.parametrize(
    ("text", "expectation", "seconds"),
    [
        ("Yes.", YES_NO, FLOOR),
        ("No thanks", YES_NO, FLOOR),
        ("Yes, but", YES_NO, 1.2),
        ("Yes, what does it cost?", YES_NO, 0.4),
        ("Vienna", CITY, FLOOR),
        ("I'd like", CITY, CEILING),
        ("one four", NUMBER, 1.6),
        ("One four two nine.", NUMBER, 1.6),
        ("my number is", NUMBER, CEILING),
        ("one four two nine", NINE, CEILING),
        ("one four two nine five eight six three seven", NINE, FLOOR),
        ("I do not know it.", NINE, 0.6),
        ("L, A, U, R, A", SPELLING, 1.6),
        ("L, A, U, R, A, at, A, C, M, E.", SPELLING, CEILING),
        ("L, A, U, R, A, at, A, C, M, E, dot, C, O.", SPELLING, 1.6),
        ("L, A, U, R, A, at, A, C, M, E, dot, C, O, M.", SPELLING, 0.6),
        ("Yes.", OPEN_QUESTION, 0.6),
    ],
)
def test_what_was_asked_comes_before_how_it_sounds(text: str, expectation: Expectation, seconds: float) -> None:
    assert Endpointing().hold(text, expectation).seconds == seconds


def test_a_number_of_unknown_length_outlasts_its_pauses_and_their_detection() -> None:
    assert Endpointing().hold("one four", NUMBER).seconds >= 1.2 + 0.15


@pytest.mark.parametrize(("probability", "hold"), [(0.95, 0.427), (0.5, 1.249), (0.05, 2.622), (1.0, 0.4), (0.0, 2.8)])
def test_a_finish_score_bends_into_a_hold(probability: float, hold: float) -> None:
    assert Endpointing(floor=0.4).shaped(probability) == pytest.approx(hold, abs=0.001)


def test_a_score_replaces_the_tiers_but_not_a_spelling_in_progress() -> None:
    endpointing = Endpointing()
    assert endpointing.hold("Yeah, my ship", probability=0.89).seconds == pytest.approx(endpointing.shaped(0.89))
    assert endpointing.hold("So what I'm wondering is", probability=0.01).seconds > 2.7
    assert endpointing.hold("The hull id is K", probability=0.99).seconds == 2.0
    assert endpointing.hold("The hull id is K", probability=0.0003).seconds > 2.7


def test_a_question_mark_is_believed_at_once_when_the_score_does_not_speak_against_it() -> None:
    endpointing = Endpointing()
    assert endpointing.hold("What time is it?", probability=0.2).seconds == FLOOR
    assert endpointing.hold("What time is it?", probability=0.002).seconds > 2.5


def test_a_score_that_is_no_number_leaves_it_to_the_words() -> None:
    assert Endpointing().hold("Tell me.", probability=float("nan")) == Hold(0.6, "statement")


def test_a_complete_answer_needs_no_score() -> None:
    assert Endpointing().hold("Yes.", YES_NO, probability=0.0).seconds == FLOOR


def test_a_new_callers_pace_scales_nothing() -> None:
    assert Pace().scale == 1.0


def test_pace_follows_the_callers_pauses_within_bounds() -> None:
    pace = Pace()
    pace.observe(1.7)
    assert pace.scale == pytest.approx((0.7 * 0.7 + 0.3 * 1.7) / 0.7)
    for _ in range(40):
        pace.observe(5.0)
    assert pace.scale == 3.0
    for _ in range(40):
        pace.observe(0.1)
    assert pace.scale == 1.0


@pytest.mark.parametrize("gap", [-0.1, 5.1])
def test_silences_between_turns_say_nothing_about_pace(gap: float) -> None:
    pace = Pace()
    pace.observe(gap)
    assert pace.scale == 1.0


@pytest.mark.parametrize(
    ("text", "expectation", "seconds"),
    [
        ("What time is it?", OPEN_QUESTION, 0.4),
        ("Yes.", YES_NO, FLOOR),
        ("I need a flight to Oslo.", OPEN_QUESTION, 0.6 * 2.0 / 0.7),
        ("one four", NUMBER, CEILING),
    ],
)
def test_a_slow_caller_gets_longer_holds_but_not_for_what_is_complete(
    text: str, expectation: Expectation, seconds: float
) -> None:
    assert Endpointing().hold(text, expectation, slow).seconds == pytest.approx(seconds, abs=0.01)


def test_a_floor_above_the_ceiling_is_refused() -> None:
    with pytest.raises(ValueError, match=r"got floor 3\.0, ceiling 2\.8"):
        Endpointing(floor=3.0)


@given(
    st.text(),
    st.sampled_from([YES_NO, CITY, NUMBER, NINE, SPELLING, OPEN_QUESTION]),
    st.sampled_from([None, slow]),
    st.none() | st.floats(),
)
def test_a_hold_is_never_longer_than_the_ceiling(
    text: str, expectation: Expectation, pace: Pace | None, probability: float | None
) -> None:
    hold = Endpointing().hold(text, expectation, pace, probability=probability)
    assert hold.reason == "empty" or FLOOR <= hold.seconds <= CEILING
