from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.audio.frame import Samples
from pipelines.clock import Clock, VirtualClock
from voice_server.livekit.output import QUEUE_MS, RoomOutput
from voice_server.livekit.spool import Spool

RATE = 1_000
GRAIN = 10


@dataclass
class FakeSource:
    """LiveKit's source as it was seen to behave: takes all, plays grains, waits while too much is queued."""

    clock: Clock
    played: list[tuple[float, Samples]] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    most: int = 0
    late: bool = False
    """Whether it takes what it was given only a moment later, as the SDK does."""
    _queue: Samples = field(default_factory=lambda: np.zeros(0, np.int16))

    @property
    def queued_duration(self) -> float:
        return len(self._queue) / RATE

    async def capture(self, samples: Samples) -> None:
        self.frames.append(len(samples))
        if self.late:
            await self.clock.sleep(0.001)
        self._queue = np.concatenate([self._queue, samples])
        self.most = max(self.most, len(self._queue))
        while self.queued_duration > QUEUE_MS / 1000:
            await self.clock.sleep(0.005)

    def clear_queue(self) -> None:
        self._queue = self._queue[:0]

    async def run(self) -> None:
        while True:
            await self.clock.sleep(0.01)
            if len(self._queue) >= GRAIN:
                self.played.append((self.clock.now(), self._queue[:GRAIN]))
                self._queue = self._queue[GRAIN:]

    @property
    def heard(self) -> list[int]:
        """What was played, without the silence that fills grains."""
        return [int(sample) for _, samples in self.played for sample in samples if sample]


@dataclass
class Story:
    clock: VirtualClock
    source: FakeSource
    output: RoomOutput
    reports: list[tuple[int, float, bool]] = field(default_factory=list)

    def says(self, first: int, count: int, epoch: int = 0) -> None:
        self.output.play(epoch, np.arange(first, first + count, dtype=np.int16))


@asynccontextmanager
async def _telling(clock: VirtualClock, *, late: bool = False) -> AsyncIterator[Story]:
    source = FakeSource(clock, late=late)
    output = RoomOutput(RATE, clock)
    story = Story(clock, source, output)
    output.attach(lambda epoch, played_s, *, final=False: story.reports.append((epoch, played_s, final)))
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(source.run()), group.create_task(output.run(source))]
        yield story
        for task in running:
            task.cancel()


def _run(story: object) -> None:
    clock = VirtualClock()
    clock.run(story(clock))  # type: ignore[operator]


def test_all_of_it_is_played_once_in_order_and_its_end_is_reported() -> None:
    async def story(clock: VirtualClock) -> None:
        async with _telling(clock) as told:
            for start in range(1, 998, 40):
                told.says(start, min(40, 998 - start))
                await clock.sleep(0.02)
            await clock.sleep(1.5)
        assert told.source.heard == list(range(1, 998))
        assert told.reports[-1] == (0, 0.997, False)
        assert all(count % GRAIN == 0 for count in told.source.frames)
        assert told.source.most <= RATE * QUEUE_MS / 1000 + RATE * 0.1

    _run(story)


def test_reports_come_ten_times_a_second_and_never_run_ahead() -> None:
    async def story(clock: VirtualClock) -> None:
        async with _telling(clock) as told:
            told.says(1, 1_000)
            for _ in range(200):
                await clock.sleep(0.01)
                if told.reports:
                    assert told.reports[-1][1] * RATE <= len(told.source.heard) + GRAIN
        assert len(told.reports) >= 9
        seconds = [played_s for _, played_s, _ in told.reports]
        assert seconds == sorted(seconds)

    _run(story)


@pytest.mark.parametrize("late", [False, True])
def test_it_goes_on_at_the_sample_where_it_was_paused(late: bool) -> None:
    async def story(clock: VirtualClock) -> None:
        async with _telling(clock, late=late) as told:
            told.says(1, 800)
            await clock.sleep(0.305)
            told.output.pause()
            await clock.sleep(0.005)
            silent = len(told.source.played)
            await clock.sleep(0.5)
            assert len(told.source.played) == silent
            told.output.unpause()
            await clock.sleep(1.0)
        assert told.source.heard == list(range(1, 801))
        assert told.reports[-1] == (0, 0.8, False)

    _run(story)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("paused", [False, True])
def test_after_a_clear_no_older_sample_is_played(late: bool, paused: bool) -> None:
    async def story(clock: VirtualClock) -> None:
        async with _telling(clock, late=late) as told:
            told.says(1, 300)
            await clock.sleep(0.2)
            told.says(301, 200)
            if paused:
                told.output.pause()
            told.output.clear(1)
            heard = len(told.source.heard)
            told.says(501, 100)
            told.says(10_000, 100, epoch=1)
            told.output.unpause()
            await clock.sleep(1.0)
        assert told.source.heard[heard:] == list(range(10_000, 10_100))
        assert told.reports[-1] == (1, 0.1, False)
        assert (0, heard / RATE, True) in told.reports

    _run(story)


def test_what_comes_before_the_room_is_joined_waits_for_it() -> None:
    async def story(clock: VirtualClock) -> None:
        output = RoomOutput(RATE, clock)
        output.attach(lambda epoch, played_s, *, final=False: None)
        output.play(0, np.arange(1, 51, dtype=np.int16))
        output.pause()
        output.unpause()
        source = FakeSource(clock)
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(source.run()), group.create_task(output.run(source))]
            await clock.sleep(0.3)
            await output.aclose()
            output.play(0, np.ones(10, np.int16))
            await clock.sleep(0.3)
            for task in running:
                task.cancel()
        assert source.heard == list(range(1, 51))

    _run(story)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.integers(1, 35)),
            st.tuples(st.just("take"), st.integers(1, 4)),
            st.tuples(st.just("fill"), st.integers(1, 4)),
            st.tuples(st.just("settle"), st.integers(0, 60)),
            st.tuples(st.just("back"), st.just(0)),
        ),
        max_size=60,
    )
)
def test_a_spool_loses_nothing_and_counts_what_left_it(steps: list[tuple[str, int]]) -> None:
    spool, put, out = Spool(GRAIN), 0, 0
    queued: list[int] = []
    played: list[int] = []
    for step, amount in steps:
        match step:
            case "put":
                spool.put(0, np.arange(put + 1, put + amount + 1, dtype=np.int16))
                put += amount
            case "take" | "fill":
                taken = spool.take(amount * GRAIN, fill=step == "fill")
                if taken is not None:
                    assert len(taken) % GRAIN == 0
                    queued += taken.tolist()
            case "settle":
                gone = max(0, len(queued) - amount)
                played += [sample for sample in queued[:gone] if sample]
                queued = queued[gone:]
                spool.settle(amount)
            case _:
                queued = []
                spool.take_back()
        out = len(played)
        assert spool.played(0) == out
        assert played == list(range(1, out + 1))
        assert spool.waiting + sum(1 for sample in queued if sample) + out == put
