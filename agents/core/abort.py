"""Stop a request from outside, at whatever it is waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents.core.errors import AbortError

__all__ = ["AbortSignal"]


class AbortSignal:
    """Set once, by anybody; whoever works under :meth:`guard` is stopped at its current await.

    Not thread-safe: use it on the loop the work runs on.
    """

    def __init__(self) -> None:
        self._reason: str | None = None
        self._watchers: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether :meth:`abort` was called."""
        return self._reason is not None

    @property
    def reason(self) -> str:
        """Why; ``aborted`` while it is not set."""
        return self._reason or "aborted"

    def abort(self, reason: str = "aborted") -> None:
        """Stop the work. Idempotent; the first reason stays."""
        if self._reason is not None:
            return
        self._reason = reason
        for watcher in tuple(self._watchers):
            watcher()

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call somebody when the signal is set; at once when it is already.

        Returns:
            A function that ends it. Idempotent.
        """
        if self.aborted:
            watcher()
            return lambda: None
        self._watchers.append(watcher)

        def unwatch() -> None:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

        return unwatch

    def raise_if_aborted(self) -> None:
        """Check between two steps.

        Raises:
            AbortError: the signal is set.
        """
        if self._reason is not None:
            raise AbortError(self._reason)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn an abort into :class:`AbortError`, raised at the await the block is waiting in.

        The block runs in the current task, which is cancelled and, after the block has cleaned up, goes on. A
        cancellation from elsewhere passes through unchanged.

        Raises:
            AbortError: the signal was set before or during the block.
        """
        self.raise_if_aborted()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("guard() needs a running task")
        loop = asyncio.get_running_loop()
        already_cancelling = task.cancelling()
        stop: asyncio.Handle | None = None
        cancelled = False

        def cancel() -> None:
            nonlocal cancelled
            cancelled = True
            task.cancel()

        def watcher() -> None:
            # From the next tick on, because a task that aborts its own request could not be uncancelled in time.
            nonlocal stop
            stop = loop.call_soon(cancel)

        unwatch = self.watch(watcher)
        try:
            yield
        except asyncio.CancelledError:
            if cancelled and task.uncancel() <= already_cancelling:
                raise AbortError(self.reason) from None
            raise
        finally:
            unwatch()
            if stop is not None:
                stop.cancel()
