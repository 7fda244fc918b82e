from __future__ import annotations

import pytest

from pipelines.clock import VirtualClock
from voice_server.telemetry.loop import EVERY_S, LoopWatch


def test_a_loop_on_time_is_not_late_and_a_closed_watch_looks_no_more() -> None:
    clock = VirtualClock()
    seen: list[float] = []

    async def watch() -> None:
        watching = LoopWatch(clock, seen.append)
        await clock.sleep(EVERY_S * 4.5)
        watching.close()
        watching.close()
        await clock.sleep(EVERY_S * 4)

    clock.run(watch())
    assert seen == [pytest.approx(0.0)] * 4


class _Busy(VirtualClock):
    """A clock that somebody keeps busy when it is to ring."""

    def now(self) -> float:
        return super().now() + self.behind

    behind = 0.0


def test_a_loop_that_is_hogged_is_seen_to_be_late() -> None:
    clock = _Busy()
    seen: list[float] = []

    async def watch() -> None:
        watching = LoopWatch(clock, seen.append)
        clock.behind = 0.2
        await clock.sleep(EVERY_S * 1.5)
        watching.close()

    clock.run(watch())
    assert seen == [pytest.approx(0.2)]
