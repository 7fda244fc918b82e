"""One request at a time: whoever comes later waits, and what may be slow makes way for whoever waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

__all__ = ["Floor"]


class Speaker(Protocol):
    """Somebody who has the floor."""

    def make_way(self) -> None:
        """Be done soon. Idempotent."""
        ...


class Floor:
    """Given to one after the other, in the order asked."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._speaker: Speaker | None = None
        self._urgent = 0

    @property
    def free(self) -> bool:
        """Whether nobody has it."""
        return not self._lock.locked()

    @asynccontextmanager
    async def taken(self, speaker: Speaker | None, *, urgent: bool) -> AsyncIterator[None]:
        """Wait for the floor and have it inside.

        Args:
            speaker: who asks; ``None``: somebody who is done soon anyway.
            urgent: whether whoever has it should make way: a person waits for an answer.
        """
        if urgent and self._speaker is not None:
            self._speaker.make_way()
        self._urgent += urgent
        try:
            await self._lock.acquire()
        finally:
            self._urgent -= urgent
        self._speaker = speaker
        if self._urgent and speaker is not None:
            speaker.make_way()
        try:
            yield
        finally:
            self._speaker = None
            self._lock.release()
