from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import VirtualClock
from pipelines.vad.base import Upcoming
from pipelines.vad.detector import DetectorSettings
from pipelines.vad.rounds import FEW, MOST, WAIT_S, Rounds


class Stream:
    """A call's."""

    pending = 0

    def feed(self, samples: Samples) -> list[float]:
        return []

    def reset(self) -> None:
        pass


class Engine:
    """Remembers what was judged together."""

    name = "scripted"
    detector = DetectorSettings()

    def __init__(self, *, fails: bool = False) -> None:
        self.runs: list[list[Upcoming]] = []
        self._fails = fails

    def warm(self) -> None:
        pass

    def open(self) -> Stream:
        return Stream()

    def foresee(self, upcoming: Sequence[Upcoming]) -> None:
        self.runs.append(list(upcoming))
        if self._fails:
            raise RuntimeError("scripted")


class Stage:
    """Many calls, and what they heard when."""

    def __init__(self, engine: Engine, *, calls: int) -> None:
        self.clock = VirtualClock()
        self.engine = engine
        self.heard: list[tuple[float, int, Frame]] = []
        self.rounds = Rounds(engine, self.clock, lambda: calls)
        self.streams = [engine.open() for _ in range(calls)]

    def say(self, call: int, *, rate: int = 16_000) -> Frame:
        frame = Frame(np.zeros(320, np.int16), rate)
        self.rounds.hear(self.streams[call], frame, self._hear(call))
        return frame

    def _hear(self, call: int) -> Callable[[Frame], None]:
        return lambda frame: self.heard.append((self.clock.now(), call, frame))

    def until(self, seconds: float, tale: Callable[[], object]) -> None:
        async def run() -> None:
            tale()
            await self.clock.sleep(seconds)

        self.clock.run(run())


def test_a_few_calls_wait_for_nobody() -> None:
    stage = Stage(Engine(), calls=FEW)
    stage.until(1.0, lambda: [stage.say(call) for call in range(FEW)])
    assert [(at, call) for at, call, _ in stage.heard] == [(0.0, call) for call in range(FEW)]
    assert stage.engine.runs == []


def test_frames_of_many_calls_wait_a_moment_and_are_judged_together() -> None:
    stage = Stage(Engine(), calls=FEW + 1)
    stage.until(1.0, lambda: [stage.say(call) for call in range(5)])
    assert [call for _, call, _ in stage.heard] == list(range(5))
    assert [at for at, _, _ in stage.heard] == pytest.approx([WAIT_S] * 5)
    (run,) = stage.engine.runs
    assert [activity for activity, _ in run] == stage.streams[:5]
    assert all(samples is frame.samples for (_, samples), (_, _, frame) in zip(run, stage.heard, strict=True))


def test_a_call_hears_its_frames_in_order_and_each_is_foreseen_when_the_one_before_was_heard() -> None:
    stage = Stage(Engine(), calls=20)
    said: list[Frame] = []
    stage.until(1.0, lambda: said.extend([stage.say(0), stage.say(1), stage.say(0), stage.say(0)]))
    assert [frame for _, call, frame in stage.heard if call == 0] == [said[0], said[2], said[3]]
    assert [len(run) for run in stage.engine.runs] == [2, 1, 1]


def test_a_run_is_bounded() -> None:
    stage = Stage(Engine(), calls=40)
    stage.until(1.0, lambda: [stage.say(call) for call in range(40)])
    assert [len(run) for run in stage.engine.runs] == [MOST, MOST, 40 - 2 * MOST]
    assert [call for _, call, _ in stage.heard] == list(range(40))


def test_frames_of_another_rate_are_heard_in_their_turn_and_not_foreseen() -> None:
    stage = Stage(Engine(), calls=20)
    stage.until(1.0, lambda: [stage.say(0), stage.say(1, rate=48_000), stage.say(2)])
    assert [call for _, call, _ in stage.heard] == [0, 1, 2]
    assert [len(run) for run in stage.engine.runs] == [2]


def test_an_engine_that_fails_at_it_keeps_no_frame_back() -> None:
    stage = Stage(Engine(fails=True), calls=20)
    stage.until(1.0, lambda: [stage.say(0), stage.say(1)])
    assert [call for _, call, _ in stage.heard] == [0, 1]
