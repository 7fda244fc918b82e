from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import partial

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from pipelines import clock as clock_module
from pipelines.clock import (
    DeadlockError,
    HolderWaitsError,
    Lease,
    LeaseExpiredError,
    RealClock,
    VirtualClock,
    fixed,
    held,
    held_items,
    measured,
)
from pipelines.lane import Lane


def note(names: list[str], name: str, _finished: Future[object]) -> None:
    names.append(name)


def in_a_thread(seconds: float = 0.02) -> asyncio.Future[None]:
    return asyncio.ensure_future(asyncio.to_thread(threading.Event().wait, seconds))  # type: ignore[arg-type]


def test_an_hour_passes_in_an_instant() -> None:
    began = time.perf_counter()

    async def story() -> float:
        await asyncio.sleep(3600)
        return clock.now()

    clock = VirtualClock()
    assert clock.run(story()) == 3600.0
    assert time.perf_counter() - began < 2.0


@given(st.lists(st.integers(min_value=0, max_value=10_000), min_size=1, max_size=30))
def test_every_timer_fires_at_its_own_time_in_order(delays_ms: list[int]) -> None:
    clock = VirtualClock()
    fired: list[tuple[float, float]] = []

    async def story() -> None:
        for delay in delays_ms:
            due = delay / 1000
            clock.call_at(due, lambda due=due: fired.append((due, clock.now())))
        await clock.sleep(11)

    clock.run(story())
    assert [due for due, _ in fired] == sorted(delay / 1000 for delay in delays_ms)
    assert all(due == at for due, at in fired)


def test_a_timer_never_sees_itself_fire_early_however_its_time_was_computed() -> None:
    clock = VirtualClock()
    early: list[float] = []

    async def story() -> None:
        when = 0.0
        for n in range(1, 2000):
            when += 0.1 / n
            clock.call_at(when, lambda when=when: early.append(when - clock.now()))
            await asyncio.sleep(0.0317 / n)
        await clock.sleep(10)

    clock.run(story())
    assert max(early) <= 1e-9
    assert len(early) == 1999


def test_time_passes_even_between_timers_that_differ_by_a_rounding_error() -> None:
    clock = VirtualClock()
    when = 2.462082
    rounded = when + 3e-16 * 4

    async def story() -> int:
        rearmed = 0
        done = asyncio.get_running_loop().create_future()

        def due() -> None:
            nonlocal rearmed
            rearmed += 1
            if clock.now() >= rounded:
                done.set_result(None)
            else:
                assert rearmed < 5
                clock.call_at(rounded, due)

        clock.call_at(when, lambda: None).cancel()
        clock.call_at(rounded, due)
        await done
        return rearmed

    assert clock.run(story()) <= 2


def test_time_stands_still_while_a_lease_is_held() -> None:
    clock = VirtualClock()
    fired: list[float] = []

    async def story() -> None:
        await clock.sleep(1.0)
        clock.call_at(1.001, lambda: fired.append(clock.now()))
        async with held(clock, "engine"):
            await in_a_thread()
            assert clock.now() == 1.0
            assert fired == []
        assert clock.now() == 1.0
        await clock.sleep(0.5)
        assert fired == [1.001]

    clock.run(story())


def test_timers_due_within_the_charge_fire_first_at_their_exact_time() -> None:
    clock = VirtualClock(fixed(engine=0.3))
    seen: list[tuple[str, float]] = []

    async def story() -> None:
        for due in (0.1, 0.29, 0.31):
            clock.call_at(due, lambda due=due: seen.append((f"timer {due}", clock.now())))
        async with held(clock, "engine"):
            await in_a_thread()
        seen.append(("holder", clock.now()))
        await clock.sleep(1)

    clock.run(story())
    assert seen == [("timer 0.1", 0.1), ("timer 0.29", 0.29), ("holder", 0.3), ("timer 0.31", 0.31)]


def test_overlapping_leases_overlap() -> None:
    clock = VirtualClock(fixed(slow=0.5, quick=0.2))
    resumed: dict[str, float] = {}

    async def work(holder: str) -> None:
        async with held(clock, holder):
            await in_a_thread()
        resumed[holder] = clock.now()

    async def story() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(work("slow"))
            group.create_task(work("quick"))

    clock.run(story())
    assert resumed == {"slow": 0.5, "quick": 0.2}


def test_a_measured_charge_is_what_the_work_took() -> None:
    clock = VirtualClock(measured)

    async def story() -> float:
        async with held(clock, "engine"):
            await in_a_thread(0.05)
        return clock.now()

    assert 0.05 <= clock.run(story()) < 0.5


def test_a_holder_that_waits_on_the_clock_is_told_so() -> None:
    clock = VirtualClock()

    async def story() -> None:
        async with held(clock, "engine"):
            await clock.sleep(1)

    with pytest.raises(HolderWaitsError, match="'engine'"):
        clock.run(story())


def test_another_task_may_wait_while_a_lease_is_held() -> None:
    clock = VirtualClock(fixed(0.2))

    async def story() -> float:
        async with asyncio.TaskGroup() as group, held(clock, "engine"):
            waiting = group.create_task(clock.sleep(0.1))
            await in_a_thread()
        assert waiting.done()
        return clock.now()

    assert clock.run(story()) == 0.2


def test_a_lease_that_is_never_released_fails_the_run_and_names_its_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "LEASE_LIMIT_S", 0.05)
    clock = VirtualClock()

    async def story() -> None:
        clock.lease("forgetful engine")
        await clock.sleep(1)

    with pytest.raises(LeaseExpiredError, match="forgetful engine"):
        clock.run(story())


