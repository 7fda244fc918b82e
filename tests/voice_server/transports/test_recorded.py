from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import VirtualClock
from pipelines.events import UtteranceStarted
from voice_server.transports.recorded import FRAME_S, RecordedCaller, RecordedOutput, Recording

RATE = 1000


class Reports(list[tuple[int, float, bool]]):
    """What an output said, in order."""

    def __call__(self, epoch: int, played_s: float, *, final: bool = False) -> None:
        self.append((epoch, round(played_s, 3), final))


def sound(seconds: float, value: int = 1) -> Samples:
    return np.full(int(seconds * RATE), value, np.int16)


def on_output(
    tale: Callable[[RecordedOutput, VirtualClock], Awaitable[None]], *, can_pause: bool = True, late_s: float = 0.0
) -> tuple[list[int], Reports]:
    """Run a tale; return the track in tenths of a second, and the reports."""
    clock = VirtualClock()
    reports = Reports()

    async def run() -> list[int]:
        output = RecordedOutput(clock, can_pause=can_pause, late_s=late_s, rate=RATE)
        output.attach(reports)
        await tale(output, clock)
        await output.aclose()
        return [int(value) for value in output.track()[::100]]

    return clock.run(run()), reports


def test_what_is_given_is_played_at_once_and_reported_when_it_is_over() -> None:
    async def tale(output: RecordedOutput, clock: VirtualClock) -> None:
        await clock.sleep(0.2)
        output.play(0, sound(0.3))
        await clock.sleep(0.5)

    track, reports = on_output(tale)
    assert track == [0, 0, 1, 1, 1, 0, 0]
    assert reports[-1] == (0, 0.3, False)
    assert [played for _, played, _ in reports] == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]


def test_a_pause_stops_at_the_sample_and_goes_on_there() -> None:
    async def tale(output: RecordedOutput, clock: VirtualClock) -> None:
        output.play(0, np.concatenate([sound(0.2, 1), sound(0.2, 2)]))
        await clock.sleep(0.3)
        output.pause()
        await clock.sleep(0.3)
        output.unpause()
        await clock.sleep(0.3)

    track, reports = on_output(tale)
    assert track == [1, 1, 2, 0, 0, 0, 2, 0, 0]
    assert (0, 0.3, False) in reports


def test_a_clear_drops_what_is_older_and_says_what_was_played() -> None:
    async def tale(output: RecordedOutput, clock: VirtualClock) -> None:
        output.play(0, sound(1.0, 1))
        await clock.sleep(0.2)
        output.clear(1)
        output.play(0, sound(1.0, 1))
        output.play(1, sound(0.2, 2))
        await clock.sleep(0.4)

    track, reports = on_output(tale)
    assert track == [1, 1, 2, 2, 0, 0]
    assert (0, 0.2, True) in reports
    assert reports[-1] == (1, 0.2, False)


def test_a_late_output_says_the_same_later() -> None:
    times: list[float] = []

    async def tale(output: RecordedOutput, clock: VirtualClock) -> None:
        output.attach(lambda epoch, played_s, *, final=False: times.append(clock.now()))
        output.play(0, sound(0.05))
        await clock.sleep(1)

    on_output(tale, late_s=0.2)
    assert times == [0.25]


def call(recordings: list[Recording], agent: Callable[[float], bool], started: tuple[float, ...] = ()) -> list[float]:
    """Let a caller speak to an agent that is busy when told; return when each recording began, in seconds."""
    clock = VirtualClock()

    async def run() -> list[float]:
        caller = RecordedCaller(clock, recordings)
        for number, at in enumerate(started):
            event = UtteranceStarted(utterance=number, kind="reply", turn=0)
            clock.call_at(at, caller.notice, event)
        heard: list[tuple[float, int]] = []

        def hear(frame: Frame) -> None:
            heard.append((clock.now(), int(frame.samples[0])))

        await caller.run(hear, lambda: not agent(clock.now()))
        assert [round(at / FRAME_S) for at, _ in heard] == list(range(1, len(heard) + 1))
        begins = []
        last = 0
        for at, value in heard:
            if value not in (0, last):
                begins.append(round(at - FRAME_S, 3))
            last = value
        return begins

    return clock.run(run())


def recording(value: int, seconds: float, after_s: float | None = None) -> Recording:
    return Recording(frame=Frame(np.full(int(seconds * 8_000), value, np.int16), 8_000), after_s=after_s)


def test_a_recording_starts_when_nothing_has_been_going_on_for_a_moment() -> None:
    begins = call([recording(1, 0.5), recording(2, 0.5)], agent=lambda now: 0.3 <= now < 2.0)
    assert begins == [pytest.approx(2.3, abs=0.03), pytest.approx(2.82, abs=0.05)]


def test_a_recording_can_start_a_while_after_the_agents_first_sound() -> None:
    begins = call([recording(1, 0.5), recording(2, 0.5, 1.2)], agent=lambda now: 0.5 < now < 9, started=(2.0,))
    assert begins[1] == pytest.approx(3.2, abs=0.03)


def test_a_recording_that_waits_for_an_agent_who_says_nothing_starts_anyway() -> None:
    begins = call([recording(1, 0.5), recording(2, 0.5, 1.2)], agent=lambda now: False)
    assert begins[1] == pytest.approx(3.0, abs=0.1)


def test_a_caller_whose_agent_never_falls_silent_hangs_up_in_the_end() -> None:
    assert len(call([recording(1, 0.5)], agent=lambda now: now > 0.6)) == 1


def test_what_hearing_a_frame_raises_ends_the_caller() -> None:
    def hear(_: Frame) -> None:
        raise ValueError("no ears")

    clock = VirtualClock()
    with pytest.raises(ValueError, match="no ears"):
        clock.run(RecordedCaller(clock, [Recording(frame=Frame(sound(1.0), RATE))]).run(hear, lambda: True))


def test_a_caller_who_is_cut_off_says_nothing_more() -> None:
    heard: list[float] = []
    clock = VirtualClock()

    async def run() -> None:
        caller = RecordedCaller(clock, [Recording(frame=Frame(sound(1.0), RATE))])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await caller.run(lambda _: heard.append(clock.now()), lambda: True)
        await clock.sleep(1.0)

    clock.run(run())
    assert heard
    assert max(heard) <= 0.5


def test_a_caller_with_a_button_holds_it_from_the_first_sample_of_each_recording_to_the_last() -> None:
    clock = VirtualClock()
    seen: list[str] = []

    async def run() -> None:
        caller = RecordedCaller(clock, [Recording(frame=Frame(sound(0.05, value), RATE)) for value in (1, 2)])
        caller.attend(began=lambda: seen.append("pressed"), ended=lambda: seen.append("let go"))

        def hear(frame: Frame) -> None:
            seen.extend(str(value) for value in np.unique(frame.samples) if value)

        await caller.run(hear, lambda: True)

    clock.run(run())
    assert seen == ["pressed", "1", "1", "1", "let go", "pressed", "2", "2", "2", "let go"]
