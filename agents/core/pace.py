"""A seam for whoever keeps time: it wraps the waits of a request, a model's items and a tool's run."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from agents.core.model import ModelEvent

__all__ = ["UNPACED", "Pace", "Work"]


class Work(Protocol):
    """One run of a tool, while it is accounted for."""

    def paused(self) -> AbstractAsyncContextManager[None]:
        """Wait inside for somebody else, a person at a screen: no work is done, so none is accounted for."""
        ...


class Pace(Protocol):
    """How a request's real work is accounted for, for example by a voice call on virtual time."""

    def now(self) -> float:
        """Seconds, monotonic, for durations."""
        ...

    def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
        """Pass on a model's events, accounting for the wait before each; closing the result closes ``events``."""
        ...

    def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
        """Account for one run of a tool, which happens inside."""
        ...


class _Untimed:
    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()


class _Unpaced:
    def now(self) -> float:
        return time.monotonic()

    def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
        return events

    def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
        return nullcontext(_Untimed())


UNPACED: Pace = _Unpaced()
"""Work takes the time it takes."""
