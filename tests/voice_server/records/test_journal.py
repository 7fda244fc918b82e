from __future__ import annotations

import contextlib
import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.events import SoundIgnored, SpeechBegan, TurnCommitted
from pipelines.turns.events import NoteKind
from tests.voice_server.records.story import BEGAN, HEADING, NOTED, entries
from voice_server.records.journal import Entry, JournalError, Noted, head, line, read_journal, tail


def _lines() -> list[str]:
    return [head(HEADING), *map(line, entries()), tail(13.0)]


def test_what_is_written_is_read_back() -> None:
    journal = read_journal(_lines())
    assert journal.heading == HEADING
    assert journal.ended_s == 13.0
    written = list(entries())
    assert [entry.event.type for entry in journal.entries] == [entry.event.type for entry in written]
    for read, told in zip(journal.entries, written, strict=True):
        assert read.at_s == pytest.approx(told.at_s)
        assert (read.played_s or 0.0) == pytest.approx(told.played_s or 0.0)
        assert read.event == told.event


def test_the_story_tells_every_kind_of_event() -> None:
    assert {type(event) for _, event in NOTED} == set(get_args(Noted))


def test_times_of_the_clock_become_times_of_the_call() -> None:
    told = TurnCommitted(turn=0, utterance=1, text="Yes.", ended_at=BEGAN + 2, heard_at=BEGAN + 3, reason="answer")
    entry = Entry.of(told, now=BEGAN + 4, began=BEGAN)
    assert entry.at_s == 4.0
    assert isinstance(entry.event, TurnCommitted)
    assert (entry.event.ended_at, entry.event.heard_at) == (2.0, 3.0)
    parsed = json.loads(line(entry))
    assert (parsed["t_ms"], parsed["data"]["ended_at"]) == (4000.0, 2.0)


def test_wherever_the_writer_was_killed_the_lines_before_are_read() -> None:
    whole = "".join(_lines())
    first = len(head(HEADING))
    kept = [len(read_journal(whole[:end].splitlines(keepends=True)).entries) for end in range(first, len(whole), 7)]
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (0, len(NOTED))


def test_what_a_newer_server_tells_besides_is_skipped() -> None:
    journal = read_journal([head(HEADING), '{"t_ms":1,"type":"whale_sung","data":{}}\n', *_lines()[1:2]])
    assert len(journal.entries) == 1


def test_what_json_does_not_know_is_kept_as_text() -> None:
    entry = Entry(at_s=1.0, event=SoundIgnored(kind=NoteKind.NOISE, text="", measures={"odd": {1}}))
    (read,) = read_journal([head(HEADING), line(entry)]).entries
    assert isinstance(read.event, SoundIgnored)
    assert read.event.measures == {"odd": "{1}"}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "no record of a call"),
        (["{}\n"], "line 1 is no event"),
        (['{"t_ms":0,"type":"speech_began","data":{"segment":1}}\n'], "no record of a call"),
        (['{"v":2,"t_ms":0,"type":"call_began","data":{}}\n'], "version 2"),
        (['{"v":1,"t_ms":0,"type":"call_began","data":{}}\n'], "line 1 does not fit"),
        ([head(HEADING), "[1]\n"], "line 2 is no event"),
        ([head(HEADING), "nonsense\n"], "line 2 is no JSON"),
        ([head(HEADING), "[" * 100_000 + "\n"], "line 2 is no JSON"),
        ([head(HEADING), '{"t_ms":NaN,"type":"call_ended","data":{}}\n'], "line 2 is no JSON"),
        ([head(HEADING), '{"t_ms":-1,"type":"call_ended","data":{}}\n'], "line 2 is of -1 ms"),
        ([head(HEADING), '{"t_ms":1e300,"type":"call_ended","data":{}}\n'], "line 2 is of 1e"),
        ([head(HEADING), '{"t_ms":true,"type":"call_ended","data":{}}\n'], "line 2 is of True ms"),
        ([head(HEADING), '{"t_ms":1,"type":"speech_began","data":{"segment":"x"}}\n'], "line 2 does not fit: segment"),
        ([head(HEADING), '{"t_ms":1,"type":"forms","data":{"forms":["x"]}}\n'], "line 2 does not fit: forms.0"),
        ([head(HEADING), '{"t_ms":1,"type":"goals","data":{}}\n'], "line 2 does not fit: program"),
    ],
)
def test_what_is_no_journal_is_refused_with_the_place(lines: list[str], says: str) -> None:
    with pytest.raises(JournalError, match=says):
        read_journal(lines)


@settings(deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5))
def test_whatever_follows_a_heading_is_read_or_refused(texts: list[str]) -> None:
    with contextlib.suppress(JournalError):
        read_journal([head(HEADING), *(text + "\n" for text in texts)])


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    entry = Entry(at_s=0.0, event=SpeechBegan(segment=1))
    said = Entry(
        at_s=0.0, event=SoundIgnored(kind=NoteKind.ASIDE, text="a\nb\u2028c\x85d", measures={}),
    )  # fmt: skip
    text = "".join([head(HEADING), line(entry), line(said)])
    assert text.count("\n") == 3
    (_, read) = read_journal(text.split("\n")[:-1]).entries
    assert isinstance(read.event, SoundIgnored)
    assert read.event.text == "a\nb\u2028c\x85d"
