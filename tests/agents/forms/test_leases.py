"""One worker at a time runs a batch: others leave it alone while it works, however long, and take over when it died."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.core.errors import StoreError
from agents.forms.adapter import FormAdapter, Lease, MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effects, Patch
from agents.forms.field import ask
from agents.forms.leases import LEASE_S, RENEW_S
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from pipelines.clock import VirtualClock
from tests.agents.forms.scenes import NOW
from tests.agents.forms.test_runner import runner_of


class Step(FormStep, title="One"):
    name: str = ask("Name")
    out: str | None = ask("Out", default=None)


class World:
    """A clock that nobody waits for, and workers on one store."""

    def __init__(self, store: FormAdapter | None = None) -> None:
        self.clock = VirtualClock()
        self.store = store or MemoryForms()
        self.runs: list[tuple[str, float]] = []
        """By which worker an executor was run, and when."""

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.clock.now())

    def worker(self, name: str, *, takes_s: float = 0.0) -> FormRunner:
        async def run(ctx: FormContext[None]) -> Effects:
            self.runs.append((name, round(self.clock.now(), 3)))
            await self.clock.sleep(takes_s)
            return Patch({"out": f"by {name}"})

        form = Form("f", version=1, steps=[Step], name="F")
        form.checkpoint("go", when=lambda state: "name" in state.values, blocking=True)(run)
        return runner_of(form, self.store, now=self.now, owner=name)

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        self.clock.run(main)


class Deadly(MemoryForms):
    """Whoever stops working here gives nothing up: it died."""

    async def release(self, instance_id: str, batch_id: str, *, owner: str) -> None:
        raise StoreError("its process is gone")


def test_what_another_worker_runs_is_left_to_it_however_long_it_takes() -> None:
    world = World()

    async def main() -> None:
        one, two = world.worker("one", takes_s=10 * LEASE_S), world.worker("two")
        async with asyncio.TaskGroup() as group:
            group.create_task(one.start("f", {"name": "A"}))
            for _ in range(9):
                await world.clock.sleep(LEASE_S)
                await two.resume_hooks()
                assert (await two.status()).blocked_on == "go"
        assert (await two.values())["out"] == "by one"
        await two.resume_hooks()

    world.run(main())
    assert world.runs == [("one", 0.0)]


def test_what_a_worker_that_died_left_is_taken_over_when_its_lease_has_run_out_and_not_before() -> None:
    world = World(Deadly())

    async def main() -> None:
        one, two = world.worker("one", takes_s=600), world.worker("two")
        dying = asyncio.ensure_future(one.start("f", {"name": "A"}))
        await world.clock.sleep(RENEW_S + 1)
        dying.cancel()
        while "out" not in await two.values():
            await world.clock.sleep(1)
            await two.resume_hooks()

    world.run(main())
    assert world.runs == [("one", 0.0), ("two", RENEW_S + LEASE_S)]


def test_what_a_worker_gave_up_is_taken_over_at_once() -> None:
    world = World()

    async def main() -> None:
        stopped = asyncio.ensure_future(world.worker("one", takes_s=600).start("f", {"name": "A"}))
        await world.clock.sleep(1)
        stopped.cancel()
        await asyncio.wait({stopped})
        await world.worker("two").resume_hooks()

    world.run(main())
    assert world.runs == [("one", 0.0), ("two", 1.0)]


def test_of_workers_that_come_at_once_one_runs_what_was_left() -> None:
    world = World()

    async def main() -> None:
        stopped = asyncio.ensure_future(world.worker("one", takes_s=600).start("f", {"name": "A"}))
        await world.clock.sleep(1)
        stopped.cancel()
        await asyncio.wait({stopped})
        others = [world.worker(name, takes_s=5) for name in ("two", "three", "four")]
        await asyncio.gather(*(other.resume_hooks() for other in others))

    world.run(main())
    assert len(world.runs) == 2


def test_a_worker_that_was_taken_for_dead_is_not_heard_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    class Cut(MemoryForms):
        """The line to one of the workers is cut for a while."""

        cut = False

        async def claim(self, instance_id: str, lease: Lease, *, now: datetime) -> bool:
            if self.cut and lease.owner == "one":
                raise StoreError("the line is down")
            return await super().claim(instance_id, lease, now=now)

    store = Cut()
    world = World(store)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(world.worker("one", takes_s=3 * LEASE_S).start("f", {"name": "A"}))
            store.cut = True
            await world.clock.sleep(LEASE_S + 1)
            two = world.worker("two", takes_s=4 * LEASE_S)
            group.create_task(two.resume_hooks())
            await world.clock.sleep(1)
            store.cut = False
        assert (await two.values())["out"] == "by one", "who ends first is heard, and nobody twice"

    world.run(main())
    assert world.runs == [("one", 0.0), ("two", LEASE_S + 1)]
    said = [record.message for record in caplog.records]
    assert any("could not be renewed: the line is down" in line for line in said)
    assert said[-1] == "another worker took over executors of a form that still run here"


def test_what_had_ended_when_its_batch_was_claimed_is_not_run() -> None:
    class Late(MemoryForms):
        """Between reading an instance and claiming its batch, another worker ends it."""

        async def claim(self, instance_id: str, lease: Lease, *, now: datetime) -> bool:
            if lease.owner == "two":
                await first.resume_hooks()
            return await super().claim(instance_id, lease, now=now)

    world = World(Late())
    first = world.worker("first")

    async def main() -> None:
        stopped = asyncio.ensure_future(world.worker("one", takes_s=600).start("f", {"name": "A"}))
        await world.clock.sleep(1)
        stopped.cancel()
        await asyncio.wait({stopped})
        await world.worker("two").resume_hooks()

    world.run(main())
    assert world.runs == [("one", 0.0), ("first", 1.0)]
