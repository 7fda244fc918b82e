from __future__ import annotations

from pipelines.events import SoundIgnored, ToolCalled, ToolReturned, UtteranceEnded, UtteranceStarted
from pipelines.turns.events import NoteKind
from tests.voice_server.records.story import ANSWER, FORM, GOALS, HEADING, entries
from voice_server.records.journal import Entry
from voice_server.records.minutes import Minutes
from voice_server.report import Audio, Latency, ToolUse


def test_the_story_makes_a_report() -> None:
    minutes = Minutes(HEADING)
    for entry in entries():
        minutes.notice(entry)
    report = minutes.report(Audio(seconds=12.0, path="agent.wav"))
    assert (report.conversation, report.model, report.audio.path) == ("c-1", "offline", "agent.wav")
    first, second = report.turns
    assert (first.caller, first.agent, first.interrupted) == ("What does it cost, for Ann?", ANSWER, True)
    assert first.heard == "It costs < 5 euros & 40 cents. Shall I book"
    assert first.tools == (ToolUse(name="price", input={"who": "Ann"}),)
    assert first.latency_ms == Latency(endpoint=500, stt=300, model=400, tts=200, voice_to_voice=1100)
    assert second.tools == (ToolUse(name="slow", status="aborted"),)
    assert second.latency_ms == Latency(endpoint=400, stt=300)
    assert [(one.id, one.kind, one.start_s, one.end_s) for one in report.utterances] == [
        (1, "greeting", 0.1, 0.85),
        (2, "reply", 4.6, 8.0),
        (4, "apology", 9.6, 10.6),
    ]
    assert [event.type for event in report.events] == [
        "held", "backchannel", "resumed", "held", "cancelled", "resumed", "tokens_spent", "compaction_began",
        "compaction_ended", "engine_trouble", "muted", "unmuted", "noise",
    ]  # fmt: skip
    assert (report.goals, report.forms) == (GOALS, (FORM,))
    assert report.events[1].data == {"text": "mm-hm", "voiced_s": 0.3}


def test_what_a_journal_says_of_turns_that_never_were_is_left_out() -> None:
    minutes = Minutes(HEADING)
    for event in (
        UtteranceStarted(utterance=1, kind="reply", turn=9),
        ToolCalled(turn=9, call_id="x", name="x", input={}),
        ToolReturned(turn=9, call_id="x", name="x", status="success", duration_ms=1.0),
        UtteranceEnded(utterance=1, kind="reply", turn=9, text="a", heard="", interrupted=True, estimated=False),
        SoundIgnored(kind=NoteKind.NOISE, text="a", measures={"text": "b", "self": 1}),
    ):
        minutes.notice(Entry(at_s=1.0, event=event))
    report = minutes.report()
    assert report.turns == ()
    assert [one.turn for one in report.utterances] == [9]
