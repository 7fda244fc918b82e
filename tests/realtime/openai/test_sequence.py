"""One answer at a time, none lost and none twice: what is sent when, on a time that stands still."""

from __future__ import annotations

import pytest

from pipelines.realtime.base import Snapshot, ToolAnswer
from pipelines.realtime.events import Interrupted, ProviderTrouble, ReplyBegan, ReplyEnded, ReplyOutcome, ToolCalled
from pipelines.realtime.openai.options import OpenAIOptions, ServerVad
from pipelines.realtime.openai.sequencer import OWN_ANSWER_S, PATIENCE_S
from tests.realtime.openai.desk import CALL, OURS, Desk

ACTIVE = "conversation_already_has_active_response"


def test_a_trigger_goes_out_at_once_when_nobody_speaks() -> None:
    desk = Desk()
    desk.inject()
    message, trigger = desk.sent()
    assert message["type"] == "conversation.item.create"
    assert trigger["response"]["metadata"] == {"trigger": trigger["event_id"]}


def test_triggers_wait_behind_the_answer_being_made_and_become_one() -> None:
    desk = Desk()
    desk.begin()
    desk.inject("One.")
    desk.inject("Two.")
    assert desk.kinds() == ["conversation.item.create"] * 2
    desk.end()
    assert desk.kinds() == ["response.create"]
    assert desk.kinds() == []


def test_a_trigger_waits_behind_one_that_is_on_its_way() -> None:
    desk = Desk()
    desk.inject("One.")
    first = desk.trigger()
    desk.inject("Two.")
    assert desk.kinds() == ["conversation.item.create"]
    desk.begin("resp-1", first)
    assert desk.kinds() == [], "the answer that was begun has not seen the second"
    desk.end("resp-1")
    assert desk.kinds() == ["response.create"]


@pytest.mark.parametrize("named", [True, False], ids=["names the message", "names none"])
def test_a_trigger_that_met_another_answer_is_sent_again_behind_it(named: bool) -> None:
    desk = Desk()
    desk.inject()
    trigger = desk.trigger()
    desk.begin("resp-9")
    desk.refuse(trigger if named else None, ACTIVE)
    assert desk.kinds() == []
    desk.end("resp-9")
    assert desk.kinds() == ["response.create"]
    assert not [event for event in desk.events() if isinstance(event, ProviderTrouble)]


def test_a_trigger_refused_for_an_answer_we_know_nothing_of_is_sent_again_a_little_later() -> None:
    desk = Desk()
    desk.inject()
    desk.refuse(desk.trigger(), ACTIVE)
    assert desk.kinds() == []
    desk.wait(1)
    assert desk.kinds() == ["response.create"]


def test_a_trigger_refused_for_another_reason_is_not_sent_again() -> None:
    desk = Desk()
    desk.inject()
    desk.refuse(desk.trigger(), "invalid_value", "Metadata are wrong.")
    desk.wait(PATIENCE_S * 2)
    assert desk.kinds() == []
    assert ProviderTrouble(code="invalid_value", message="Metadata are wrong.") in desk.events()


def test_what_the_provider_s_own_answer_has_seen_needs_no_other() -> None:
    desk = Desk()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.inject()
    (message,) = desk.sent()
    desk.say("conversation.item.added", item={"id": message["item"]["id"]})
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.begin("resp-1")
    desk.end("resp-1")
    desk.wait(PATIENCE_S)
    assert desk.kinds() == []


def test_what_the_provider_s_own_answer_has_not_seen_gets_another() -> None:
    desk = Desk()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.inject()
    desk.begin("resp-1")
    desk.end("resp-1")
    assert desk.kinds() == ["conversation.item.create", "response.create"]


def test_nothing_is_asked_for_while_the_caller_speaks_and_it_is_when_the_provider_does_not_answer() -> None:
    desk = Desk()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.inject()
    assert desk.kinds() == ["conversation.item.create"]
    desk.wait(30)
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.wait(OWN_ANSWER_S / 2)
    assert desk.kinds() == []
    desk.wait(OWN_ANSWER_S)
    assert desk.kinds() == ["response.create"]


def test_where_the_provider_answers_nothing_by_itself_the_trigger_follows_the_turn() -> None:
    desk = Desk(options=OpenAIOptions(turn_detection=ServerVad(create_response=False)))
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.inject()
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    assert desk.kinds() == ["conversation.item.create", "response.create"]


def test_a_turn_over_an_answer_that_goes_on_is_answered_behind_it() -> None:
    desk = Desk(options=OpenAIOptions(turn_detection=ServerVad(interrupt_response=False)))
    desk.begin("resp-1")
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.say("input_audio_buffer.committed", item_id="u1")
    desk.wait(OWN_ANSWER_S)
    assert desk.kinds() == []
    desk.end("resp-1")
    assert desk.kinds() == ["response.create"]


