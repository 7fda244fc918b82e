from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.desk import create
from agents.desk.messages import MessagePad, TakenMessage
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.offline.model import OfflineModel
from tests.agents.core.scenes import Diary

NUMBER = "Two, seven, nine, four, one, three, eight, six, two."
READ_BACK = "I have two seven nine, four one three, eight six two. Is that right?"
KEPT = "Thank you. I have kept your message, and somebody will get back to you."


class Caller:
    """Somebody at the desk, by text."""

    def __init__(self, glove: Glove | None = None) -> None:
        self.pad = MessagePad()
        self.glove = glove or create(OfflineModel(), now=lambda: datetime(2026, 3, 3, 9, 41), pad=self.pad)

    async def say(self, *lines: str) -> str:
        """Say some things, one after the other.

        Returns:
            The last reply.
        """
        reply = ""
        for line in lines:
            request = self.glove.begin(line)
            await request.run()
            reply = " ".join(message.text.strip() for message in request.replies if message.text)
        return reply

    def kept(self) -> list[TakenMessage]:
        return list(self.pad.kept)

    def expected(self) -> str | None:
        return self.glove.expectation.kind if self.glove.expectation else None


async def test_the_time_is_the_injected_one() -> None:
    assert await Caller().say("What time is it?") == (
        "It is nine forty-one in the morning, on Tuesday, the third of March."
    )


async def test_sums_are_answered_and_impossible_ones_explained() -> None:
    caller = Caller()
    assert await caller.say("How many ounces are in two pounds?") == "2 pounds are 32 ounces."
    assert await caller.say("What is seven divided by zero?") == "Nothing can be divided by zero."


async def test_two_things_asked_at_once_are_both_answered() -> None:
    both = "Could you tell me what time it is, and how many minutes there are in three and a half hours?"
    answer = await Caller().say(both)
    assert answer == "It is nine forty-one in the morning, on Tuesday, the third of March. 3.5 hours are 210 minutes."


async def test_what_the_desk_can_do_is_a_long_answer_of_plain_sentences() -> None:
    about = await Caller().say("What can you do?")
    sentences = re.split(r"(?<=[.?]) ", about)
    assert 5 <= len(sentences) <= 6
    assert all(re.fullmatch(r"[A-Z][A-Za-z ,]+[.?]", sentence) for sentence in sentences)


async def test_a_message_is_taken_with_a_number_read_back() -> None:
    caller = Caller()
    assert await caller.say("I would like to leave a message.") == "What is the message?"
    assert caller.expected() == "dictation"
    assert await caller.say("I am running late.") == "How can we reach you, by phone or by e-mail?"
    assert caller.expected() == "choice"
    assert await caller.say("Phone, please.") == "What number can we call you back on?"
    assert caller.expected() == "digits"
    assert await caller.say(NUMBER) == READ_BACK
    assert caller.expected() == "yes_no"
    assert caller.kept() == []
    assert await caller.say("Mm-hm.") == KEPT
    assert caller.expected() is None
    assert caller.kept() == [TakenMessage(text="I am running late.", reach="phone", contact="279413862")]


async def test_a_message_is_taken_with_an_address_read_back_letter_by_letter() -> None:
    caller = Caller()
    asked = await caller.say("Can you take a message?", "Please write to me.", "E-mail.")
    assert asked == "Please spell your e-mail address, letter by letter."
    assert caller.expected() == "spelling"
    assert await caller.say("L, A, U, R, A, at, A, C, M, E, dot, C, O, M.") == (
        "I have L, A, U, R, A, at, A, C, M, E, dot, C, O, M. Is that right?"
    )
    assert await caller.say("Yes, that's right.") == KEPT
    assert caller.kept() == [TakenMessage(text="Please write to me.", reach="e-mail", contact="laura@acme.com")]


async def test_a_no_asks_again_and_only_the_last_answer_is_kept() -> None:
    caller = Caller()
    await caller.say("Can you take a message?", "Hello there.", "phone", "two seven nine four one three")
    assert await caller.say("No.") == "Sorry about that. Please say the number once more."
    assert caller.expected() == "digits"
    assert caller.kept() == []
    assert await caller.say(NUMBER, "Yes.") == KEPT
    assert [message.contact for message in caller.kept()] == ["279413862"]


