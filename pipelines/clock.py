"""The one clock of a call: real time, or virtual time that jumps to the next timer and is charged for real work.

Logic takes ``now`` as an argument; drivers take a :class:`Clock`. On virtual time an hour of calls takes seconds and
gives the same result every run: the loop never sleeps, it moves its own time to the next timer as soon as nothing is
ready. Real work (an engine in a thread, a model over a socket) cannot jump. Whoever does it holds a *lease*: time
stands still at the lease's start t0 while the work runs, and its holder resumes at t0 + *charge*; timers due before
that fire first, at their own time.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias, TypeVar

__all__ = [
    "LEASE_LIMIT_S",
    "Charge",
    "Clock",
    "ClockError",
    "DeadlockError",
    "HolderWaitsError",
    "Holding",
    "Lease",
    "LeaseExpiredError",
    "RealClock",
    "Timer",
    "VirtualClock",
    "fixed",
    "held",
    "held_items",
    "is_holding",
    "measured",
]

T = TypeVar("T")

LEASE_LIMIT_S = 60.0
"""Real seconds a lease may be held before the run fails: longer than any engine's job, shorter than a CI step."""

RESOLUTION_S = 1e-9
"""Virtual seconds: timers closer together than this fire together."""

DEADLOCK_LIMIT_S = 5.0
"""Real seconds to wait for a thread or socket when no timer is set and no lease is held: time to join an executor."""


class ClockError(Exception):
    """Root of the clock's errors: ``LeaseExpiredError``, ``DeadlockError``, ``HolderWaitsError``."""


class LeaseExpiredError(ClockError):
    """A lease was not released in time; the run cannot go on."""

    def __init__(self, holders: list[str]) -> None:
        self.holders = holders
        super().__init__(
            f"virtual time stood still for {LEASE_LIMIT_S:.0f} real seconds because of the lease of "
            f"{', '.join(repr(holder) for holder in holders)}; release it when the work is done"
        )


class DeadlockError(ClockError):
    """Nothing can ever happen on this virtual loop: no timer, no lease, nothing ready."""

    def __init__(self) -> None:
        super().__init__(
            "every task waits, but no timer is set and no lease is held; something that does real work must hold one"
        )


class HolderWaitsError(ClockError, AssertionError):
    """A lease's holder waited on the clock that its own lease stops. Misuse, hence also an AssertionError."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"{holder!r} waits on the clock while it holds a lease; release the lease before sleeping")


class Timer(Protocol):
    """A callback that is due at a time."""

    def cancel(self) -> None:
        """Make it never fire. Idempotent."""
        ...


class Lease(Protocol):
    """Time held still while real work is done."""

    def release(self) -> float:
        """End the work. Idempotent.

        Returns:
            The time, in the clock's seconds, at which the holder may go on.
        """
        ...


class Clock(Protocol):
    """Time, as a driver sees it. Used from within a running event loop."""

    def now(self) -> float:
        """Seconds, monotonic, from an arbitrary origin."""
        ...

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call back at a time (seconds of this clock); a time that has passed means as soon as possible."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait. Cancelling is safe.

        Raises:
            HolderWaitsError: the task holds a lease.
        """
        ...

    def lease(self, holder: str) -> Lease:
        """Take a lease at this moment.

        Args:
            holder: who does the work, for messages and for charges.
        """
        ...


Charge: TypeAlias = Callable[[str, float], float]
"""From a lease's holder and the real seconds its work took to the virtual seconds it costs."""


def fixed(seconds: float = 0.0, **by_holder: float) -> Charge:
    """Charge the same every time, so that a run is exactly repeatable.

    Args:
        seconds: what a lease costs.
        by_holder: what a lease of this holder costs instead.
    """
    costs: Mapping[str, float] = by_holder
    return lambda holder, _took: costs.get(holder, seconds)


def measured(_holder: str, took: float) -> float:
    """Charge what the work really took."""
    return took


_holding: ContextVar[tuple[str, asyncio.Task[Any] | None] | None] = ContextVar("_holding", default=None)


def is_holding() -> bool:
    """Whether the current task does work that is leased already."""
    holding = _holding.get()
    return holding is not None and holding[1] is asyncio.current_task()


class _LoopClock:
    """What both clocks share: time is the running loop's time."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> Timer:
        return asyncio.get_running_loop().call_at(when, callback, *args)

    async def sleep(self, seconds: float) -> None:
        holding = _holding.get()
        if holding is not None and is_holding():
            raise HolderWaitsError(holding[0])
        await asyncio.sleep(seconds)


class _NoLease:
    def release(self) -> float:
        return asyncio.get_running_loop().time()


class RealClock(_LoopClock):
    """Wall-clock pace on the running loop; work takes the time it takes."""

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call back at a time, not before it and up to a millisecond later.

        uvloop knows whole milliseconds only: a timer due between two of them would fire before its time, and whoever
        then sets it again would be called over and over until its time has come (68 times, measured).
        """
        return super().call_at(math.ceil(when * 1000) / 1000, callback, *args)

    def lease(self, holder: str) -> Lease:
        """Take a lease that holds nothing still."""
        return _NoLease()


