"""A watch on an event loop: how much CPU each callback uses in the loop's own thread."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Callback", "LoopWatch", "watched"]

KEPT = 10
"""Callbacks remembered, the worst ones."""


@dataclass(frozen=True, slots=True, order=True)
class Callback:
    """One run of one callback."""

    seconds: float
    """Of the thread's CPU; what other threads and processes do meanwhile does not count."""
    name: str
    collected_s: float
    """Of it, spent in the garbage collector."""

    def __str__(self) -> str:
        collecting = f" ({self.collected_s * 1000:.1f} of it collecting garbage)" if self.collected_s else ""
        return f"{self.seconds * 1000:.1f} ms {self.name}{collecting}"


@dataclass(slots=True)
class LoopWatch:
    """What was seen."""

    callbacks: int = 0
    total_s: float = 0.0
    """Of the thread's CPU, all callbacks together."""
    worst: list[Callback] = field(default_factory=list)
    """The ``KEPT`` most expensive runs, worst first."""
    longest_collection_s: float = 0.0
    """The longest garbage collection."""

    def saw(self, callback: Callback) -> None:
        """Take one run."""
        self.callbacks += 1
        self.total_s += callback.seconds
        if len(self.worst) < KEPT or callback > self.worst[-1]:
            self.worst = sorted([*self.worst, callback], reverse=True)[:KEPT]


@contextmanager
def watched() -> Iterator[LoopWatch]:
    """Watch every loop that runs inside the block. Not to be nested."""
    watch = LoopWatch()
    handles: Any = asyncio.Handle
    run = handles._run
    collecting = began = 0.0

    def measured(handle: Any) -> None:
        nonlocal collecting
        collecting = 0.0
        name = _name(handle._callback)
        start = time.thread_time()
        run(handle)
        watch.saw(Callback(seconds=time.thread_time() - start, name=name, collected_s=collecting))

    def collected(phase: str, _info: dict[str, int]) -> None:
        nonlocal collecting, began
        if phase == "start":
            began = time.thread_time()
        else:
            collecting += time.thread_time() - began
            watch.longest_collection_s = max(watch.longest_collection_s, time.thread_time() - began)

    handles._run = measured
    gc.callbacks.append(collected)
    try:
        yield watch
    finally:
        gc.callbacks.remove(collected)
        handles._run = run


def _name(callback: Any) -> str:
    """Name who runs: a task by its coroutine, anything else by itself."""
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        coroutine = owner.get_coro()
        return f"task {getattr(coroutine, '__qualname__', coroutine)}"
    return str(getattr(callback, "__qualname__", callback))
