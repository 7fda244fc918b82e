"""Whatever Gemini says, in whatever order, what is told keeps to the contract; and nothing of it ends a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as some

from pipelines.realtime.base import SessionSetup
from pipelines.realtime.events import (
    CallerWords,
    ProviderEvent,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyWords,
    SessionEnded,
    ToolCalled,
)
from pipelines.realtime.gemini.wire import Activity, Outgoing, Results, Turns, Voice, in_words, seconds
from tests.realtime.gemini.desk import OURS, PLAIN, Desk, voice

Step = Callable[[Desk], Any]

STEPS: dict[str, Step] = {
    "speak": lambda desk: desk.speak(),
    "made": lambda desk: desk.content(generationComplete=True),
    "complete": lambda desk: desk.content(turnComplete=True),
    "interrupted": lambda desk: desk.content(interrupted=True),
    "all at once": lambda desk: desk.content(interrupted=True, generationComplete=True, turnComplete=True),
    "heard": lambda desk: desk.heard("so"),
    "heard all": lambda desk: desk.heard("so", finished=True),
    "call": lambda desk: desk.call("c-1", "c-2"),
    "call another": lambda desk: desk.call(f"c-{desk.now}"),
    "withdraw": lambda desk: desk.say(toolCallCancellation={"ids": ["c-1", "c-9"]}),
    "usage": lambda desk: desk.say(usageMetadata={"responseTokenCount": 3}),
    "answer": lambda desk: desk.answer("c-1", "c-2"),
    "answer one": lambda desk: desk.answer("c-2", version=1),
    "inject": lambda desk: desk.inject(),
    "inject silently": lambda desk: desk.inject(respond=False),
    "refresh": lambda desk: desk.refresh(int(desk.now) + 2),
    "interrupt": lambda desk: desk.protocol.interrupt(desk.now),
    "begin": lambda desk: desk.intents.begin_speech(),
    "hear": lambda desk: desk.intents.hear(voice(0.5)),
    "end": lambda desk: desk.protocol.end_speech(desk.now, respond=True),
    "end for nothing": lambda desk: desk.protocol.end_speech(desk.now, respond=False),
    "wait": lambda desk: desk.wait(1.0),
    "wait long": lambda desk: desk.wait(20.0),
}


@settings(max_examples=200)
@given(some.lists(some.sampled_from(sorted(STEPS)), max_size=30), some.sampled_from([PLAIN, OURS]))
def test_whatever_happens_what_is_told_keeps_to_the_contract(steps: list[str], setup: SessionSetup) -> None:
    desk = Desk(setup)
    told: list[ProviderEvent] = []
    sent: list[Outgoing] = []
    for step in steps:
        desk.now += 0.01
        STEPS[step](desk)
        told += desk.events()
        sent += desk.sent()
    desk.protocol.close(1006, "", expected=False)
    told += desk.events()
    check_told(told)
    check_sent(sent, ours=setup is OURS)


def check_told(told: Sequence[ProviderEvent]) -> None:
    """One reply at a time, each ended once; words final once, and calls told once."""
    open_reply: str | None = None
    closed: set[str] = set()
    final: set[str] = set()
    for event in told:
        match event:
            case ReplyBegan(reply=reply):
                assert open_reply is None and reply not in closed
                open_reply = reply
            case ReplyAudio(reply=reply) | ReplyWords(reply=reply) | ToolCalled(reply=reply):
                assert reply == open_reply
            case ReplyEnded(reply=reply):
                assert reply == open_reply
                closed.add(reply)
                open_reply = None
            case CallerWords(item=item):
                assert item not in final
                if event.final:
                    final.add(item)
    assert open_reply is None
    assert {event.item for event in told if isinstance(event, CallerWords)} == final
    assert max(Counter(event.call_id for event in told if isinstance(event, ToolCalled)).values(), default=1) == 1
    assert isinstance(told[-1], SessionEnded)


def check_sent(sent: Sequence[Outgoing], *, ours: bool) -> None:
    """Activity begins and ends in turn, voice lies within; each call has one result."""
    active = not ours
    results: list[str] = []
    for message in sent:
        if message is Activity.PAUSES:
            assert not ours
        elif isinstance(message, Activity):
            assert ours and active == (message is Activity.ENDS)
            active = message is Activity.BEGINS
        elif isinstance(message, Voice):
            assert active
        elif isinstance(message, Turns):
            assert not (ours and active), "nothing is written into the caller's speech"
        elif isinstance(message, Results):
            results += [call_id for call_id, _, _ in message.results]
    assert len(results) == len(set(results))


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=8) | some.binary(max_size=5),
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(some.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)
PARTS = some.fixed_dictionaries(
    {},
    optional={
        "text": some.text(max_size=5),
        "thought": some.booleans(),
        "inlineData": some.fixed_dictionaries({}, optional={"data": some.binary(max_size=5), "mimeType": some.text()}),
    },
)
MESSAGES = some.fixed_dictionaries(
    {},
    optional={
        "serverContent": some.fixed_dictionaries(
            {},
            optional={
                "modelTurn": some.fixed_dictionaries({}, optional={"parts": some.lists(PARTS, max_size=3)}),
                "turnComplete": some.booleans(),
                "generationComplete": some.booleans(),
                "interrupted": some.booleans(),
                "inputTranscription": some.fixed_dictionaries({}, optional={"text": some.text(max_size=5)}),
                "outputTranscription": some.fixed_dictionaries({}, optional={"text": some.text(max_size=5)}),
                "turnCompleteReason": some.sampled_from(["OTHER", "RESPONSE_REJECTED", "NEED_MORE_INPUT"]),
                "interactionStatus": some.sampled_from(["IDLE", "IN_PROGRESS"]),
            },
        ),
        "toolCall": some.fixed_dictionaries(
            {},
            optional={
                "functionCalls": some.lists(
                    some.fixed_dictionaries(
                        {}, optional={"id": some.text(max_size=2), "name": some.text(max_size=2), "args": some.just({})}
                    ),
                    max_size=3,
                )
            },
        ),
        "toolCallCancellation": some.fixed_dictionaries({}, optional={"ids": some.lists(some.text(max_size=2))}),
        "goAway": some.fixed_dictionaries({}, optional={"timeLeft": some.text(max_size=4)}),
        "sessionResumptionUpdate": some.fixed_dictionaries({}, optional={"newHandle": some.text(max_size=4)}),
        "usageMetadata": some.fixed_dictionaries({}, optional={"promptTokenCount": some.integers(0, 10**9)}),
    },
)


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
@settings(max_examples=100)
@given(some.lists(MESSAGES, max_size=8))
def test_whatever_the_sdk_lets_through_is_taken(messages: list[dict[str, Any]]) -> None:
    desk = Desk()
    for message in messages:
        desk.protocol.receive(types.LiveServerMessage.model_validate(message), desk.now)
    desk.protocol.close(None, "", expected=False)
    check_told(desk.events())


@given(VALUES)
def test_words_and_durations_are_read_of_anything(value: Any) -> None:
    assert len(in_words(value)) <= 300
    assert seconds(value) >= 0


def test_no_key_is_passed_on_and_words_are_short() -> None:
    said = f"Key AIzaSyA-1234567890abcdef is bad, so is auth_tokens/abc-def and ?key=AIzaSyB123456789. {'x' * 400}"
    words = in_words(said)
    assert "AIza" not in words and "abc-def" not in words and len(words) == 300
