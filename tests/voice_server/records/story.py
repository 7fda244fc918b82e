"""A call as it is told, event by event: a greeting, a tool, a form, an acknowledgement, a barge-in, troubles."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipelines.events import (
    CallerMuted,
    CallEvent,
    CompactionBegan,
    CompactionEnded,
    EngineTrouble,
    OutputHeld,
    OutputResumed,
    ReplyWorded,
    SentenceRendered,
    SoundIgnored,
    SpeechBegan,
    SpeechOver,
    TokensSpent,
    ToolCalled,
    ToolReturned,
    TranscriptHeard,
    TurnCommitted,
    TurnWorded,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.turns.events import Cause, NoteKind
from voice_server.records.journal import Entry, FormsStand, GoalsStand, Heading, Noted

BEGAN = 100.0
"""When the call began, seconds of its clock."""

HEADING = Heading(
    conversation="c-1",
    pipeline="cascade",
    agent="agents.desk:create",
    stt="whisper",
    tts="hibari",
    model="offline",
    began_at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
)

ANSWER = "It costs < 5 euros & 40 cents. Shall I book it for Ann? I can do that now."

READ = {
    "form": "table",
    "status": "active",
    "fields": [
        {"id": "name", "status": "filled", "value": "Ann"},
        {"id": "people", "status": "invalid", "value": 90},
        {"id": "day", "status": "empty"},
    ],
}
"""A form as it is read, what the record has no need of left out."""

FORM = {"id": "table", "values": {"name": "Ann"}, **READ}
GOALS = {"program": "evening", "version": 2, "status": "active", "goals": []}

STORY: tuple[tuple[float, CallEvent], ...] = (
    (100.1, UtteranceStarted(utterance=1, kind="greeting", turn=None)),
    (100.2, SentenceRendered(utterance=1, text="Hello.", asked_at=100.0, seconds=0.8)),
    (100.9, UtteranceHeard(utterance=1, heard="Hello.")),
    (100.9, UtteranceEnded(
        utterance=1, kind="greeting", turn=None, text="Hello.", heard="Hello.", interrupted=False, estimated=False,
    )),
    (102.0, SpeechBegan(segment=1)),
    (103.0, TranscriptHeard(segment=1, text="What does", final=False)),
    (103.7, SpeechOver(segment=1, started_at=101.9, ended_at=103.5, voiced_s=1.4, confirmed=True)),
    (103.8, TranscriptHeard(segment=1, text="What does it cost, for Ann?", final=True)),
    (104.0, TurnCommitted(
        turn=0, utterance=2, text="What does it cost, for Ann?", ended_at=103.5, heard_at=103.8, reason="question",
    )),
    (104.1, ToolCalled(turn=0, call_id="t1", name="price", input={"who": "Ann"})),
    (104.3, ToolReturned(turn=0, call_id="t1", name="price", status="success", duration_ms=200.0)),
    (104.4, ReplyWorded(turn=0, utterance=2)),
    (104.6, UtteranceStarted(utterance=2, kind="reply", turn=0)),
    (104.6, SentenceRendered(utterance=2, text="It costs < 5 euros & 40 cents. ", asked_at=104.4, seconds=2.0)),
    (104.8, SentenceRendered(utterance=2, text="Shall I book it for Ann? ", asked_at=104.6, seconds=1.2)),
    (105.5, UtteranceHeard(utterance=2, heard="It costs < 5")),
    (105.6, SpeechBegan(segment=2)),
    (105.6, OutputHeld()),
    (106.2, SpeechOver(segment=2, started_at=105.5, ended_at=105.9, voiced_s=0.3, confirmed=True)),
    (106.3, SoundIgnored(kind=NoteKind.BACKCHANNEL, text="mm-hm", measures={"voiced_s": 0.3})),
    (106.3, OutputResumed()),
    (107.4, UtteranceHeard(utterance=2, heard="It costs < 5 euros & 40 cents.")),
    (107.9, UtteranceHeard(utterance=2, heard="It costs < 5 euros & 40 cents. Shall I book")),
    (108.0, SpeechBegan(segment=3)),
    (108.0, OutputHeld()),
    (108.6, TranscriptHeard(segment=3, text="Stop, not Ann", final=False)),
    (108.6, UtteranceCancelled(utterance=2, cause=Cause.INTERRUPTING_WORD)),
    (108.6, UtteranceEnded(
        utterance=2, kind="reply", turn=0, text=ANSWER, heard="It costs < 5 euros & 40 cents. Shall I book",
        interrupted=True, estimated=False,
    )),
    (109.0, SpeechOver(segment=3, started_at=107.9, ended_at=108.8, voiced_s=0.8, confirmed=True)),
    (109.0, OutputResumed()),
    (109.1, TranscriptHeard(segment=3, text="Stop, not Ann.", final=True)),
    (109.2, TurnCommitted(
        turn=1, utterance=3, text="", ended_at=108.8, heard_at=109.1, reason="statement",
    )),
    (109.2, TurnWorded(turn=1, text="Stop, not Ann.", heard_at=109.1)),
    (109.25, TokensSpent(turn=1, audio_in=0, audio_out=40, text_in=300, text_out=9, cached_in=0)),
    (109.3, ToolCalled(turn=1, call_id="t2", name="slow", input={})),
    (109.3, CompactionBegan(turn=1)),
    (109.5, CompactionEnded(turn=1)),
    (109.5, EngineTrouble(engine="model", reason="it raised TimeoutError")),
    (109.5, UtteranceEnded(
        utterance=3, kind="reply", turn=1, text="", heard="", interrupted=True, estimated=False,
    )),
    (109.6, UtteranceStarted(utterance=4, kind="apology", turn=None)),
    (110.6, UtteranceEnded(
        utterance=4, kind="apology", turn=None, text="Something went wrong.", heard="Something went wrong.",
        interrupted=False, estimated=True,
    )),
    (110.7, CallerMuted(muted=True)),
    (110.8, CallerMuted(muted=False)),
    (111.0, SpeechOver(segment=4, started_at=110.8, ended_at=110.9, voiced_s=0.1, confirmed=False)),
    (111.0, SoundIgnored(kind=NoteKind.NOISE, text="")),
    (112.0, ToolReturned(turn=1, call_id="t2", name="slow", status="aborted", duration_ms=2_700.0)),
)  # fmt: skip
"""When each event was told, seconds of the call's clock, and the event."""

NOTED: tuple[tuple[float, Noted], ...] = tuple(
    sorted(
        (
            *STORY,
            (101.0, GoalsStand(program=None)),
            (101.0, FormsStand(forms=())),
            (104.35, FormsStand(forms=(FORM,))),
            (109.3, GoalsStand(program=GOALS)),
        ),
        key=lambda noted: noted[0],
    )
)
"""The same with how far the agent was, as a record notes it."""

PLAYED_AT = {1: 100.85, 2: 108.0, 3: 108.0, 4: 110.6}
"""When of each utterance the last sample was played."""


def entries() -> Iterator[Entry]:
    """The story as a record takes it."""
    for at, event in NOTED:
        played_at = PLAYED_AT[event.utterance] if isinstance(event, UtteranceEnded) else None
        yield Entry.of(event, now=at, began=BEGAN, played_at=played_at)
