from __future__ import annotations

import re

import pytest

from agents.desk.messages import MessagePad
from tests.e2e import agents
from tests.e2e.stage import Said, Stage, heard_by
from tests.fixtures.human import HumanCaller, digits, spelled
from tests.fixtures.wer import normalised

pytestmark = pytest.mark.usefixtures("people")


@pytest.mark.parametrize(
    ("number", "phone", "choice"),
    [("279413658", False, "phone"), ("914857203", True, "by-phone")],
    ids=["wideband", "phone band"],
)
def test_a_message_with_a_persons_number_is_read_back_without_a_fault_and_kept_once(
    stage: Stage, number: str, phone: bool, choice: str
) -> None:
    agents.pad = MessagePad()
    says = ("leave-a-message", "near-speech", choice, Said(recording=digits(number, phone=phone)), "yes")
    call = stage.call(*says, agent="desk_with_a_pad")
    told = [turn.caller for turn in call.turns]
    assert len(call.turns) == 5, told
    bare = number.replace(" ", "")
    assert [(kept.reach, kept.contact) for kept in agents.pad.kept] == [("phone", bare)]
    read_back = call.turns[3].agent
    assert "".join(word for word in normalised(read_back) if word in NAMES) == "".join(NAMES[int(d)] for d in bare)
    assert call.turns[3].heard == read_back
    assert all(tool.status == "success" for turn in call.turns for tool in turn.tools)


NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def test_a_persons_spelled_address_is_taken_letter_by_letter_and_read_back(stage: Stage) -> None:
    agents.pad = MessagePad()
    address: HumanCaller = spelled("laura@acme.com")
    says = ("leave-a-message", "tuesday", EMAIL, Said(recording=address), "yes")
    call = stage.call(*says, agent="desk_with_a_pad")
    letters = re.findall(r"\w+", call.turns[3].caller)
    assert letters == [*"LAURA", "at", *"ACME", "dot", *"COM"]
    assert normalised(call.turns[3].agent)[-3:] == normalised("is that right")
    assert [(kept.reach, kept.contact) for kept in agents.pad.kept] == [("e-mail", "laura@acme.com")]


EMAIL = "by-e-mail"


def test_a_no_to_the_read_back_asks_again_and_keeps_nothing(stage: Stage) -> None:
    agents.pad = MessagePad()
    number = Said(recording=digits("279413658"))
    call = stage.call("leave-a-message", "tuesday", "by-phone", number, "no", agent="desk_with_a_pad")
    assert agents.pad.kept == ()
    assert "once more" in call.turns[4].agent
    assert normalised(heard_by(call.between(call.report.utterances[4].start_s)))[-2:] == ["once", "more"]
