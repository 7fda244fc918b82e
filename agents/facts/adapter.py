"""Where facts are kept: what a store has to do, and one that forgets with the process."""

from __future__ import annotations

from typing import Protocol

from agents.facts.record import FactScope, FactState

__all__ = ["FactAdapter", "MemoryFacts"]


class FactAdapter(Protocol):
    """Keeps the facts of any number of scopes."""

    async def read(self, scope: FactScope) -> FactState:
        """Read all facts of a scope; an empty state of version 0 when there are none."""
        ...

    async def save(self, scope: FactScope, state: FactState) -> bool:
        """Replace a scope's state by that of the next version; durable when it returns.

        Returns:
            Whether the state there was is the one before; if not, nothing was changed.
        """
        ...


class MemoryFacts:
    """Facts that end with the process."""

    def __init__(self) -> None:
        self._states: dict[FactScope, FactState] = {}

    async def read(self, scope: FactScope) -> FactState:
        """Read all facts of a scope."""
        return self._states.get(scope, FactState())

    async def save(self, scope: FactScope, state: FactState) -> bool:
        """Replace a scope's state by that of the next version."""
        if self._states.get(scope, FactState()).version != state.version - 1:
            return False
        self._states[scope] = state
        return True
