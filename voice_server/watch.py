"""A watch: reads how an agent's goals and forms stand after every change.

It reads in a task of its own, so that nobody waits for it, and only once when much changes at a time. Above: a call and
a chat have one each. Below: :class:`~agents.core.progress.Progress`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from agents.core.progress import Progress, ProgressKind

__all__ = ["Take", "Watch", "watching"]

_log = logging.getLogger(__name__)

Take: TypeAlias = Callable[[ProgressKind, Any], None]
"""Takes how something stands, as ``Progress.read`` gives it; called on the loop, returns at once."""


class Watch:
    """Watches from the beginning of :meth:`run` to :meth:`close`.

    Args:
        progress: what is watched.
        take: takes how it stands: in the beginning, and after every change.
    """

    def __init__(self, progress: Progress, take: Take) -> None:
        self._progress = progress
        self._take = take
        self._changed: set[ProgressKind] = {"goals", "forms"}
        self._news = asyncio.Event()
        self._news.set()
        self._quiet = asyncio.Event()
        """Set while all that changed was taken."""
        self._closed = False
        self._stop_listening = progress.add_listener(self._note)

    async def run(self) -> None:
        """Read, until it is closed; what cannot be read is tried again after the next change."""
        try:
            while not self._closed:
                await self._news.wait()
                self._news.clear()
                while self._changed:
                    await self._read(self._changed.pop())
                self._quiet.set()
        finally:
            self.close()

    async def settle(self) -> None:
        """Wait until all that changed so far was taken, while it is watched."""
        if not self._closed:
            await self._quiet.wait()

    def close(self) -> None:
        """Watch no longer. Idempotent."""
        self._closed = True
        self._stop_listening()
        self._changed.clear()
        self._news.set()
        self._quiet.set()

    def _note(self, kind: ProgressKind) -> None:
        self._changed.add(kind)
        self._quiet.clear()
        self._news.set()

    async def _read(self, kind: ProgressKind) -> None:
        try:
            stands = await self._progress.read(kind)
        except Exception as error:  # noqa: BLE001 - the boundary to an agent's store
            _log.warning("how the %s stand could not be read: %s", kind, type(error).__name__)
            return
        if not self._closed:
            self._take(kind, stands)


@asynccontextmanager
async def watching(progress: Progress, take: Take) -> AsyncIterator[None]:
    """Watch meanwhile; what changed before the end is taken, unless it ends with an error."""
    watch = Watch(progress, take)
    failure: Exception | None = None
    async with asyncio.TaskGroup() as group:
        group.create_task(watch.run(), name="watch")
        try:
            yield
            await watch.settle()
        except Exception as error:  # noqa: BLE001 - taken out of the group, which would wrap it
            failure = error
        finally:
            watch.close()
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # Its traceback holds this frame: together they would be a cycle.
