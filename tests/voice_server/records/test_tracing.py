from __future__ import annotations

from collections.abc import Iterable

import pytest

from pipelines.events import (
    CallEvent,
    ReplyWorded,
    SpeechOver,
    ToolReturned,
    TurnCommitted,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.trace import Mark, MarkKind, Said, Span, SpanKind, Trace, Wait
from tests.voice_server.records.story import ANSWER, entries
from voice_server.records.journal import Entry
from voice_server.records.tracing import Tracing


def _traced(told: Iterable[Entry]) -> Trace:
    trace = Trace()
    tracing = Tracing(trace)
    for entry in told:
        tracing.notice(entry)
    return trace


def _at(*events: tuple[float, CallEvent]) -> list[Entry]:
    return [Entry(at_s=at, event=event) for at, event in events]


def _spans(trace: Trace, kind: SpanKind) -> list[tuple[float, float, str]]:
    return [(round(one.start_ms), round(one.end_ms), one.label) for one in trace.spans if one.kind is kind]


def test_the_story_is_all_there() -> None:
    trace = _traced(entries())
    assert _spans(trace, SpanKind.SPEECH) == [(1900, 3500, ""), (5500, 5900, ""), (7900, 8800, "")]
    assert _spans(trace, SpanKind.STT) == [(3500, 3800, ""), (8800, 9100, "")]
    assert _spans(trace, SpanKind.MODEL) == [(4000, 4400, "")]
    assert _spans(trace, SpanKind.TOOL) == [(4100, 4300, "price"), (9300, 12000, "slow")]
    assert _spans(trace, SpanKind.HOLD) == [(5600, 6300, ""), (8000, 9000, "")]
    assert len(_spans(trace, SpanKind.TTS)) == 3
    (wait,) = trace.waits
    moments = (wait.speech_end_ms, wait.commit_ms, wait.first_text_ms, wait.first_sound_ms)
    assert [round(moment) for moment in moments] == [3500, 4000, 4400, 4600]
    flags = [mark.label for mark in trace.marks if mark.kind is MarkKind.EVENT]
    assert flags == [
        "backchannel: mm-hm", "compaction_began", "compaction_ended", "engine_trouble", "muted", "unmuted", "noise",
    ]  # fmt: skip


def test_what_the_caller_said_stands_where_they_said_it() -> None:
    said = [(round(one.start_ms), round(one.end_ms), one.text, one.commit_ms) for one in _traced(entries()).said]
    assert said == [
        (1900, 3500, "What does it cost, for Ann?", pytest.approx(4000)),
        (5500, 5900, "mm-hm", None),
        (7900, 8800, "Stop, not Ann.", pytest.approx(9200)),
    ]


def test_sentences_stand_where_the_ledger_proves_them_heard() -> None:
    reply = [one for one in _traced(entries()).sentences if one.text in ANSWER]
    assert [(round(one.start_ms), round(one.end_ms), one.text, one.heard) for one in reply] == [
        (4600, 7400, "It costs < 5 euros & 40 cents.", "It costs < 5 euros & 40 cents."),
        (7400, 8000, "Shall I book it for Ann? I can do that now.", "Shall I book"),
    ]


def test_an_utterance_of_which_nothing_sounded_is_no_sentence() -> None:
    ended = UtteranceEnded(
        utterance=1, kind="reply", turn=None, text="Hello.", heard="", interrupted=True, estimated=False
    )
    assert _traced(_at((1.0, ended))).sentences == []
    assert _traced(_at((1.0, UtteranceStarted(utterance=1, kind="reply", turn=None)), (1.0, ended))).sentences == []


def test_two_stretches_of_speech_are_one_turn() -> None:
    def over(start: float, end: float) -> SpeechOver:
        return SpeechOver(segment=1, started_at=start, ended_at=end, voiced_s=1.0, confirmed=True)

    commit = TurnCommitted(turn=0, utterance=1, text="One two.", ended_at=4.0, heard_at=4.1, reason="")
    trace = _traced(_at((2.2, over(1.0, 2.0)), (4.2, over(3.0, 4.0)), (4.5, commit)))
    assert trace.said == [Said(start_ms=1000, end_ms=4000, text="One two.", commit_ms=4500)]


def test_what_a_journal_says_of_things_that_never_were_is_left_out() -> None:
    trace = _traced(
        _at(
            (1.0, ReplyWorded(turn=7, utterance=7)),
            (1.0, ToolReturned(turn=7, call_id="x", name="x", status="success", duration_ms=1.0)),
            (1.0, UtteranceHeard(utterance=7, heard="x")),
            (2.0, UtteranceStarted(utterance=7, kind="reply", turn=7)),
        )
    )
    assert (trace.spans, trace.waits, trace.sentences) == ([], [], [])


def test_times_from_the_future_end_now() -> None:
    far = float("inf")
    trace = _traced(
        _at(
            (1.0, SpeechOver(segment=1, started_at=far, ended_at=far, voiced_s=1.0, confirmed=True)),
            (2.0, TurnCommitted(turn=0, utterance=1, text="x", ended_at=far, heard_at=far, reason="")),
            (3.0, UtteranceStarted(utterance=1, kind="reply", turn=0)),
        )
    )
    assert trace.spans[0] == Span(kind=SpanKind.SPEECH, start_ms=1000, end_ms=1000)
    assert trace.waits == [Wait(speech_end_ms=2000, commit_ms=2000, first_text_ms=2000, first_sound_ms=3000)]
    assert all(isinstance(mark, Mark) and mark.t_ms <= 3000 for mark in trace.marks)
