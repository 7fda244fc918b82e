from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from pipelines.clock import Clock, VirtualClock, fixed, held
from pipelines.leased import Leased


class Archive:
    name = "archive"

    def __init__(self) -> None:
        self.kept: list[str] = []

    async def keep(self, text: str, *, twice: bool = False) -> int:
        # Real work in a thread: on virtual time nobody could wait for it without a lease.
        with ThreadPoolExecutor(1) as threads:
            await asyncio.get_running_loop().run_in_executor(threads, self.kept.extend, [text] * (1 + twice))
        return len(self.kept)

    def count(self) -> int:
        return len(self.kept)


def test_work_is_charged_and_time_stands_still_meanwhile() -> None:
    clock = VirtualClock(fixed(store=0.25))
    archive = Archive()

    async def main() -> tuple[int, float]:
        leased = Leased(archive, clock, "store")
        clock.call_at(0.1, archive.kept.append, "a timer")
        kept = await leased.keep("a", twice=True)
        return kept, clock.now()

    assert clock.run(main()) == (2, 0.25)
    assert archive.kept == ["a", "a", "a timer"]


def test_what_is_no_work_is_handed_on() -> None:
    clock = VirtualClock()
    leased = Leased(Archive(), clock, "store")
    assert (leased.name, leased.count()) == ("archive", 0)
    assert getattr(leased, "delete", None) is None


def test_work_inside_leased_work_is_part_of_it() -> None:
    clock = VirtualClock(fixed(store=0.25, tool=0.5))

    async def main(clock: Clock) -> float:
        leased = Leased(Archive(), clock, "store")
        async with held(clock, "tool"):
            await leased.keep("a")
        return clock.now()

    assert clock.run(main(clock)) == 0.5
