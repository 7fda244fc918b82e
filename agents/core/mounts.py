"""What is mounted on an agent, found by its type: so a host reaches the runner of its forms without having made it."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Mounts"]

Thing = TypeVar("Thing")


class Mounts:
    """What is mounted. One of each type; a later one takes the place of an earlier."""

    def __init__(self) -> None:
        self._things: dict[type, object] = {}

    def add(self, thing: object) -> None:
        """Let something be found, by its very type."""
        self._things[type(thing)] = thing

    def find(self, kind: type[Thing]) -> Thing | None:
        """Find what is of a type; ``None``: nothing is."""
        thing = self._things.get(kind)
        return thing if isinstance(thing, kind) else None
