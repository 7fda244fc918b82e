"""What the provider says becomes events, what is wanted becomes messages: tables, without a socket."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.realtime.base import AdvertisedTool, PastTurn, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import (
    CallerBegan,
    CallerStopped,
    CallerWords,
    Interrupted,
    ProviderTrouble,
    ReplyAudio,
    ReplyEnded,
    ReplyOutcome,
    SessionEnded,
    TokensUsed,
    ToolCalled,
)
from pipelines.realtime.openai.options import OpenAIOptions, ServerVad
from pipelines.realtime.openai.protocol import OpenAIProtocol
from pipelines.realtime.wording import snapshot_text
from tests.realtime.openai.desk import CALL, OURS, PLAIN, Desk, sound
from tests.realtime.openai_service.response import encoded

TRANSCRIPT = "conversation.item.input_audio_transcription"


def test_a_session_opens_with_setup_past_and_context_in_this_order() -> None:
    setup = SessionSetup(
        instructions="Be brief.",
        past=(PastTurn(role="caller", text="Hello."), PastTurn(role="agent", text="Yes?")),
        snapshot=Snapshot(version=3, text="Open."),
    )
    update, first, second, context = Desk(setup).opening
    assert update["session"]["type"] == "realtime"
    assert [(frame["item"]["role"], frame["item"]["content"]) for frame in (first, second, context)] == [
        ("user", [{"type": "input_text", "text": "Hello."}]),
        ("assistant", [{"type": "output_text", "text": "Yes?"}]),
        ("system", [{"type": "input_text", "text": snapshot_text(Snapshot(version=3, text="Open."))}]),
    ]


def test_a_snapshot_is_created_and_the_one_before_deleted() -> None:
    desk = Desk(SessionSetup(instructions="", snapshot=Snapshot(version=1, text="One.")))
    old = desk.opening[-1]["item"]["id"]
    desk.refresh(2, "Two.")
    created, deleted = desk.sent()
    assert created["item"]["id"] != old
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.delete", old)


def test_an_empty_snapshot_only_deletes() -> None:
    desk = Desk(SessionSetup(instructions="", snapshot=Snapshot(version=1, text="One.")))
    desk.refresh(2, "")
    desk.refresh(3, "")
    assert desk.kinds() == ["conversation.item.delete"]


@pytest.mark.parametrize(
    ("version", "text"), [(1, "Other."), (0, "Other."), (2, "One.")], ids=["same", "older", "equal"]
)
def test_a_snapshot_that_is_not_newer_or_says_the_same_is_not_sent(version: int, text: str) -> None:
    desk = Desk(SessionSetup(instructions="", snapshot=Snapshot(version=1, text="One.")))
    desk.refresh(version, text)
    assert desk.sent() == []


def test_behind_results_a_snapshot_is_sent_even_when_it_says_the_same() -> None:
    desk = Desk(SessionSetup(instructions="", snapshot=Snapshot(version=1, text="One.")))
    results = [
        ToolAnswer(call_id="call-1", name="x", output='{"a": 1}'),
        ToolAnswer(call_id="call-2", name="y", output="{}"),
    ]
    desk.intents.answer(results, Snapshot(version=2, text="One."), respond=True)
    desk.intents.ask_if_due(desk.now)
    first, second, context, deleted, trigger = desk.sent()
    assert [first["item"]["call_id"], second["item"]["call_id"]] == ["call-1", "call-2"]
    assert first["item"]["output"] == '{"a": 1}'
    assert context["item"]["role"] == "system"
    assert (deleted["type"], trigger["type"]) == ("conversation.item.delete", "response.create")


def test_ids_are_unique_and_short_enough() -> None:
    desk = Desk()
    for version in range(2_000):
        desk.refresh(version + 1, f"{version}")
    ids = [frame["item"]["id"] for frame in desk.sent() if "item" in frame]
    assert len(set(ids)) == len(ids) and max(map(len, ids)) <= 32


def test_an_update_tells_what_changed_and_never_the_voice() -> None:
    desk = Desk(SessionSetup(instructions="Be brief.", voice="marin"))
    tool = AdvertisedTool(name="book", description="Book.", parameters={"type": "object"})
    desk.intents.update(SessionSetup(instructions="Be brief.", voice="cedar", tools=(tool,)))
    desk.intents.update(SessionSetup(instructions="Be kind.", voice="cedar", tools=(tool,)))
    desk.intents.update(SessionSetup(instructions="Be kind.", tools=(tool,)))
    first, second = desk.sent()
    assert set(first["session"]) == {"type", "tools"}
    assert second["session"] == {"type": "realtime", "instructions": "Be kind."}


def test_a_turn_of_ours_is_cleared_appended_committed_and_answered() -> None:
    desk = Desk(OURS)
    desk.intents.begin_speech()
    desk.intents.hear(sound(300))
    desk.intents.hear(sound(20))
    desk.intents.end_speech(desk.now, respond=True)
    desk.intents.ask_if_due(desk.now)
    assert desk.kinds() == [
        "input_audio_buffer.clear",
        "input_audio_buffer.append",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "response.create",
    ]


def test_a_turn_of_ours_that_is_too_short_is_filled_up_with_silence() -> None:
    desk = Desk(OURS)
    desk.intents.begin_speech()
    desk.intents.hear(sound(40))
    desk.intents.end_speech(desk.now, respond=True)
    appended = [frame["audio"] for frame in desk.sent() if "audio" in frame]
    assert appended[1] == encoded(np.zeros(60 * 24, np.int16))


def test_what_was_no_turn_is_forgotten() -> None:
    desk = Desk(OURS)
    desk.intents.begin_speech()
    desk.intents.hear(sound(200))
    desk.intents.end_speech(desk.now, respond=False)
    assert desk.kinds()[-1] == "input_audio_buffer.clear"


def test_where_the_provider_takes_turns_ours_are_none_unless_it_hears_the_caller() -> None:
    desk = Desk()
    desk.intents.begin_speech()
    desk.intents.end_speech(desk.now, respond=True)
    assert desk.sent() == []
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.intents.end_speech(desk.now, respond=True)
    desk.intents.ask_if_due(desk.now)
    assert desk.kinds() == ["input_audio_buffer.commit", "response.create"]


def test_long_audio_is_appended_in_pieces() -> None:
    desk = Desk()
    desk.intents.hear(np.zeros(24_000 * 12, np.int16))
    assert [len(frame["audio"]) * 3 // 4 for frame in desk.sent()] == [240_000, 240_000, 96_000]


def test_the_caller_s_speech_voids_the_answer_before_anything_else_comes() -> None:
    desk = Desk()
    desk.begin()
    desk.speak()
    desk.events()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.speak()
    desk.end(status="cancelled", status_details={"reason": "turn_detected"})
    assert desk.events() == [
        CallerBegan(),
        Interrupted(reply="resp-1"),
        ReplyEnded(reply="resp-1", outcome=ReplyOutcome.CANCELLED, reason="turn_detected"),
    ]
    assert desk.sent() == [], "the provider has cancelled it by itself"


def test_the_caller_s_speech_is_an_interruption_also_when_the_answer_was_made_long_ago() -> None:
    desk = Desk()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    assert desk.events() == [CallerBegan(), Interrupted(reply=None)]


def test_where_speech_interrupts_nothing_it_does_not() -> None:
    desk = Desk(options=OpenAIOptions(turn_detection=ServerVad(interrupt_response=False)))
    desk.begin()
    desk.events()
    desk.say("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    desk.speak()
    began, *_, heard = desk.events()
    assert began == CallerBegan()
    assert isinstance(heard, ReplyAudio)


def test_an_interruption_that_was_not_announced_is_told_before_the_end() -> None:
    desk = Desk()
    desk.begin()
    desk.events()
    desk.end(status="cancelled", status_details={"reason": "turn_detected"})
    assert [type(event) for event in desk.events()] == [Interrupted, ReplyEnded]


def test_transcripts_are_put_together_wherever_they_come() -> None:
    desk = Desk()
    for item in ("u1", "u2"):
        desk.say("input_audio_buffer.committed", item_id=item)
    desk.say(f"{TRANSCRIPT}.delta", item_id="u2", delta="Two")
    desk.say(f"{TRANSCRIPT}.completed", item_id="u2", transcript="Two people.")
    desk.say(f"{TRANSCRIPT}.delta", item_id="u1", delta="To ")
    desk.say(f"{TRANSCRIPT}.delta", item_id="u1", delta="Vienna")
    desk.say(f"{TRANSCRIPT}.completed", item_id="u1", transcript="To Vienna.")
    desk.say(f"{TRANSCRIPT}.delta", item_id="u1", delta="!")
    desk.say(f"{TRANSCRIPT}.completed", item_id="u1", transcript="Again.")
    assert desk.events() == [
        CallerWords(item="u1", text="", final=False),
        CallerWords(item="u2", text="", final=False),
        CallerWords(item="u2", text="Two", final=False),
        CallerWords(item="u2", text="Two people.", final=True),
        CallerWords(item="u1", text="To ", final=False),
        CallerWords(item="u1", text="To Vienna", final=False),
        CallerWords(item="u1", text="To Vienna.", final=True),
    ]


def test_a_transcript_that_fails_is_final_with_what_there_was() -> None:
    desk = Desk()
    desk.say("input_audio_buffer.committed", item_id="u1")
    desk.say(f"{TRANSCRIPT}.delta", item_id="u1", delta="To")
    desk.say(f"{TRANSCRIPT}.failed", item_id="u1", error={"code": "audio_unintelligible", "message": "What?"})
    assert desk.events()[-2:] == [
        CallerWords(item="u1", text="To", final=True),
        ProviderTrouble(code="audio_unintelligible", message="What?"),
    ]


def test_without_transcription_a_turn_is_told_as_final_and_empty() -> None:
    desk = Desk(options=OpenAIOptions(transcription=None))
    desk.say("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900)
    desk.say("input_audio_buffer.committed", item_id="u1")
    assert desk.events() == [
        CallerStopped(),
        CallerWords(item="u1", text="", final=False),
        CallerWords(item="u1", text="", final=True),
    ]


@pytest.mark.parametrize("told_by", ["response.output_item.done", "response.done"])
def test_calls_are_told_in_order_when_the_answer_is_complete(told_by: str) -> None:
    desk = Desk()
    desk.begin()
    calls = [{**CALL, "id": f"item-{n}", "call_id": f"call-{n}", "arguments": f'{{"n": {n}}}'} for n in (1, 2, 1)]
    if told_by == "response.output_item.done":
        for call in calls:
            desk.say("response.output_item.added", response_id="resp-1", item={**call, "status": "in_progress"})
            desk.say("response.output_item.done", response_id="resp-1", item=call)
        desk.end()
    else:
        desk.end(output=calls)
    told = [event for event in desk.events() if not isinstance(event, ReplyEnded)][1:]
    assert told == [
        ToolCalled(reply="resp-1", call_id=f"call-{n}", name="book", arguments=f'{{"n": {n}}}') for n in (1, 2)
    ]


@pytest.mark.parametrize("status", ["cancelled", "failed", "incomplete", "sung", None])
def test_calls_of_an_answer_that_is_not_complete_are_not_told_and_taken_out(status: str) -> None:
    desk = Desk()
    desk.begin()
    desk.say("response.output_item.done", response_id="resp-1", item={**CALL, "arguments": "{}"})
    desk.say("response.output_item.added", response_id="resp-1", item={**CALL, "id": "item-d", "status": "in_progress"})
    desk.end(status=status)
    assert not [event for event in desk.events() if isinstance(event, ToolCalled)]
    assert [(frame["type"], frame["item_id"]) for frame in desk.sent()] == [
        ("conversation.item.delete", "item-c"),
        ("conversation.item.delete", "item-d"),
    ]


def test_an_answer_tells_what_it_cost_and_why_it_failed() -> None:
    desk = Desk()
    desk.begin()
    usage = {
        "input_token_details": {"audio_tokens": 7, "text_tokens": 100, "cached_tokens": 64},
        "output_token_details": {"audio_tokens": 50, "text_tokens": 12},
    }
    desk.end(
        status="failed", usage=usage, status_details={"error": {"code": "rate_limit_exceeded", "message": "Slow."}}
    )
    assert desk.events()[-1] == ReplyEnded(
        reply="resp-1",
        outcome=ReplyOutcome.FAILED,
        reason="Slow.",
        used=TokensUsed(audio_in=7, audio_out=50, text_in=100, text_out=12, cached_in=64),
    )
    assert desk.protocol.refusal is None


def test_truncating_counts_all_that_the_provider_made_and_never_more() -> None:
    desk = Desk()
    desk.begin()
    desk.speak(ms=300)
    desk.protocol.interrupt(desk.now)
    desk.sent()
    desk.intents.truncate("item-1", 0.3)
    desk.speak(ms=100)
    desk.intents.truncate("item-1", 0.2504)
    desk.intents.truncate("item-1", 9.0)
    desk.intents.truncate("item-2", 0.1)
    assert [frame["audio_end_ms"] for frame in desk.sent()] == [300, 250]


def test_an_item_that_is_not_finished_is_truncated_at_most_at_what_there_is() -> None:
    desk = Desk()
    desk.begin()
    desk.speak(ms=300)
    desk.intents.truncate("item-1", 9.0)
    assert [frame["audio_end_ms"] for frame in desk.sent()] == [300]


@pytest.mark.parametrize(("heard_s", "at_ms"), [(0.0, 0), (-1.0, 0), (0.1999, 199), (0.2, None), (3.0, None)])
def test_a_finished_item_is_truncated_only_where_not_all_was_heard(heard_s: float, at_ms: int | None) -> None:
    desk = Desk()
    desk.begin()
    desk.speak(ms=200)
    desk.say("response.output_audio.done", response_id="resp-1", item_id="item-1")
    desk.end()
    desk.sent()
    desk.intents.truncate("item-1", heard_s)
    assert [frame["audio_end_ms"] for frame in desk.sent()] == ([] if at_ms is None else [at_ms])


@pytest.mark.parametrize(
    ("event_id", "code"),
    [
        ("cancel-3", "response_cancel_not_active"),
        (None, "response_cancel_not_active"),
        ("truncate-3", "invalid_value"),
        ("truncate-3", "item_truncate_invalid_item_id"),
        ("delete-3", "item_delete_invalid_item_id"),
        (None, "conversation_already_has_active_response"),
    ],
)
def test_complaints_that_mean_nothing_are_swallowed(event_id: str | None, code: str) -> None:
    desk = Desk()
    desk.refuse(event_id, code)
    assert (desk.events(), desk.sent(), desk.protocol.refusal) == ([], [], None)


def test_an_expiry_is_told_once_by_the_end_of_the_session() -> None:
    desk = Desk()
    desk.refuse(None, "session_expired", "Your session hit the maximum duration.")
    desk.protocol.close(1001, "", expected=False)
    (ended,) = desk.events()
    assert isinstance(ended, SessionEnded) and ended.retry
    assert ended.reason == "Your session hit the maximum duration."


def test_other_complaints_are_passed_on_in_the_provider_s_words_without_a_key() -> None:
    desk = Desk()
    desk.refuse("item-3", "invalid_value", "Bad\nitem, says sk-proj-abcDEF123456. " + "x" * 400)
    (trouble,) = desk.events()
    assert isinstance(trouble, ProviderTrouble)
    assert trouble.message.startswith("Bad item, says [key]") and len(trouble.message) == 300


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        ({"type": "invalid_request_error", "code": "unknown_parameter", "message": "Unknown parameter."}, False),
        ({"type": "server_error", "code": None, "message": "The server had an error."}, True),
    ],
)
def test_a_setup_that_is_refused_ends_the_session(error: dict[str, Any], retry: bool) -> None:
    desk = Desk()
    desk.say("error", error={**error, "event_id": desk.opening[0]["event_id"]})
    assert desk.protocol.refusal is not None
    desk.protocol.close(1000, "", expected=False)
    ended = desk.events()[-1]
    assert isinstance(ended, SessionEnded)
    assert (ended.reason, ended.retry, ended.expected) == (error["message"], retry, False)


@pytest.mark.parametrize(("now", "given_up"), [(109.9, False), (110.0, True)])
def test_a_setup_that_is_not_accepted_in_time_ends_the_session(now: float, given_up: bool) -> None:
    protocol = OpenAIProtocol(PLAIN, OpenAIOptions(), 100.0)
    protocol.tick(now)
    assert (protocol.refusal is not None and protocol.refusal.retry) is given_up


@pytest.mark.parametrize("code", ["model_not_found", "insufficient_quota", "invalid_api_key"])
def test_an_answer_that_fails_for_good_ends_the_session(code: str) -> None:
    desk = Desk()
    desk.begin()
    desk.end(status="failed", status_details={"error": {"code": code, "message": "You may not."}})
    refusal = desk.protocol.refusal
    assert refusal is not None and not refusal.retry
    assert refusal.reason.startswith("You may not. (")


@pytest.mark.parametrize(
    ("code", "reason", "last", "told", "retry"),
    [
        (1008, "policy", None, "policy", False),
        (3000, "invalid_request_error.invalid_api_key", None, "invalid_request_error.invalid_api_key (check", False),
        (4004, "invalid_request_error.model_not_found", None, "invalid_request_error.model_not_found (take", False),
        (1001, "Your session hit the maximum duration.", None, "Your session hit the maximum duration.", True),
        (1011, "", "The server had an error.", "The server had an error.", True),
        (None, "", None, "it broke off", True),
        (1006, "", None, "it broke off", True),
        (1013, "", None, "no reason given", True),
    ],
)
def test_a_close_tells_why_in_the_provider_s_words(
    code: int | None, reason: str, last: str | None, told: str, retry: bool
) -> None:
    desk = Desk()
    if last is not None:
        desk.refuse(None, "server_error", last)
    desk.begin()
    desk.events()
    desk.protocol.close(code, reason, expected=False)
    desk.protocol.close(1000, "again", expected=False)
    desk.inject()
    reply, ended = desk.events()
    assert isinstance(reply, ReplyEnded) and reply.outcome is ReplyOutcome.FAILED
    assert isinstance(ended, SessionEnded) and (ended.code, ended.retry) == (code, retry)
    assert ended.reason.startswith(told)
    assert desk.sent() == [], "nobody is there"