async def test_half_a_number_is_not_taken_for_one() -> None:
    caller = Caller()
    reply = await caller.say("Can you take a message?", "Hello there.", "phone", "two seven nine")
    assert reply == "I have two seven nine, and that cannot be all. Please say the whole number."
    assert caller.expected() == "digits"
    assert await caller.say("9" * 30) == "I have 30 digits, and that cannot be all. Please say the whole number."
    assert await caller.say(NUMBER) == READ_BACK


async def test_another_request_in_between_is_answered_and_the_question_asked_again() -> None:
    caller = Caller()
    await caller.say("Can you take a message?", "Hello there.", "phone", NUMBER)
    reply = await caller.say("What time is it?")
    assert reply.startswith("It is nine forty-one") and reply.endswith(READ_BACK)
    assert caller.expected() == "yes_no"
    assert await caller.say("yes") == KEPT
    assert len(caller.kept()) == 1


async def test_two_things_asked_in_between_are_both_answered_first() -> None:
    caller = Caller()
    await caller.say("Can you take a message?", "Hello there.", "phone", NUMBER)
    both = "I am in a hurry, so could you tell me what time it is and how many minutes there are in three hours?"
    reply = await caller.say(both)
    assert reply.startswith("It is nine forty-one") and reply.endswith(f"3 hours are 180 minutes. {READ_BACK}")


async def test_a_question_inside_a_message_stays_in_it() -> None:
    caller = Caller()
    message = "The meeting was moved, please ask them: what time is it?"
    assert await caller.say("Can you take a message?", message) == "How can we reach you, by phone or by e-mail?"
    await caller.say("phone", NUMBER, "yes")
    assert [kept.text for kept in caller.kept()] == [message]


async def test_a_stop_is_not_taken_for_the_message() -> None:
    caller = Caller()
    assert await caller.say("Can you take a message?", "Stop.") == "All right. What is the message?"


async def test_an_answer_that_is_neither_yes_nor_no_keeps_nothing() -> None:
    caller = Caller()
    reply = await caller.say("Can you take a message?", "Hello there.", "phone", NUMBER, "banana")
    assert reply == f"Sorry, I did not get that. {READ_BACK}"
    assert caller.kept() == []


async def test_a_dropped_message_is_not_kept() -> None:
    caller = Caller()
    await caller.say("Can you take a message?", "Hello there.", "phone", NUMBER, "Never mind.")
    assert caller.expected() is None
    await caller.say("yes")
    assert caller.kept() == []


async def results_of(*inputs: dict[str, Any]) -> tuple[list[Any], MessagePad]:
    """Call the tool as a language model would, one call per turn."""
    pad = MessagePad()
    script = [step for given in inputs for step in ([ScriptedCall(name="take_message", input=given)], "Well.")]
    glove = create(ScriptedModel(script), now=lambda: datetime(2026, 3, 3), pad=pad)
    diary = Diary()
    glove.add_subscriber(diary)
    for _ in inputs:
        await glove.process_request("…")
    results: list[ToolResultData] = [data["result"] for data in diary.of("tool_use_result")]
    assert all(result.status == "success" for result in results), results
    return [result.data for result in results], pad


WHOLE = {"message": "Hello.", "reach": "phone", "number": "+279 413-862"}


async def test_a_model_that_confirms_by_itself_is_made_to_read_back_first() -> None:
    (first, second), pad = await results_of({**WHOLE, "confirmed": True}, {**WHOLE, "confirmed": True})
    assert first["ask"] == READ_BACK and first["so_far"]["number"] == "279413862" and "confirmed" not in first["so_far"]
    assert second["kept"] is True
    assert len(pad.kept) == 1


async def test_a_yes_to_another_number_keeps_nothing() -> None:
    (_, second), pad = await results_of(WHOLE, {**WHOLE, "number": "279413863", "confirmed": True})
    assert second["field"] == "confirmed"
    assert pad.kept == ()


async def test_a_confirmation_that_is_repeated_keeps_the_message_once() -> None:
    (*_, last), pad = await results_of(WHOLE, {**WHOLE, "confirmed": True}, {**WHOLE, "confirmed": True})
    assert last["kept"] is True
    assert len(pad.kept) == 1


@pytest.mark.parametrize("given", [{}, {"message": " "}, {"reach": "phone"}])
async def test_what_is_missing_is_asked_for(given: dict[str, Any]) -> None:
    (asked,), _ = await results_of(given)
    assert asked["field"] == "message"
    assert asked["so_far"] == {key: value for key, value in given.items() if key == "reach" or value == " "}
