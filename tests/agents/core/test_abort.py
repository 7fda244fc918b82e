from __future__ import annotations

import asyncio

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError


async def guarded(signal: AbortSignal, started: asyncio.Event) -> str:
    with signal.guard():
        started.set()
        await asyncio.Event().wait()
    return "never"


async def test_abort_ends_the_wait_with_its_first_reason_and_the_task_goes_on() -> None:
    signal, started = AbortSignal(), asyncio.Event()

    async def work() -> str:
        with pytest.raises(AbortError, match=r"^first$"):
            await guarded(signal, started)
        await asyncio.sleep(0)
        return "went on"

    task = asyncio.ensure_future(work())
    await started.wait()
    signal.abort("first")
    signal.abort("second")
    assert await task == "went on"
    assert signal.aborted


async def test_a_signal_that_is_set_lets_nothing_begin() -> None:
    signal = AbortSignal()
    signal.raise_if_aborted()
    signal.abort()
    with pytest.raises(AbortError):
        await guarded(signal, asyncio.Event())


async def test_a_cancellation_from_elsewhere_stays_one() -> None:
    signal, started = AbortSignal(), asyncio.Event()
    task = asyncio.ensure_future(guarded(signal, started))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_together_with_an_abort_stays_one() -> None:
    signal, started = AbortSignal(), asyncio.Event()
    task = asyncio.ensure_future(guarded(signal, started))
    await started.wait()
    signal.abort()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_abort_from_within_the_task_comes_at_its_next_wait() -> None:
    signal = AbortSignal()
    with pytest.raises(AbortError), signal.guard():
        signal.abort()
        await asyncio.Event().wait()
    await asyncio.sleep(0)


async def test_work_that_is_done_when_the_abort_comes_is_done() -> None:
    signal = AbortSignal()
    with signal.guard():
        signal.abort()
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_guards_inside_each_other_are_all_ended() -> None:
    signal, started = AbortSignal(), asyncio.Event()

    async def outer() -> None:
        with signal.guard():
            await guarded(signal, started)

    task = asyncio.ensure_future(outer())
    await started.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await task
