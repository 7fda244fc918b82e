from __future__ import annotations

import asyncio
import time

from tests.bench.loop_watch import watched


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def test_a_callback_that_keeps_the_loop_is_found_and_named() -> None:
    async def greedy() -> None:
        await asyncio.sleep(0)
        burn(0.03)

    with watched() as watch:
        await asyncio.gather(greedy(), asyncio.to_thread(burn, 0.1))
        asyncio.get_running_loop().call_soon(burn, 0.02)
        await asyncio.sleep(0.001)
    greediest, second, *rest = watch.worst
    assert greediest.name.endswith("greedy")
    assert 0.03 <= greediest.seconds < 0.06
    assert second.name == "burn"
    assert all(callback.seconds < 0.01 for callback in rest), "what a thread burns is not the loop's"


async def test_waiting_is_not_work() -> None:
    with watched() as watch:
        await asyncio.sleep(0.05)
    assert all(callback.seconds < 0.01 for callback in watch.worst)