def test_an_answer_that_begins_while_the_caller_speaks_is_cancelled_unheard_and_asked_for_again() -> None:
    desk = Desk()
    desk.inject()
    trigger = desk.trigger()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.begin("resp-1", trigger)
    (cancel,) = desk.sent()
    assert (cancel["type"], cancel["response_id"]) == ("response.cancel", "resp-1")
    desk.speak("resp-1")
    desk.end("resp-1", "cancelled")
    assert not [event for event in desk.events() if isinstance(event, ReplyBegan | ReplyEnded)]
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.wait(OWN_ANSWER_S)
    assert desk.kinds() == ["response.create"]


def test_interrupting_before_the_answer_began_cancels_it_when_it_does() -> None:
    desk = Desk()
    desk.inject()
    trigger = desk.trigger()
    desk.protocol.interrupt(desk.now)
    assert desk.kinds() == [], "a cancel now would hit nothing"
    assert desk.events() == [Interrupted(reply=None)]
    desk.begin("resp-1", trigger)
    assert desk.kinds() == ["response.cancel"]
    desk.end("resp-1", "cancelled")
    desk.wait(PATIENCE_S * 2)
    assert (desk.kinds(), desk.events()) == ([], [])


def test_results_wait_behind_a_cancelled_answer_and_are_still_answered() -> None:
    desk = Desk()
    desk.begin()
    desk.intents.answer(
        [ToolAnswer(call_id="call-1", name="x", output="{}")], Snapshot(version=1, text="A."), respond=True
    )
    desk.protocol.interrupt(desk.now)
    desk.intents.ask_if_due(desk.now)
    assert desk.kinds() == ["conversation.item.create"] * 2 + ["response.cancel"]
    desk.end(status="cancelled")
    assert desk.kinds() == ["response.create"]


def test_two_interruptions_cancel_once() -> None:
    desk = Desk()
    desk.begin()
    desk.protocol.interrupt(desk.now)
    desk.protocol.interrupt(desk.now)
    assert desk.kinds() == ["response.cancel"]
    assert desk.events()[1:] == [Interrupted(reply="resp-1"), Interrupted(reply=None)]


def test_a_void_answer_that_completes_in_the_meantime_is_cancelled_all_the_same() -> None:
    desk = Desk()
    desk.begin()
    desk.say("response.output_item.done", response_id="resp-1", item={**CALL, "arguments": "{}"})
    desk.protocol.interrupt(desk.now)
    desk.sent()
    desk.end("resp-1", "completed")
    desk.refuse("cancel-1", "response_cancel_not_active", "Cancellation failed: no active response found")
    *_, ended = told = desk.events()
    assert isinstance(ended, ReplyEnded) and ended.outcome is ReplyOutcome.CANCELLED
    assert not [event for event in told if isinstance(event, ToolCalled | ProviderTrouble)]
    assert [(frame["type"], frame["item_id"]) for frame in desk.sent()] == [("conversation.item.delete", "item-c")]


def test_a_trigger_that_is_never_answered_for_is_sent_again() -> None:
    desk = Desk()
    desk.inject()
    desk.sent()
    desk.wait(PATIENCE_S - 1)
    assert desk.kinds() == []
    desk.wait(1)
    assert desk.kinds() == ["response.create"]


def test_a_void_answer_whose_end_never_comes_is_given_up() -> None:
    desk = Desk()
    desk.begin()
    desk.protocol.interrupt(desk.now)
    desk.inject()
    desk.events()
    desk.wait(PATIENCE_S)
    (ended,) = desk.events()
    assert isinstance(ended, ReplyEnded) and ended.outcome is ReplyOutcome.CANCELLED
    assert desk.kinds()[-1] == "response.create"


def test_a_turn_of_ours_is_answered_behind_the_answer_it_interrupts() -> None:
    desk = Desk(OURS)
    desk.begin()
    desk.intents.begin_speech()
    desk.protocol.interrupt(desk.now)
    desk.intents.end_speech(desk.now, respond=True)
    desk.intents.ask_if_due(desk.now)
    assert desk.kinds() == ["input_audio_buffer.clear", "response.cancel"], "nothing was heard, so it is no turn"
    desk.end(status="cancelled")
    assert desk.kinds() == []


def test_a_second_answer_ends_the_first() -> None:
    desk = Desk()
    desk.begin("resp-1")
    desk.begin("resp-2")
    began, ended, again = desk.events()
    assert isinstance(began, ReplyBegan) and isinstance(again, ReplyBegan)
    assert isinstance(ended, ReplyEnded) and (ended.reply, ended.outcome) == ("resp-1", ReplyOutcome.FAILED)