def test_a_run_in_which_nothing_can_happen_is_called_a_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "DEADLOCK_LIMIT_S", 0.05)

    async def story() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(DeadlockError, match="no lease"):
        VirtualClock().run(story())


def test_a_cancelled_holder_releases_its_lease() -> None:
    clock = VirtualClock(fixed(5.0))

    async def work() -> None:
        async with held(clock, "engine"):
            await asyncio.get_running_loop().create_future()

    async def story() -> float:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await clock.sleep(1)
        assert task.cancelled()
        return clock.now()

    assert clock.run(story()) == 1.0


def test_a_stream_leases_each_item_separately() -> None:
    clock = VirtualClock(fixed(0.1))

    async def tokens() -> AsyncIterator[int]:
        for n in range(3):
            await in_a_thread(0.001)
            yield n

    async def story() -> list[tuple[int, float]]:
        seen = []
        async for item in held_items(clock, "model", tokens()):
            seen.append((item, round(clock.now(), 6)))
            await clock.sleep(0.05)
        return seen

    assert clock.run(story()) == [(0, 0.1), (1, 0.25), (2, 0.4)]


def test_a_job_starts_when_its_lane_is_free() -> None:
    clock = VirtualClock(fixed(0.3))
    lane = Lane("ears")

    async def story() -> list[float]:
        async def job() -> float:
            await lane.run(clock, threading.Event().wait, 0.001)
            return clock.now()

        async with asyncio.TaskGroup() as group:
            first = group.create_task(job())
            await clock.sleep(0.1)
            second = group.create_task(job())
        return [first.result(), second.result()]

    assert clock.run(story()) == [0.3, 0.6]


def test_a_more_urgent_job_overtakes_those_that_wait() -> None:
    clock = VirtualClock(fixed(0.3))
    lane = Lane("ears")
    order: list[str] = []

    async def story() -> None:
        for name, priority in (("running", 1), ("partial", 1), ("final", 0)):
            lane.submit(clock, str, priority=priority, done=partial(note, order, name))
        await clock.sleep(2)

    clock.run(story())
    assert order == ["running", "final", "partial"]


def test_a_job_cancelled_while_it_waits_never_runs_and_one_that_runs_is_finished_unheard() -> None:
    clock = VirtualClock(fixed(0.3))
    lane = Lane("ears")
    ran: list[str] = []
    told: list[str] = []

    async def story() -> float:
        jobs = [lane.submit(clock, ran.append, name, done=partial(note, told, name)) for name in ("a", "b")]
        for job in jobs:
            job.cancel()
        await lane.run(clock, ran.append, "c")
        return clock.now()

    assert clock.run(story()) == 0.6
    assert ran == ["a", "c"]
    assert told == []


def test_a_lane_survives_the_loop_that_used_it() -> None:
    lane = Lane("ears")

    async def leave() -> None:
        lane.submit(RealClock(), threading.Event().wait, 0.05, done=lambda _f: None)

    async def come_after() -> str:
        return await lane.run(RealClock(), str, "heard")

    asyncio.run(leave())
    assert asyncio.run(come_after()) == "heard"


def test_an_error_in_a_lane_reaches_whoever_waits() -> None:
    clock = VirtualClock()

    async def story() -> None:
        await Lane("ears").run(clock, int, "not a number")

    with pytest.raises(ValueError, match="not a number"):
        clock.run(story())


def test_a_lane_outlives_whoever_fails_to_take_a_result() -> None:
    clock = VirtualClock(fixed(0.1))
    lane = Lane("ears")
    complaints: list[str] = []

    def fail(_finished: Future[str]) -> None:
        raise ValueError("not wanted")

    async def story() -> str:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: complaints.append(str(what["exception"])))
        lane.submit(clock, str, "heard", done=fail)
        async with asyncio.timeout(5):
            return await lane.run(clock, str, "heard too")

    assert clock.run(story()) == "heard too"
    assert len(complaints) == 1


def test_a_job_whose_loop_was_closed_does_not_free_the_lane_for_two_at_once() -> None:
    lane = Lane("ears")
    go_on = threading.Event()
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        running.append(1)
        most.append(sum(running))
        threading.Event().wait(0.02)
        running.pop()

    class Counting(RealClock):
        """Counts the leases taken at once: what a call is charged for."""

        def __init__(self) -> None:
            self.taken = 0
            self.most = 0

        def lease(self, holder: str) -> Lease:
            self.taken += 1
            self.most = max(self.most, self.taken)
            return CountedLease(self)

    class CountedLease:
        def __init__(self, clock: Counting) -> None:
            self._clock = clock

        def release(self) -> float:
            self._clock.taken -= 1
            return self._clock.now()

    async def leave() -> None:
        lane.submit(RealClock(), go_on.wait, 5, done=lambda _f: None)

    async def come_after() -> int:
        clock = Counting()
        jobs = [asyncio.create_task(lane.run(clock, work)) for _ in range(3)]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*jobs)
        return clock.most

    asyncio.run(leave())
    assert asyncio.run(come_after()) == 1


@pytest.mark.realtime
@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_real_timer_never_fires_before_its_time(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """On uvloop, which knows whole milliseconds only, it would; then it is set again until its time has come."""
    early = []

    async def main() -> None:
        clock = RealClock()
        for number in range(20):
            fired = asyncio.Event()
            due = clock.now() + 0.0011 + number * 0.00013
            clock.call_at(due, fired.set)
            await fired.wait()
            early.append(clock.now() < due)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())
    assert early == [False] * 20
