from __future__ import annotations

from typing import Any

import pytest

from agents.reading.digits import read_digits
from tests.e2e.stage import Call, Said, Stage
from tests.fixtures.catalogue import fixture
from tests.fixtures.human import day, digits, spelled
from tests.fixtures.wer import normalised


def assert_early(call: Call) -> None:
    """The latest turn was committed as soon as its words were there, at the floor."""
    latency = call.turns[-1].latency_ms
    assert latency.endpoint is not None
    assert latency.stt is not None
    assert latency.endpoint <= max(300, latency.stt) + 50


@pytest.mark.parametrize(("name", "said"), [("yes", "yes"), ("no", "no"), ("mm-hm", "mm hm")])
def test_a_yes_a_no_and_a_hum_answer_an_open_question_at_once(stage: Stage, name: str, said: str) -> None:
    call = stage.call("what-can-you-do", name, agent="quizmaster")
    assert len(call.turns) == 2
    assert "".join(normalised(call.turns[1].caller)).replace("hmm", "hm") == said.replace(" ", "")
    assert call.kinds() == []
    assert_early(call)


def test_a_choice_that_was_offered_is_taken_at_once(stage: Stage) -> None:
    call = stage.call("what-can-you-do", "tuesday", agent="chooser")
    assert [normalised(turn.caller) for turn in call.turns[1:]] == [["tuesday"]]
    assert_early(call)


def test_the_same_words_are_waited_for_when_nothing_was_asked(stage: Stage) -> None:
    latency = stage.call("yes", agent="echo").turns[0].latency_ms
    assert latency.endpoint is not None
    assert latency.endpoint >= 500


def test_a_number_with_pauses_of_1_2_s_is_one_turn_when_digits_are_expected(stage: Stage) -> None:
    assert max(end - start for start, end in fixture("number-in-groups").pauses) >= 1.19
    call = stage.call("what-can-you-do", "number-in-groups", agent="counter")
    assert len(call.turns) == 2
    assert read_digits(call.turns[1].caller) == "14297"


@pytest.mark.usefixtures("people")
def test_a_persons_number_with_pauses_of_1_2_s_is_one_turn_when_digits_are_expected(stage: Stage) -> None:
    caller = digits("14 29 7", group_gap_s=1.2)
    call = stage.call("what-can-you-do", Said(recording=caller), agent="counter")
    assert [read_digits(turn.caller) for turn in call.turns[1:]] == ["14297"]


@pytest.mark.usefixtures("people")
def test_a_persons_nine_digits_in_three_groups_are_one_turn_when_digits_are_expected(stage: Stage) -> None:
    call = stage.call("what-can-you-do", digits("142 975 386", group_gap_s=1.2), agent="counter")
    assert [read_digits(turn.caller) for turn in call.turns[1:]] == ["142975386"]


def values(call: Call) -> dict[str, Any]:
    (form,) = call.report.forms
    found: dict[str, Any] = form["values"]
    return found


@pytest.mark.usefixtures("people")
def test_a_form_s_fields_say_what_is_waited_for_a_number_in_groups_and_a_date_in_pieces(stage: Stage) -> None:
    says = ("leave-a-message", digits("142 975 386", group_gap_s=1.2), day(11, 2, gap_s=1.2))
    call = stage.call(*says, agent="receptionist")
    assert len(call.turns) == len(says), [turn.caller for turn in call.turns]
    assert [turn.agent for turn in call.turns] == [
        "All right. What is your number?",
        "On which day shall we call you?",
        "Done.",
    ]
    found = values(call)
    assert (found["phone"], found["day"][4:]) == ("142975386", "-11-02")


@pytest.mark.usefixtures("people")
def test_a_person_s_loyalty_number_letter_by_letter_is_one_answer_of_the_trip(stage: Stage) -> None:
    call = stage.call(spelled("AB123456"), agent="concierge_who_asks_for_the_loyalty_number")
    (turn,) = call.turns
    assert values(call)["loyalty_number"] == "AB123456"
    assert "Loyalty number: AB123456. Is that right?" in turn.agent


def test_a_long_dictation_is_answered_once_it_is_over(stage: Stage) -> None:
    call = stage.call("dictation", agent="echo")
    whole = normalised(fixture("dictation").words)
    heard = [word for turn in call.turns for word in normalised(turn.caller)]
    assert heard == whole
