"""Leases: one worker at a time runs a batch of executors, and keeps it for as long as it works.

A worker that has died does not renew its lease, so that others take over soon; one that waits for somebody at a screen
does, however long it takes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar

from agents.core.errors import StoreError
from agents.forms.adapter import FormAdapter, Lease

__all__ = ["LEASE_S", "RENEW_S", "Leases"]

logger = logging.getLogger(__name__)

LEASE_S = 10.0
"""Seconds after which a worker that says nothing counts as dead: how long a form may stand still after a crash.

Twice what a commit may wait for a lock on SQLite, so that nobody is taken for dead who waits.
"""

RENEW_S = 3.0
"""Seconds between renewals: two of them may come to nothing."""

T = TypeVar("T")


class Leases:
    """The leases of one worker.

    Args:
        adapter: keeps them.
        owner: the worker's name, unlike any other's.
        now: the time.
    """

    def __init__(self, adapter: FormAdapter, owner: str, now: Callable[[], datetime]) -> None:
        self._adapter = adapter
        self._owner = owner
        self._now = now

    def fresh(self, batch_id: str) -> Lease:
        """A lease that begins now."""
        return Lease(batch=batch_id, owner=self._owner, until=self._now() + timedelta(seconds=LEASE_S))

    async def claim(self, instance_id: str, batch_id: str) -> bool:
        """Take a batch, or keep it.

        Returns:
            Whether this worker has it; if not, another is at it.
        """
        return await self._adapter.claim(instance_id, self.fresh(batch_id), now=self._now())

    async def release(self, instance_id: str, batch_id: str) -> None:
        """Let others have a batch at once; when that fails, they have it when the lease runs out."""
        with suppress(StoreError):
            await self._adapter.release(instance_id, batch_id, owner=self._owner)

    async def keep(self, instance_id: str, batch_id: str, work: Callable[[], Awaitable[T]]) -> T:
        """Work on a batch that this worker has, and keep it meanwhile. When the work fails, others may take it up.

        Raises:
            Exception: what the work raises.
        """
        done = asyncio.Event()
        outcome: list[T] = []
        failure: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._renew(instance_id, batch_id, done))
                try:
                    outcome.append(await work())
                except BaseException as exc:  # noqa: BLE001 - raised below, where it is not made one of a group
                    failure = exc
                done.set()
            if failure is not None:
                raise failure
        finally:
            if not outcome:
                await self.release(instance_id, batch_id)
        return outcome.pop()

    async def _renew(self, instance_id: str, batch_id: str, done: asyncio.Event) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RENEW_S):
                    await done.wait()
                return
            try:
                if not await self.claim(instance_id, batch_id):
                    logger.warning("another worker took over executors of a form that still run here")
                    return
            except StoreError as exc:
                logger.warning("the lease of a form's executors could not be renewed: %s", exc)
