from __future__ import annotations

import pytest

from agents.display import DisplayManager
from pipelines.events import (
    CallerMuted,
    CallEvent,
    CompactionBegan,
    CompactionEnded,
    EngineTrouble,
    OutputHeld,
    ReplyWorded,
    SentenceRendered,
    SpeechBegan,
    SpeechOver,
    ToolCalled,
    ToolReturned,
    TranscriptHeard,
    TurnCommitted,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.playout.utterance import UtteranceKind
from voice_server.clients import events
from voice_server.clients.events import AgentState, AgentStateChanged, ClientEvent, TurnTimed
from voice_server.clients.telling import Telling, screen


def telling() -> Telling:
    return Telling(lambda at: round(at * 1000))


def committed(turn: int = 0, utterance: int = 1) -> TurnCommitted:
    return TurnCommitted(turn=turn, utterance=utterance, text="Hi.", ended_at=1.0, heard_at=1.2, reason="question")


def ended(utterance: int = 1, kind: UtteranceKind = "reply", *, interrupted: bool = False) -> UtteranceEnded:
    return UtteranceEnded(
        utterance=utterance, kind=kind, turn=0, text="Hello.", heard="Hello.", interrupted=interrupted, estimated=False
    )


def started(utterance: int = 1, kind: UtteranceKind = "reply") -> UtteranceStarted:
    return UtteranceStarted(utterance=utterance, kind=kind, turn=0)


def states(told: Telling, *happened: CallEvent) -> list[AgentState]:
    """The states clients are told of."""
    seen = []
    for event in happened:
        seen += [e.state for e in told.feed(event, 2.0) if isinstance(e, AgentStateChanged)]
    return seen


def test_an_agent_thinks_from_the_turn_to_its_first_sound_and_speaks_while_it_sounds() -> None:
    told = telling()
    assert told.begin() == [AgentStateChanged(state=AgentState.LISTENING)]
    assert states(told, committed(), ReplyWorded(turn=0, utterance=1), started(), ended()) == [
        AgentState.THINKING,
        AgentState.SPEAKING,
        AgentState.LISTENING,
    ]


def test_a_narration_in_a_turn_that_is_being_thought_about_is_speaking_and_then_thinking_again() -> None:
    told = telling()
    told.begin()
    assert states(told, committed(), started(2, "narration"), ended(2, "narration"), started(), ended()) == [
        AgentState.THINKING,
        AgentState.SPEAKING,
        AgentState.THINKING,
        AgentState.SPEAKING,
        AgentState.LISTENING,
    ]


def test_an_answer_that_never_sounds_ends_the_thinking_and_is_timed_as_far_as_it_came() -> None:
    told = telling()
    told.begin()
    told.feed(committed(), 1.5)
    closed, timed, state = told.feed(ended(interrupted=True), 2.0)
    assert isinstance(closed, events.UtteranceClosed)
    assert timed == TurnTimed(
        turn=0, speech_ended=1000, text_final=1200, committed=1500, first_text=None, first_sound=None, reason="question"
    )
    assert state == AgentStateChanged(state=AgentState.LISTENING)


def test_a_turn_is_timed_once_when_its_answer_sounds() -> None:
    told = telling()
    told.feed(committed(), 1.5)
    told.feed(ReplyWorded(turn=0, utterance=1), 1.6)
    timed = [event for event in told.feed(started(), 1.7) if isinstance(event, TurnTimed)]
    assert [(t.committed, t.first_text, t.first_sound) for t in timed] == [(1500, 1600, 1700)]
    assert not [event for event in told.feed(ended(), 3.0) if isinstance(event, TurnTimed)]


@pytest.mark.parametrize(
    ("happened", "told"),
    [
        (CallerMuted(muted=True), events.CallerMuted(muted=True)),
        (SpeechBegan(segment=3), events.CallerSpeech(speaking=True, segment=3)),
        (
            SpeechOver(segment=3, started_at=0, ended_at=1, voiced_s=1, confirmed=True),
            events.CallerSpeech(speaking=False, segment=3),
        ),
        (TranscriptHeard(segment=3, text="Hi", final=False), events.CallerWords(segment=3, text="Hi", final=False)),
        (UtteranceHeard(utterance=1, heard="Hel"), events.UtteranceHeard(utterance=1, text="Hel")),
        (
            ToolCalled(turn=0, call_id="c", name="book", input={"n": 2}),
            events.ToolChanged(call_id="c", name="book", turn=0, status="running", input={"n": 2}),
        ),
        (
            ToolReturned(turn=0, call_id="c", name="book", status="error", duration_ms=5),
            events.ToolChanged(call_id="c", name="book", turn=0, status="error", duration_ms=5),
        ),
        (EngineTrouble(engine="model", reason="down"), events.Failure(code="engine", message="model: down")),
        (OutputHeld(), None),
        (SentenceRendered(utterance=1, text="a", asked_at=0, seconds=1), None),
    ],
)
def test_what_clients_are_told_as_it_is(happened: CallEvent, told: ClientEvent | None) -> None:
    assert telling().feed(happened, 0.0) == ([] if told is None else [told])


def test_a_screen_shows_all_slots() -> None:
    display = DisplayManager()
    display.push_and_forget("card", {"title": "Trip"}, owner="book")
    (slot,) = screen(display.slots).slots
    assert (slot.id, slot.renderer, slot.input, slot.owner, slot.state) == (
        "slot_1",
        "card",
        {"title": "Trip"},
        "book",
        "shown",
    )


def test_clients_are_told_while_a_long_conversation_is_summed_up() -> None:
    told = telling()
    assert told.feed(CompactionBegan(turn=3), 1.0) == [events.ContextCompacted(turn=3, running=True)]
    assert told.feed(CompactionEnded(turn=3), 2.0) == [events.ContextCompacted(turn=3, running=False)]
