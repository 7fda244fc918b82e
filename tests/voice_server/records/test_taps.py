from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.clock import VirtualClock
from tests.voice_server.records.story import HEADING
from voice_server.records.opened import open_record
from voice_server.records.record import CallRecord
from voice_server.records.taps import TappedCaller, TappedOutput
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording

QUANTUM_S = 0.04


def _voice(seconds: float) -> Samples:
    return np.random.default_rng(3).integers(100, 9_000, round(seconds * SPEAKING_RATE)).astype(np.int16)


@pytest.mark.parametrize(("can_pause", "late_s"), [(True, 0.0), (False, 0.0), (False, 0.2)])
def test_the_tape_holds_what_the_output_played_where_it_played_it(
    tmp_path: Path, can_pause: bool, late_s: float
) -> None:
    clock = VirtualClock()
    reports: list[tuple[int, float, bool]] = []

    async def call() -> Samples:
        record = CallRecord(clock, tmp_path, HEADING)
        output = RecordedOutput(clock, can_pause=can_pause, late_s=late_s)
        tapped = TappedOutput(output, record, late_s)
        tapped.attach(lambda epoch, played_s, *, final=False: reports.append((epoch, played_s, final)))
        await clock.sleep(0.5)
        _play(tapped, 0, _voice(1.0))
        await clock.sleep(0.61)
        if can_pause:
            tapped.pause()
            await clock.sleep(0.7)
            tapped.unpause()
            await clock.sleep(0.2)
        tapped.clear(1)
        await clock.sleep(0.3)
        _play(tapped, 1, _voice(0.5))
        await clock.sleep(1.0)
        await tapped.aclose()
        track = output.track()
        await record.aclose()
        return track

    track = clock.run(call())
    tape = open_record(tmp_path).trace.agent[: len(track)]
    assert np.count_nonzero(track) > 1.0 * SPEAKING_RATE
    assert np.array_equal(tape, track[: len(tape)])
    assert max(played_s for epoch, played_s, _ in reports if epoch == 1) == pytest.approx(0.5)


def _play(output: TappedOutput, epoch: int, voice: Samples) -> None:
    step = round(QUANTUM_S * SPEAKING_RATE)
    for start in range(0, len(voice), step):
        output.play(epoch, voice[start : start + step])


class _Boasting(RecordedOutput):
    """An output that says what it likes."""

    def attach(self, report: Callable[..., None]) -> None:
        self.say = report


def test_reports_that_make_no_sense_put_nothing_on_the_tape_that_was_not_given(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def call() -> None:
        record = CallRecord(clock, tmp_path, HEADING)
        output = _Boasting(clock)
        tapped = TappedOutput(output, record)
        tapped.attach(lambda epoch, played_s, *, final=False: None)
        await clock.sleep(1.0)
        tapped.play(0, _voice(0.1))
        for played_s in (-1.0, float("nan"), float("inf"), 0.05, 0.02, 1e6):
            output.say(0, played_s)
            output.say(7, played_s)
        output.say(0, 0.1, final=True)
        output.say(0, 0.1)
        await clock.sleep(0.5)
        await record.aclose()

    clock.run(call())
    assert np.count_nonzero(open_record(tmp_path).trace.agent) == round(0.1 * SPEAKING_RATE)


def test_the_caller_s_line_is_on_the_tape_and_in_the_call(tmp_path: Path) -> None:
    clock = VirtualClock()
    heard: list[Frame] = []
    said = Recording(frame=Frame(np.full(8_000, 5_000, np.int16), HEARING_RATE))

    async def call() -> RecordedCaller:
        record = CallRecord(clock, tmp_path, HEADING)
        caller = RecordedCaller(clock, [said])
        await TappedCaller(caller, record).run(heard.append, lambda: True)
        await record.aclose()
        return caller

    caller = clock.run(call())
    assert len(heard) > 30
    tape = open_record(tmp_path).trace.caller
    assert np.array_equal(tape, caller.line()[: len(tape)])
