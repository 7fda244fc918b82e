"""Whatever comes in whatever order: nothing breaks, and what is told is well formed."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.realtime.base import Snapshot, ToolAnswer
from pipelines.realtime.events import ReplyAudio, ReplyBegan, ReplyEnded, ReplyWords, SessionEnded, ToolCalled
from tests.realtime.openai.desk import OURS, PLAIN, Desk, sound
from tests.realtime.openai_service.response import encoded

RESPONSE = "created done output_item.added output_item.done output_audio.delta output_audio.done"
BUFFER = "speech_started speech_stopped committed cleared"
TRANSCRIPT = "delta completed failed"
KINDS = [
    *(f"response.{kind}" for kind in RESPONSE.split()),
    *(f"input_audio_buffer.{kind}" for kind in BUFFER.split()),
    *(f"conversation.item.input_audio_transcription.{kind}" for kind in TRANSCRIPT.split()),
    "conversation.item.added",
    "response.output_audio_transcript.delta",
    "session.updated",
    "error",
    "something.new",
]

ids = st.sampled_from(["a", "b", "c"])
scraps = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
calls = st.fixed_dictionaries(
    {"type": st.just("function_call"), "id": ids, "call_id": ids, "name": st.just("book")},
    optional={"status": st.sampled_from(["completed", "in_progress"]), "arguments": st.text(max_size=8)},
)
fields: dict[str, st.SearchStrategy[Any]] = {
    "item_id": ids,
    "response_id": ids,
    "delta": st.sampled_from(["Hello", "!!", encoded(sound(20)), encoded(sound(1))[:-1]]),
    "transcript": st.text(max_size=8),
    "item": calls | st.fixed_dictionaries({"id": ids}),
    "response": st.fixed_dictionaries(
        {"id": ids},
        optional={
            "status": st.sampled_from(["completed", "cancelled", "failed", "incomplete"]),
            "metadata": st.fixed_dictionaries({"trigger": st.sampled_from(["answer-2", "answer-9"])}),
            "output": st.lists(calls, max_size=3),
            "status_details": st.just({"reason": "turn_detected"}) | scraps,
            "usage": st.just({"output_token_details": {"audio_tokens": 3}}) | scraps,
        },
    ),
    "error": st.fixed_dictionaries(
        {},
        optional={
            "code": st.sampled_from(["conversation_already_has_active_response", "response_cancel_not_active", "x"]),
            "event_id": st.sampled_from(["answer-2", "cancel-3", "item-1"]),
            "message": st.text(max_size=8),
        },
    ),
}
plausible = st.builds(
    lambda kind, given: json.dumps({"type": kind, **given}),
    st.sampled_from(KINDS),
    st.fixed_dictionaries({}, optional=fields),
)
wild = st.builds(
    lambda kind, given: json.dumps({**given, "type": kind}),
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(list(fields)), scraps, max_size=4),
)
messages = plausible | wild | st.text(max_size=20) | st.binary(max_size=20) | scraps.map(json.dumps)
steps = st.lists(
    messages | st.sampled_from(["interrupt", "inject", "refresh", "answer", "hear", "begin", "end", "cut", "wait"]),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(steps=steps, ours=st.booleans())
def test_what_is_told_is_well_formed_whatever_comes(steps: list[str | bytes], ours: bool) -> None:
    desk = Desk(OURS if ours else PLAIN)
    told = []
    for step in steps:
        _take(desk, step)
        told += desk.events()
    desk.protocol.close(None, "", expected=False)
    told += desk.events()
    began = [event.reply for event in told if isinstance(event, ReplyBegan)]
    ended = [event.reply for event in told if isinstance(event, ReplyEnded)]
    assert began == ended, "every reply ends once, one at a time"
    assert isinstance(told[-1], SessionEnded)
    assert [type(event) for event in told].count(SessionEnded) == 1
    current = None
    for event in told:
        match event:
            case ReplyBegan():
                current = event.reply
            case ReplyEnded():
                assert event.reply == current
                current = None
            case ReplyAudio() | ReplyWords() | ToolCalled():
                assert event.reply == current
    ids = [event.call_id for event in told if isinstance(event, ToolCalled)]
    assert len(set(ids)) == len(ids)


def _take(desk: Desk, step: str | bytes) -> None:
    match step:
        case "interrupt":
            desk.protocol.interrupt(desk.now)
        case "inject":
            desk.inject()
        case "refresh":
            desk.refresh(1, "One.")
        case "answer":
            desk.intents.answer(
                [ToolAnswer(call_id="a", name="x", output="")], Snapshot(version=2, text=""), respond=True
            )
        case "hear":
            desk.intents.hear(sound(20))
        case "begin":
            desk.intents.begin_speech()
        case "end":
            desk.intents.end_speech(desk.now, respond=True)
        case "cut":
            desk.intents.truncate("a", 0.01)
        case "wait":
            desk.wait(3)
        case _:
            desk.protocol.receive(step, desk.now)
