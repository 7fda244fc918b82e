from __future__ import annotations

import io
import json
import re

import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.trace import Said, Sentence, Trace
from tests.voice_server.records.story import HEADING, entries
from voice_server.records.captions import Caption, Speaker, captions, to_json, to_vtt
from voice_server.records.tracing import Tracing


def _story() -> list[Caption]:
    trace = Trace()
    tracing = Tracing(trace)
    for entry in entries():
        tracing.notice(entry)
    return captions(trace)


def _read(text: str) -> list[tuple[str, str, str | None, str]]:
    """What a player of captions makes of them."""
    return [
        (cue.start, cue.end, cue.voice, cue.text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        for cue in webvtt.from_buffer(io.StringIO(text)).captions
    ]


def test_players_find_who_said_what_when_and_only_what_was_heard() -> None:
    assert _read(to_vtt(_story())) == [
        ("00:00:00.100", "00:00:00.850", "Agent", "Hello."),
        ("00:00:01.900", "00:00:03.500", "Caller", "What does it cost, for Ann?"),
        ("00:00:04.600", "00:00:07.400", "Agent", "It costs < 5 euros & 40 cents."),
        ("00:00:05.500", "00:00:05.900", "Caller", "mm-hm"),
        ("00:00:07.400", "00:00:08.000", "Agent", "Shall I book—"),
        ("00:00:07.900", "00:00:08.800", "Caller", "Stop, not Ann."),
        ("00:00:09.600", "00:00:10.600", "Agent", "Something went wrong."),
    ]


def test_the_same_as_json() -> None:
    written = json.loads(to_json(HEADING, _story()))
    assert (written["v"], written["conversation"]) == (1, "c-1")
    assert written["began_at"] == "2026-03-01T12:30:00+00:00"
    assert written["captions"][4] == {
        "start_s": 7.4,
        "end_s": 8.0,
        "speaker": "agent",
        "text": "Shall I book",
        "interrupted": True,
    }


def test_hours_are_counted() -> None:
    trace = Trace(said=[Said(start_ms=3_723_004, end_ms=36_000_000, text="Yes.", commit_ms=None)])
    assert "01:02:03.004 --> 10:00:00.000" in to_vtt(captions(trace))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1e8), st.floats(0, 1e5), st.text(max_size=30), st.booleans()),
        max_size=8,
    )
)
def test_whatever_is_said_the_file_stays_a_file_of_captions(
    told: list[tuple[float, float, str, bool]],
) -> None:
    trace = Trace()
    for start, length, text, caller in told:
        if caller:
            trace.said.append(Said(start_ms=start, end_ms=start + length, text=text, commit_ms=None))
        else:
            trace.sentences.append(Sentence(start_ms=start, end_ms=start + length, text=text, heard=text))
    found = captions(trace)
    vtt = to_vtt(found)
    # A block each, of two lines: whatever was said, no line of it is taken for times or for a block of its own.
    blocks = vtt.removeprefix("WEBVTT\n").removeprefix("\n").rstrip("\n").split("\n\n") if found else []
    assert len(blocks) == len(found)
    for block in blocks:
        times, text = block.split("\n")
        assert re.fullmatch(r"\d\d+:\d\d:\d\d\.\d{3} --> \d\d+:\d\d:\d\d\.\d{3}", times)
        assert re.fullmatch(r"<v (Caller|Agent)>[^<>\r\n]+", text)
    assert [one.start_s for one in found] == sorted(one.start_s for one in found)
    assert all(one.end_s > one.start_s and one.text for one in found)
    assert {one.speaker for one in found} <= set(Speaker)
