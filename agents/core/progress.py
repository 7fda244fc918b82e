"""How far an agent is with what it has to achieve and to find out, for those who look on: a page, a report.

What is mounted on an agent (goals, forms) says how to read it and when it changed; nobody outside has to know what is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

__all__ = ["Progress", "ProgressKind"]

ProgressKind: TypeAlias = Literal["goals", "forms"]

Read: TypeAlias = Callable[[], Awaitable[Any]]


class Progress:
    """What can be looked at of an agent's work. One of each kind; a later one takes the place of an earlier."""

    def __init__(self) -> None:
        self._readers: dict[ProgressKind, Read] = {}
        self._listeners: list[Callable[[ProgressKind], None]] = []

    def register(self, kind: ProgressKind, read: Read) -> Callable[[], None]:
        """Let something be looked at.

        Args:
            kind: what it is.
            read: gives it as it stands, as JSON; ``None``: there is nothing yet.

        Returns:
            A function to be called after every change.
        """
        self._readers[kind] = read
        return lambda: self._changed(kind)

    def add_listener(self, listener: Callable[[ProgressKind], None]) -> Callable[[], None]:
        """Tell somebody of every change; they return at once, and read what they want.

        Returns:
            A function that ends it. Idempotent.
        """
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    async def read(self, kind: ProgressKind) -> Any:
        """Read how something stands, as JSON; ``None``: the agent has none, or nothing has begun."""
        read = self._readers.get(kind)
        return None if read is None else await read()

    def _changed(self, kind: ProgressKind) -> None:
        for listener in tuple(self._listeners):
            listener(kind)