class _VirtualLease:
    def __init__(self, clock: VirtualClock, holder: str, started: float) -> None:
        self.holder = holder
        self.began = time.perf_counter()
        self._clock = clock
        self._started = started
        self._resumes: float | None = None

    def release(self) -> float:
        if self._resumes is None:
            self._resumes = self._started + self._clock.settle(self)
        return self._resumes


class VirtualClock(_LoopClock):
    """A loop of its own whose time jumps to the next timer when nothing is ready and no lease is held.

    Args:
        charge: what leased work costs; nothing by default. ``fixed(...)`` for tests, ``measured`` for true latencies.
    """

    def __init__(self, charge: Charge | None = None) -> None:
        self._charge = charge or fixed()
        self._leases: list[_VirtualLease] = []

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on virtual time, which starts at zero.

        Raises:
            LeaseExpiredError: a lease was held for more than ``LEASE_LIMIT_S`` real seconds.
            DeadlockError: nothing can ever happen any more.
        """
        with asyncio.Runner(loop_factory=lambda: _VirtualLoop(self)) as runner:
            return runner.run(main)

    def lease(self, holder: str) -> Lease:
        """Hold time still at this moment until the lease is released."""
        lease = _VirtualLease(self, holder, self.now())
        self._leases.append(lease)
        return lease

    def settle(self, lease: _VirtualLease) -> float:
        """End a lease and say what it costs, in seconds."""
        if lease in self._leases:
            self._leases.remove(lease)
        return max(0.0, self._charge(lease.holder, time.perf_counter() - lease.began))

    def patience(self) -> float:
        """Real seconds the loop may block now, waiting for whoever holds a lease."""
        if not self._leases:
            return DEADLOCK_LIMIT_S
        return max(0.0, self._leases[0].began + LEASE_LIMIT_S - time.perf_counter())

    def give_up(self) -> ClockError:
        """Drop all leases, so that the run can be torn down, and say what was wrong."""
        holders = [lease.holder for lease in self._leases]
        self._leases.clear()
        return LeaseExpiredError(holders) if holders else DeadlockError()

    @property
    def leased(self) -> bool:
        """Whether anybody does real work just now."""
        return bool(self._leases)


class _JumpingSelector(selectors.DefaultSelector):
    """The place where an event loop waits; this one moves virtual time instead.

    Args:
        clock: says whether time stands still.
        next_timer: when the next timer is due; asked only while there is one.
    """

    def __init__(self, clock: VirtualClock, next_timer: Callable[[], float]) -> None:
        super().__init__()
        self.time = 0.0
        self._clock = clock
        self._next_timer = next_timer

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is not None and not self._clock.leased:
            # Not by the timeout: a sum of floats may miss the timer, and a timer must not see itself fire early.
            self.time = max(self.time, self._next_timer())
            return ready
        ready = super().select(self._clock.patience())
        if not ready:
            raise self._clock.give_up()
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    _scheduled: list[asyncio.TimerHandle]
    """The loop's own heap of timers; what was cancelled is off its top whenever the loop waits."""

    def __init__(self, clock: VirtualClock) -> None:
        self._jumping = _JumpingSelector(clock, self._next_timer)
        super().__init__(self._jumping)
        self._clock_resolution = RESOLUTION_S

    def time(self) -> float:
        return self._jumping.time

    def _next_timer(self) -> float:
        return self._scheduled[0].when()


class Holding:
    """Real work in progress, with its lease.

    Args:
        clock: whose time it stops.
        holder: who works.
    """

    def __init__(self, clock: Clock, holder: str) -> None:
        self._clock = clock
        self._holder = holder
        self._lease = clock.lease(holder)

    def end(self) -> float:
        """Release the lease; return when, on the clock, the holder may go on."""
        return self._lease.release()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Wait inside for somebody who does no work of yours, a person, say: time passes meanwhile.

        What was worked until now is charged first; afterwards there is a lease of its own for what is left.
        """
        token = _holding.set(None)
        try:
            await self._clock.sleep(self.end() - self._clock.now())
            yield
        finally:
            _holding.reset(token)
            self._lease = self._clock.lease(self._holder)


@asynccontextmanager
async def held(clock: Clock, holder: str) -> AsyncIterator[Holding]:
    """Do real work inside: the block ends, on the clock, when its charge has passed.

    Cancelling is safe: the lease is released at once.
    """
    holding = Holding(clock, holder)
    token = _holding.set((holder, asyncio.current_task()))
    try:
        yield holding
    finally:
        _holding.reset(token)
        resumes = holding.end()
    await clock.sleep(resumes - clock.now())


async def held_items(clock: Clock, holder: str, items: AsyncIterator[T]) -> AsyncIterator[T]:
    """Pass on a stream, leasing the wait for each item separately; the stream is closed with this one."""
    try:
        while True:
            async with held(clock, holder):
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
            yield item
    finally:
        if (aclose := getattr(items, "aclose", None)) is not None:
            await aclose()
