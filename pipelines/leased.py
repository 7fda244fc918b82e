"""A worker whose every job is leased from a call's clock: a store in a database, say."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from pipelines.clock import Clock, held, is_holding

__all__ = ["Leased"]


class Leased:
    """Hands on everything the worker has; what its coroutine methods do is real work.

    A method called by who holds a lease already (a tool, while it runs) is part of that work.

    Args:
        worker: any object.
        clock: whose leases.
        holder: the name they are held by.
    """

    def __init__(self, worker: object, clock: Clock, holder: str) -> None:
        self._worker = worker
        self._clock = clock
        self._holder = holder

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._worker, name)
        return self._leased(attribute) if iscoroutinefunction(attribute) else attribute

    def _leased(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        async def leased(*args: Any, **kwargs: Any) -> Any:
            if is_holding():
                return await method(*args, **kwargs)
            async with held(self._clock, self._holder):
                return await method(*args, **kwargs)

        return leased
