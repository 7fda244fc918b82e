"""What Gemini says as events, and what is wanted as messages: tables, on a time that stands still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from pipelines.realtime.base import PastTurn, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import (
    CallerWords,
    CallsWithdrawn,
    Interrupted,
    ReplyEnded,
    SessionEnded,
    SessionExpiring,
    SessionOpened,
    TokensTold,
    TokensUsed,
    ToolCalled,
)
from pipelines.realtime.gemini.families import family_of
from pipelines.realtime.gemini.floor import ASKED_S, CALLER_S, PLAYED_S, VOID_S
from pipelines.realtime.gemini.intents import KEPT_BACK_S, REMIND_S
from pipelines.realtime.gemini.options import GeminiOptions
from pipelines.realtime.gemini.protocol import GeminiProtocol
from pipelines.realtime.gemini.wire import Activity, Results, Text, Turns, Voice
from pipelines.realtime.wording import snapshot_text, system_text
from tests.realtime.gemini.desk import OURS, PLAIN, Desk, voice
from tests.realtime.gemini_service.session import sound

PHONE = "gemini-3.1-flash-live-preview"


def user(*texts: str, complete: bool = False) -> Turns:
    return Turns(turns=tuple(("user", text) for text in texts), complete=complete)


def test_a_turn_is_told_in_order_and_ends_once() -> None:
    desk = Desk()
    desk.heard("I need")
    desk.heard(" a trip.")
    desk.speak()
    desk.end()
    desk.content(turnComplete=True)
    assert desk.kinds() == [
        "CallerWords caller-1", "CallerWords caller-1", "ReplyBegan reply-1", "ReplyAudio reply-1",
        "ReplyWords reply-1", "CallerWords caller-1!", "ReplyEnded reply-1 COMPLETED",
    ]  # fmt: skip


def test_the_caller_has_a_place_before_the_answer_though_nothing_is_written_yet() -> None:
    desk = Desk()
    desk.speak()
    desk.heard(" I need a trip.")
    desk.end()
    words = [event for event in desk.events() if isinstance(event, CallerWords)]
    assert [(each.text, each.final) for each in words] == [
        ("", False),
        ("I need a trip.", False),
        ("I need a trip.", True),
    ]


def test_an_answer_that_was_asked_for_answers_no_caller() -> None:
    desk = Desk()
    desk.inject()
    desk.speak()
    desk.end()
    assert not any(kind.startswith("CallerWords") for kind in desk.kinds())


def test_words_said_to_be_finished_are_final_at_once() -> None:
    desk = Desk()
    desk.heard("Yes.", finished=True)
    desk.heard("And no.", finished=True)
    assert desk.kinds() == ["CallerWords caller-1!", "CallerWords caller-2!"]


def test_the_caller_who_is_not_answered_is_written_down_all_the_same() -> None:
    desk = Desk()
    desk.heard("Hm.")
    desk.wait(CALLER_S)
    assert desk.kinds() == ["CallerWords caller-1", "CallerWords caller-1!"]


def test_an_interruption_voids_the_answer_and_what_follows_is_another() -> None:
    desk = Desk()
    desk.speak()
    desk.events()
    desk.content(interrupted=True)
    desk.heard("Stop.")
    desk.content(turnComplete=True)
    desk.speak()
    kinds = desk.kinds()
    assert kinds[:3] == ["Interrupted reply-1", "CallerWords caller-1!", "ReplyEnded reply-1 CANCELLED"]
    assert kinds[3:5] == ["CallerWords caller-2", "ReplyBegan reply-2"]


def test_an_interruption_of_what_is_playing_only_is_told_too() -> None:
    desk = Desk()
    desk.speak()
    desk.content(generationComplete=True)
    desk.events()
    desk.content(interrupted=True)
    assert desk.events() == [Interrupted(reply=None)]


def test_our_interruption_is_told_once_and_what_comes_of_the_answer_is_dropped() -> None:
    desk = Desk()
    desk.inject()
    desk.speak()
    desk.events(), desk.sent()
    desk.protocol.interrupt(desk.now)
    assert desk.sent() == [Turns()]
    desk.speak("Late.")
    desk.call("late-1")
    desk.content(interrupted=True)
    desk.content(turnComplete=True)
    assert desk.kinds() == ["Interrupted reply-1", "ReplyEnded reply-1 CANCELLED"]
    desk.speak()
    assert desk.kinds()[0] != "ReplyAudio reply-1"


def test_what_was_void_is_not_void_for_ever() -> None:
    desk = Desk()
    desk.inject()
    desk.protocol.interrupt(desk.now)
    desk.wait(VOID_S)
    desk.speak()
    assert "ReplyBegan reply-1" in desk.kinds()


def test_the_caller_s_next_words_end_what_is_void() -> None:
    desk = Desk()
    desk.speak()
    desk.protocol.interrupt(desk.now)
    desk.heard("And now?")
    desk.speak()
    assert "ReplyBegan reply-2" in desk.kinds()


def test_a_call_ends_its_reply_and_is_told_once() -> None:
    desk = Desk()
    desk.speak("One moment.")
    desk.events()
    desk.call("c-1", "c-2", "c-1")
    desk.call("c-2")
    told = desk.events()
    assert [event.call_id for event in told if isinstance(event, ToolCalled)] == ["c-1", "c-2"]
    assert isinstance(told[-1], ReplyEnded) and told[-1].reply == "reply-1"


def test_what_a_tool_is_called_for_is_final_before_it_is_called() -> None:
    desk = Desk()
    desk.heard("Book it.")
    desk.call("c-1")
    desk.heard(" Late.")
    kinds = desk.kinds()
    assert kinds.index("CallerWords caller-1!") < kinds.index("ToolCalled reply-1")
    assert not [kind for kind in kinds if "caller-2" in kind]


def test_a_tool_that_is_called_before_a_word_is_written_does_not_lose_the_words() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.heard("Book")
    desk.answer("c-1")
    desk.heard(" it.")
    desk.speak()
    desk.end()
    words = [event for event in desk.events() if isinstance(event, CallerWords)]
    assert [(each.item, each.text) for each in words if each.final] == [("caller-1", "Book it.")]


def test_results_carry_the_name_and_with_the_last_the_context() -> None:
    desk = Desk()
    desk.call("c-1", "c-2")
    desk.answer("c-1", "c-2", version=2)
    (sent,) = desk.sent()
    assert isinstance(sent, Results)
    assert [(call_id, name) for call_id, name, _ in sent.results] == [("c-1", "book"), ("c-2", "book")]
    assert sent.results[0][2] == {"status": "success"}
    assert sent.results[1][2] == {"status": "success", "context": snapshot_text(Snapshot(version=2, text="2."))}


def test_the_highest_version_holds_whatever_comes_in_which_order() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.refresh(5)
    desk.answer("c-1", version=4)
    (sent,) = desk.sent()
    assert isinstance(sent, Results) and sent.results[0][2]["context"] == snapshot_text(Snapshot(version=5, text="5."))
    desk.speak()
    desk.end()
    desk.refresh(3)
    assert desk.sent() == []


def test_a_result_that_is_not_what_ours_are_is_wrapped() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.intents.answer(
        [ToolAnswer(call_id="c-1", name="x", output='{"output": 1}')], Snapshot(version=1, text="One."), desk.now
    )
    (sent,) = desk.sent()
    assert isinstance(sent, Results) and sent.results[0][2]["result"] == {"output": 1}


def test_withdrawn_calls_are_told_and_their_results_are_not_sent() -> None:
    desk = Desk()
    desk.call("c-1", "c-2")
    desk.events()
    desk.say(toolCallCancellation={"ids": ["c-1", "unknown"]})
    assert desk.events() == [CallsWithdrawn(call_ids=("c-1",))]
    desk.answer("c-1", "c-2")
    (sent,) = desk.sent()
    assert isinstance(sent, Results) and [each[0] for each in sent.results] == ["c-2"]


def test_the_context_of_results_that_nobody_wants_is_put_in_when_it_is_quiet() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.say(toolCallCancellation={"ids": ["c-1"]})
    desk.answer("c-1", version=2)
    assert desk.sent() == []
    desk.wait(CALLER_S)
    assert desk.sent() == [user(snapshot_text(Snapshot(version=2, text="2.")))]


def test_the_context_of_a_result_that_crosses_its_withdrawal_is_told_again() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.answer("c-1", version=2)
    desk.sent()
    desk.content(interrupted=True)
    desk.say(toolCallCancellation={"ids": ["c-1"]})
    desk.content(turnComplete=True)
    desk.refresh(3, "2.")
    desk.wait(CALLER_S)
    assert desk.sent() == [user(snapshot_text(Snapshot(version=3, text="2.")))]


def test_nothing_is_put_in_while_somebody_is_at_it() -> None:
    busy: dict[str, Callable[[Desk], object]] = {
        "caller": lambda desk: desk.heard("I"),
        "asked": lambda desk: desk.inject(),
        "answering": lambda desk: desk.speak(),
        "playing": lambda desk: desk.content(**sound(voice(0.1, 24_000)), generationComplete=True),
        "calling": lambda desk: desk.call("c-1"),
    }
    for name, get_busy in busy.items():
        desk = Desk()
        get_busy(desk)
        desk.sent()
        desk.refresh(2)
        desk.inject(respond=False)
        assert desk.sent() == [], name
        if name == "calling":
            desk.answer("c-1")
        desk.speak()
        desk.end()
        assert any(isinstance(message, Turns) for message in desk.sent()), name


def test_what_waited_is_put_in_at_once_and_answered_once() -> None:
    desk = Desk()
    desk.speak()
    desk.refresh(2)
    desk.inject("It rains.", respond=False)
    desk.inject("Tell them.")
    desk.inject("Quickly.")
    desk.end()
    context = snapshot_text(Snapshot(version=2, text="2."))
    assert desk.sent() == [user(context, "It rains.", "Tell them.", "Quickly.", complete=True)]


def test_what_never_ends_is_given_up() -> None:
    for busy, seconds in (("asked", ASKED_S), ("playing", 1.0 + PLAYED_S)):
        desk = Desk()
        if busy == "asked":
            desk.inject()
        else:
            desk.speak(seconds=1.0)
            desk.content(generationComplete=True)
        desk.sent()
        desk.refresh(2)
        desk.wait(seconds - 0.1)
        assert desk.sent() == [], busy
        desk.wait(0.2)
        assert desk.sent(), busy


def test_a_model_that_waits_for_the_end_of_silent_content_is_reminded_of_the_caller() -> None:
    desk = Desk()
    desk.refresh(2)
    desk.heard("Hello?")
    desk.sent()
    desk.wait(REMIND_S - 0.1)
    assert desk.sent() == []
    desk.wait(0.2)
    assert desk.sent() == [Turns(complete=True)]
    desk.wait(REMIND_S)
    assert desk.sent() == [], "once: there is nothing more to complete"
    desk.speak()
    desk.end()
    desk.heard("Hello again.")
    desk.wait(REMIND_S)
    assert desk.sent() == [], "nothing is open"


def test_a_context_that_says_the_same_is_not_told_again() -> None:
    desk = Desk()
    desk.refresh(2, "One.")
    assert desk.sent() == []


def test_the_system_s_words_are_marked() -> None:
    desk = Desk()
    desk.intents.inject("The report is there.", "system", respond=True)
    desk.intents.put_in(desk.now)
    assert desk.sent() == [user(system_text("The report is there."), complete=True)]


def test_the_past_is_told_where_it_is_not_known() -> None:
    past = (PastTurn(role="caller", text="Hi."), PastTurn(role="agent", text="Hello."))
    setup = SessionSetup(instructions="", past=past)
    turns: tuple[tuple[Literal["user", "model"], str], ...] = (("user", "Hi."), ("model", "Hello."))
    assert Desk(setup).sent() == [Turns(turns=turns, complete=False)]
    assert Desk(setup, resumed=True).sent() == []
    assert Desk(setup, model=PHONE).sent() == [Turns(turns=turns, complete=True)]


def test_a_model_that_takes_no_content_gets_text_and_what_is_silent_with_it() -> None:
    desk = Desk(model=PHONE)
    desk.refresh(2)
    desk.inject("It rains.", respond=False)
    assert desk.sent() == []
    desk.inject("Hello?")
    context = snapshot_text(Snapshot(version=2, text="2."))
    assert desk.sent() == [Text(text=f"{context}\n\nIt rains.\n\nHello?")]
    desk.speak()
    desk.protocol.interrupt(desk.now)
    assert desk.sent() == []


def test_a_model_that_takes_no_content_is_reminded_of_its_results_once() -> None:
    desk = Desk(model=PHONE)
    desk.call("c-1")
    desk.answer("c-1")
    desk.sent()
    desk.wait(REMIND_S)
    assert desk.sent() == [Text(text=" ")]
    desk.wait(REMIND_S)
    assert desk.sent() == []


def test_a_turn_that_is_complete_with_its_calls_is_not_the_one_that_their_results_ask_for() -> None:
    desk = Desk()
    desk.call("c-1")
    desk.answer("c-1")
    desk.content(turnComplete=True)
    desk.sent(), desk.events()
    desk.refresh(3)
    assert desk.sent() == [], "the answer is still to come"
    desk.speak()
    assert not [kind for kind in desk.kinds() if kind.startswith("CallerWords")], "nobody has spoken"


def test_a_model_that_speaks_while_its_tools_run_is_not_cut_off_by_their_results() -> None:
    desk = Desk(model="gemini-3.8-live-extended-thinking")
    desk.call("c-1")
    desk.speak("One moment.")
    desk.answer("c-1")
    desk.sent()
    desk.refresh(3)
    desk.end()
    assert desk.sent() == [], "the answer to the results is still to come"
    desk.speak("It is booked.")
    desk.end()
    assert desk.sent() == [user(snapshot_text(Snapshot(version=3, text="3.")))]
    began = [kind for kind in desk.kinds() if kind.startswith("ReplyBegan")]
    assert began == ["ReplyBegan reply-1", "ReplyBegan reply-2", "ReplyBegan reply-3"]


def test_our_turn_is_sent_when_it_is_one() -> None:
    desk = Desk(OURS)
    desk.intents.begin_speech()
    desk.intents.hear(voice(0.1))
    assert desk.sent() == []
    desk.protocol.end_speech(desk.now, respond=True)
    begins, heard, ends = desk.sent()
    assert (begins, ends) == (Activity.BEGINS, Activity.ENDS)
    assert isinstance(heard, Voice) and np.array_equal(heard.samples, voice(0.1))
    assert desk.kinds() == ["CallerWords caller-1"]


def test_a_cough_is_never_heard_and_interrupts_nobody() -> None:
    desk = Desk(OURS)
    desk.speak()
    desk.intents.begin_speech()
    desk.intents.hear(voice(0.5))
    desk.protocol.end_speech(desk.now, respond=False)
    desk.intents.hear(voice(0.5))
    assert not [message for message in desk.sent() if not isinstance(message, Voice)]


def test_our_interruption_is_that_the_caller_begins() -> None:
    desk = Desk(OURS)
    desk.inject()
    desk.speak()
    desk.sent()
    desk.intents.begin_speech()
    desk.intents.hear(voice(0.3))
    desk.protocol.interrupt(desk.now)
    begins, heard = desk.sent()
    assert begins is Activity.BEGINS and isinstance(heard, Voice)
    desk.content(interrupted=True)
    desk.content(turnComplete=True)
    desk.protocol.end_speech(desk.now, respond=True)
    desk.refresh(9)
    assert desk.sent() == [Activity.ENDS], "the answer that was asked for is not cut off"
    desk.speak()
    assert "ReplyBegan reply-2" in desk.kinds()


def test_a_turn_that_ends_before_the_interruption_is_acknowledged_is_answered() -> None:
    desk = Desk(OURS)
    desk.inject()
    desk.speak()
    desk.intents.begin_speech()
    desk.intents.hear(voice(0.3))
    desk.protocol.interrupt(desk.now)
    desk.protocol.end_speech(desk.now, respond=True)
    desk.speak("Late.")
    desk.content(interrupted=True)
    desk.content(turnComplete=True)
    desk.events(), desk.sent()
    desk.refresh(9)
    assert desk.sent() == []
    desk.speak()
    assert desk.kinds()[0] == "ReplyBegan reply-2"


def test_a_long_turn_is_sent_before_it_ends() -> None:
    desk = Desk(OURS)
    desk.intents.begin_speech()
    for _ in range(round(KEPT_BACK_S * 10) + 1):
        desk.intents.hear(voice(0.1))
    sent = desk.sent()
    assert sent[0] is Activity.BEGINS
    assert sum(len(each.samples) for each in sent if isinstance(each, Voice)) == round((KEPT_BACK_S + 0.1) * 16_000)
    desk.protocol.end_speech(desk.now, respond=False)
    assert desk.sent() == [Activity.ENDS, Turns()], "what was heard cannot be forgotten, but is not answered"


def test_whoever_mutes_in_mid_word_is_answered_where_the_provider_listens() -> None:
    desk = Desk()
    desk.protocol.end_speech(desk.now, respond=True)
    assert desk.sent() == [], "there was no voice that could end"
    desk.intents.hear(voice(0.1))
    desk.protocol.end_speech(desk.now, respond=True)
    desk.protocol.end_speech(desk.now, respond=True)
    assert [message for message in desk.sent() if not isinstance(message, Voice)] == [Activity.PAUSES]


def test_tokens_are_told_with_the_answer_they_were_for() -> None:
    usage = {
        "promptTokenCount": 10,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 7}, {"modality": "TEXT", "tokenCount": 3}],
        "responseTokenCount": 4,
        "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 4}],
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 5,
    }
    used = TokensUsed(audio_in=7, text_in=3, audio_out=4, text_out=2, cached_in=5)
    desk = Desk()
    desk.speak()
    desk.say(serverContent={"generationComplete": True}, usageMetadata=usage)
    ended = desk.events()[-1]
    assert isinstance(ended, ReplyEnded) and ended.used == used
    desk.say(serverContent={"turnComplete": True}, usageMetadata=usage)
    assert desk.events() == [TokensTold(reply="reply-1", used=used)]


def test_a_turn_cut_by_the_provider_says_why() -> None:
    desk = Desk()
    desk.speak()
    desk.content(turnComplete=True, turnCompleteReason="GENERATED_CONTENT_SAFETY")
    ended = desk.events()[-1]
    assert isinstance(ended, ReplyEnded)
    assert (ended.outcome.name, ended.reason) == ("INCOMPLETE", "GENERATED_CONTENT_SAFETY")


def test_a_handle_is_there_only_while_it_resumes_all() -> None:
    desk = Desk()
    desk.say(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    assert desk.protocol.handle == "h-1"
    desk.say(sessionResumptionUpdate={"resumable": False})
    assert desk.protocol.handle is None


def test_the_end_of_the_connection_is_announced() -> None:
    desk = Desk()
    for left, seconds in (("9.5s", 9.5), ("60s", 60.0), ("soon", 0.0), (None, 0.0)):
        desk.say(goAway={"timeLeft": left})
        assert desk.events() == [SessionExpiring(in_s=seconds)]


def test_other_tools_want_another_connection_and_the_same_do_not() -> None:
    desk = Desk()
    desk.protocol.update(PLAIN)
    assert desk.events() == []
    desk.protocol.update(SessionSetup(instructions="Be long."))
    assert [type(event) for event in desk.events()] == [SessionExpiring]


def test_the_end_ends_what_was_open_and_is_told_once() -> None:
    desk = Desk()
    desk.heard("I need")
    desk.speak()
    desk.events()
    desk.protocol.close(1011, "Internal error encountered.", expected=False)
    desk.protocol.close(1006, "", expected=False)
    desk.speak()
    assert desk.kinds() == ["CallerWords caller-1!", "ReplyEnded reply-1 FAILED", "SessionEnded"]


def test_a_session_is_told_to_be_open_first() -> None:
    fresh = GeminiProtocol(PLAIN, GeminiOptions(), family_of("x"), resumed=True)
    assert fresh.take_event() == SessionOpened(resumed=True)


def test_whether_another_connection_may_fare_better() -> None:
    for code, reason, retry in (
        (1011, "Internal error encountered.", True),
        (1008, "You do not have access to this model.", False),
        (1008, "Connection aborted because the client failed to close the connection after a GoAway", True),
        (1008, "The operation was aborted", True),
        (1008, "Requested entity was not found.", True),
        (1007, "Request contains an invalid argument.", True),
        (1007, "API key expired. Please renew the API key.", False),
        (None, "", True),
    ):
        desk = Desk()
        desk.protocol.close(code, reason, expected=False)
        (ended,) = desk.events()
        assert isinstance(ended, SessionEnded) and ended.retry is retry, reason
        assert reason in ended.reason
