"""Who has joined something: in the order they came, each leaving when it likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Register"]

T = TypeVar("T")


class Register(Generic[T]):
    """Whatever is asked or told in turn."""

    def __init__(self) -> None:
        self._members: list[T] = []

    @property
    def members(self) -> tuple[T, ...]:
        """Those there are now; whoever comes or goes meanwhile changes nothing."""
        return tuple(self._members)

    def add(self, member: T) -> Callable[[], None]:
        """Let somebody join.

        Returns:
            A function that ends it. Idempotent.
        """
        self._members.append(member)

        def remove() -> None:
            if member in self._members:
                self._members.remove(member)

        return remove
