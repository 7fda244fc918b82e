"""A lane: one worker thread for one engine; its jobs run one at a time, and wait their turn on the clock.

Not bound to an event loop: calls on several loops may share an engine. A job is done, and the lane free for the next
one, when its charge has passed on the clock of the call that submitted it.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum, auto
from functools import partial
from typing import Any, TypeVar

from pipelines.clock import Clock, Lease

__all__ = ["Job", "Lane"]

T = TypeVar("T")


class _JobState(Enum):
    WAITING = auto()
    RUNNING = auto()
    OVER = auto()


class Job:
    """A piece of work in a lane."""

    def __init__(self, clock: Clock, work: Callable[[], Any], done: Callable[[Future[Any]], None]) -> None:
        self.clock = clock
        self.loop = asyncio.get_running_loop()
        self.work = work
        self.done = done
        self.state = _JobState.WAITING
        self.wanted = True

    def cancel(self) -> None:
        """Take it out of the lane; one that has started runs on and its result is dropped. Idempotent."""
        self.wanted = False

    @property
    def started(self) -> bool:
        """Whether the lane has begun it."""
        return self.state is not _JobState.WAITING


class Lane:
    """One worker thread with a queue ordered by priority, first come first served within one.

    The queue is not bounded here: engines bound what each call may have outstanding.

    Args:
        name: names the thread, and the holder of its leases.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._guard = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, Job]] = []
        self._running: Job | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def submit(
        self, clock: Clock, fn: Callable[..., T], *args: Any, priority: int = 0, done: Callable[[Future[T]], None]
    ) -> Job:
        """Queue a job; called on the submitting call's loop, returns at once.

        Args:
            clock: whose time is charged.
            fn: what to run in the lane's thread, with ``args``.
            priority: lower goes first.
            done: called on the same loop with the finished future, unless the job was cancelled.
        """
        job = Job(clock, partial(fn, *args), done)
        with self._guard:
            heapq.heappush(self._waiting, (priority, next(self._order), job))
        self._advance()
        return job

    async def run(self, clock: Clock, fn: Callable[..., T], *args: Any, priority: int = 0) -> T:
        """Run a job and wait for it. Cancelling is safe: a job that has not started is taken out."""
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def deliver(future: Future[T]) -> None:
            if waiter.done():
                return
            if (error := future.exception()) is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(future.result())

        job = self.submit(clock, fn, *args, priority=priority, done=deliver)
        try:
            return await waiter
        finally:
            job.cancel()

    def _advance(self) -> None:
        """Start the next wanted job if the lane is free. Any thread."""
        with self._guard:
            if self._running is not None and not self._running.loop.is_closed():
                return
            self._running = None
            while self._waiting and self._running is None:
                _, _, job = heapq.heappop(self._waiting)
                if job.wanted and not job.loop.is_closed():
                    self._running = job
            job_to_start = self._running
        if job_to_start is None:
            return
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if job_to_start.loop is here:
            self._start(job_to_start)
        else:
            self._on_loop(job_to_start, self._start, job_to_start)

    def _start(self, job: Job) -> None:
        job.state = _JobState.RUNNING
        lease = job.clock.lease(self.name)
        future = self._thread.submit(job.work)
        future.add_done_callback(lambda finished: self._on_loop(job, self._finish, job, lease, finished))

    def _finish(self, job: Job, lease: Lease, future: Future[Any]) -> None:
        resumes = lease.release()
        if resumes <= job.clock.now():
            self._deliver(job, future)
        else:
            job.clock.call_at(resumes, self._deliver, job, future)

    def _deliver(self, job: Job, future: Future[Any]) -> None:
        job.state = _JobState.OVER
        try:
            if job.wanted:
                job.done(future)
        finally:
            self._leave(job)

    def _leave(self, job: Job) -> None:
        """Free the lane of a job, if it still has it, and go on with the next one. Any thread."""
        with self._guard:
            if self._running is job:
                self._running = None
        self._advance()

    def _on_loop(self, job: Job, callback: Callable[..., None], *args: Any) -> None:
        try:
            job.loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:  # the call's loop was closed meanwhile: nobody waits for the result
            self._leave(job)
