"""What the agent shows on a screen, when somebody has one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["DisplayManager", "Slot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One thing shown."""

    id: str
    renderer: str
    """Which component of the page draws it."""
    input: Mapping[str, Any] = field(default_factory=dict)
    """What the component is given: JSON."""


class DisplayManager:
    """A stack of slots; some wait for the person in front of the screen."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._pushed = 0

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is shown now, oldest first."""
        return tuple(self._slots.values())

    @property
    def blocked(self) -> bool:
        """Whether a :meth:`push_and_wait` is open."""
        return bool(self._waiting)

    def push_and_forget(self, renderer: str, input: Mapping[str, Any] | None = None) -> str:
        """Show something.

        Returns:
            The slot's id, ``slot_1`` and so on.
        """
        self._pushed += 1
        slot = Slot(id=f"slot_{self._pushed}", renderer=renderer, input=dict(input or {}))
        self._slots[slot.id] = slot
        return slot.id

    async def push_and_wait(self, renderer: str, input: Mapping[str, Any] | None = None) -> Any:
        """Show something and wait for its answer; the slot goes with the answer, or when the wait is cancelled."""
        slot_id = self.push_and_forget(renderer, input)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[slot_id] = answer
        try:
            return await answer
        finally:
            self._waiting.pop(slot_id, None)
            self._slots.pop(slot_id, None)

    def resolve(self, slot_id: str, value: Any = None) -> None:
        """Answer a slot, or take away one that nobody waits for. Unknown ids are ignored: a screen may be late."""
        self._slots.pop(slot_id, None)
        answer = self._waiting.pop(slot_id, None)
        if answer is not None and not answer.done():
            answer.set_result(value)
