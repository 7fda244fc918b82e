from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame
from pipelines.clock import RealClock, VirtualClock
from pipelines.trace import Trace
from tests.voice_server.records.story import BEGAN, FORM, GOALS, HEADING, PLAYED_AT, READ, STORY
from voice_server.records.notes import Notes
from voice_server.records.opened import open_record
from voice_server.records.record import MOST_ENTRIES, CallRecord
from voice_server.records.scribe import Scribe

FRAME = Frame(np.full(320, 700, np.int16), HEARING_RATE)
SPOKEN = Frame(np.full(480, 900, np.int16), SPEAKING_RATE)


def _run(tale: Callable[[VirtualClock], Coroutine[Any, Any, None]]) -> None:
    clock = VirtualClock()
    clock.run(tale(clock))


def test_a_call_as_it_happens_becomes_the_record_that_notes_would_be(tmp_path: Path) -> None:
    async def tale(clock: VirtualClock) -> None:
        began = clock.now()
        record, trace = CallRecord(clock, tmp_path, HEADING), Trace()
        notes = Notes(clock, HEADING, trace, clock.now)
        for at, event in STORY:
            while clock.now() < began + at - BEGAN - 0.01:
                record.hear(FRAME)
                record.judge(clock.now(), 0.25)
                notes.judge(clock.now(), 0.25)
                await clock.sleep(0.02)
            record.tell(event)
            notes.tell(event)
        for take in (record.take, notes.take):
            take("goals", GOALS)
            take("forms", [READ])
        report = await record.aclose()
        assert record.failure is None
        opened = open_record(tmp_path)
        assert opened.complete
        assert (report.turns, report.events) == (notes.report().turns, notes.report().events)
        assert opened.report.turns == report.turns
        for told in (report, notes.report(), opened.report):
            assert (told.goals, told.forms) == (GOALS, (FORM,))
        assert len(opened.trace.probabilities) == len(trace.probabilities) > 500
        assert [mark.label for mark in opened.trace.marks] == [mark.label for mark in trace.marks]
        assert len(opened.trace.caller) / HEARING_RATE == pytest.approx(clock.now() - began, abs=0.01)

    _run(tale)


def test_what_was_played_stands_when_it_was_played_however_late_that_is_told(tmp_path: Path) -> None:
    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        await clock.sleep(3.0)
        record.played(SPOKEN, late_s=0.5)
        await record.aclose()

    _run(tale)
    loud = np.flatnonzero(open_record(tmp_path).trace.agent)
    assert (loud[0] / SPEAKING_RATE, (loud[-1] + 1) / SPEAKING_RATE) == (pytest.approx(2.48), pytest.approx(2.5))


def test_an_utterance_ends_where_its_last_sample_was_played(tmp_path: Path) -> None:
    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        for at, event in STORY[:4]:
            await clock.sleep(at - BEGAN - clock.now())
            if at == STORY[3][0]:
                record.played(SPOKEN, late_s=at - PLAYED_AT[1])
            record.tell(event)
        assert (await record.aclose()).utterances[0].end_s == pytest.approx(0.85)

    _run(tale)


def test_what_was_told_is_on_the_disk_a_second_later(tmp_path: Path) -> None:
    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        for _ in range(125):
            record.hear(FRAME)
            await clock.sleep(0.02)
        assert len(open_record(tmp_path).trace.caller) >= 1.4 * HEARING_RATE
        await record.aclose()

    _run(tale)


def test_closing_twice_is_closing_once_and_what_comes_after_is_dropped(tmp_path: Path) -> None:
    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        record.tell(STORY[0][1])
        first = await record.aclose()
        record.tell(STORY[1][1])
        record.hear(FRAME)
        record.played(SPOKEN)
        record.judge(0.0, 0.5)
        assert await record.aclose() is first
        assert len(open_record(tmp_path).report.utterances) == 0

    _run(tale)


def test_a_record_that_cannot_be_written_says_so_once_and_the_call_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path / "ann" / "not there", HEADING)
        for _ in range(200):
            record.hear(FRAME)
            record.tell(STORY[0][1])
            await clock.sleep(0.02)
        report = await record.aclose()
        assert record.failure == "No such file or directory"
        assert report.conversation == "c-1"

    with caplog.at_level(logging.ERROR):
        _run(tale)
    (logged,) = caplog.records
    assert "is not complete: No such file or directory; the call goes on" in logged.getMessage()
    assert "ann" not in logged.getMessage(), "a folder's name may be a person's"


def test_a_disk_that_fails_in_mid_call_leaves_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Scribe.write
    batches: list[int] = []

    def write(scribe: Scribe, batch: Any) -> None:
        batches.append(1)
        if len(batches) > 3:
            raise OSError(28, "No space left on device")
        written(scribe, batch)

    monkeypatch.setattr(Scribe, "write", write)

    async def tale(clock: VirtualClock) -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        for _ in range(500):
            record.hear(FRAME)
            await clock.sleep(0.02)
        await record.aclose()
        assert record.failure == "No space left on device"
        assert len(batches) == 4

    _run(tale)
    opened = open_record(tmp_path)
    assert len(opened.trace.caller) >= 1.9 * HEARING_RATE


class _Hurrying(RealClock):
    """A clock whose hand can be moved on."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def test_a_disk_that_is_slow_loses_audio_and_no_event_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, let_go, busy = Scribe.write, threading.Event(), threading.Event()

    def write(scribe: Scribe, batch: Any) -> None:
        busy.set()
        let_go.wait(10)
        written(scribe, batch)

    monkeypatch.setattr(Scribe, "write", write)
    clock = _Hurrying()
    record = CallRecord(clock, tmp_path, HEADING)
    await asyncio.to_thread(busy.wait, 10)
    for _ in range(60):
        record.hear(FRAME)
        record.tell(STORY[-1][1])
        clock.ahead += 1.0
    let_go.set()
    await record.aclose()
    assert record.failure == "the disk is too slow, audio was lost"
    assert (tmp_path / "events.jsonl").read_text().count("tool_returned") == 60
    assert np.count_nonzero(open_record(tmp_path).trace.caller) == 30 * 320


async def test_a_disk_that_hangs_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go, busy = threading.Event(), threading.Event()

    def write(scribe: Scribe, batch: Any) -> None:
        busy.set()
        let_go.wait(10)

    monkeypatch.setattr(Scribe, "write", write)
    record = CallRecord(RealClock(), tmp_path, HEADING)
    await asyncio.to_thread(busy.wait, 10)
    for _ in range(MOST_ENTRIES + 5):
        record.tell(STORY[0][1])
    assert record.failure == "the disk is too slow, too much waits for it"
    let_go.set()
    await record.aclose()
