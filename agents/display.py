"""What the agent shows on a screen, when somebody has one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias, TypeVar, overload

from pydantic import TypeAdapter, ValidationError

from agents.core.errors import AnswerError, SlotRejectedError
from agents.core.register import Register

__all__ = ["DisplayListener", "DisplayManager", "DisplayStrategy", "Slot", "SlotState"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

DisplayStrategy: TypeAlias = Literal["stay", "hide_on_complete", "hide_on_new"]
"""How long a slot is shown: until it is taken away, until it is answered, or until its owner shows another."""


class SlotState(StrEnum):
    """What a slot waits for."""

    SHOWN = "shown"
    """Nothing."""
    WAITING = "waiting"
    """An answer."""
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One thing shown."""

    id: str
    renderer: str
    """Which component of the page draws it."""
    input: Mapping[str, Any] = field(default_factory=dict)
    """What the component is given: JSON."""
    owner: str | None = None
    """The tool that pushed it."""
    strategy: DisplayStrategy = "stay"
    state: SlotState = SlotState.SHOWN


DisplayListener: TypeAlias = Callable[[tuple[Slot, ...]], object]
"""Takes what is shown now, after every change; returns at once, and may answer at once."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    answer: asyncio.Future[Any]
    type: TypeAdapter[Any]


class DisplayManager:
    """A stack of slots; some wait for the person in front of the screen."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._listeners: Register[DisplayListener] = Register()
        self._pushed = 0

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is shown now, oldest first."""
        return tuple(self._slots.values())

    @property
    def blocked(self) -> bool:
        """Whether a :meth:`push_and_wait` is open."""
        return bool(self._waiting)

    def add_listener(self, listener: DisplayListener) -> Callable[[], None]:
        """Tell somebody of every change.

        Returns:
            A function that ends it. Idempotent.
        """
        return self._listeners.add(listener)

    def push_and_forget(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        owner: str | None = None,
        strategy: DisplayStrategy | None = None,
    ) -> str:
        """Show something.

        Args:
            renderer: which component draws it.
            input: what it is given.
            owner: whose it is, for ``hide_on_new``.
            strategy: how long it is shown; ``stay`` by default.

        Returns:
            The slot's id, ``slot_1`` and so on.
        """
        slot_id = self._push(renderer, input, owner, strategy or "stay", SlotState.SHOWN)
        self._changed()
        return slot_id

    @overload
    async def push_and_wait(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        owner: str | None = None,
        strategy: DisplayStrategy | None = None,
    ) -> Any: ...

    @overload
    async def push_and_wait(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        answer: type[T],
        owner: str | None = None,
        strategy: DisplayStrategy | None = None,
    ) -> T: ...

    async def push_and_wait(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        answer: Any = Any,
        owner: str | None = None,
        strategy: DisplayStrategy | None = None,
    ) -> Any:
        """Show something and wait for its answer. Cancelling the wait takes the slot away.

        Args:
            renderer: which component draws it.
            input: what it is given.
            answer: the type an answer must have; anything by default.
            owner: whose it is.
            strategy: ``hide_on_complete`` by default; with ``stay`` the answered slot remains.

        Returns:
            The answer, as its type.

        Raises:
            SlotRejectedError: the person refused to answer, or the slot was taken away.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        slot_id = self._push(renderer, input, owner, strategy or "hide_on_complete", SlotState.WAITING)
        # Before anybody is told of the slot, so that a listener may answer at once.
        self._waiting[slot_id] = _Waiting(future, TypeAdapter(answer))
        self._changed()
        try:
            return await future
        finally:
            if self._waiting.pop(slot_id, None) is not None:
                self._slots.pop(slot_id, None)
                self._changed()

    def resolve(self, slot_id: str, value: Any = None) -> None:
        """Answer a slot, or take away one that nobody waits for. Unknown ids are ignored: a screen may be late.

        Raises:
            AnswerError: the value has not the type the slot wants; it goes on waiting.
        """
        waiting = self._waiting.get(slot_id)
        if waiting is None:
            self.remove(slot_id)
            return
        try:
            value = waiting.type.validate_python(value)
        except ValidationError as exc:
            raise AnswerError(slot_id, "; ".join(error["msg"] for error in exc.errors())) from None
        self._settle(slot_id, keep=self._outlasts_answer(self._slots[slot_id]))
        waiting.answer.set_result(value)
        self._changed()

    def reject(self, slot_id: str, reason: str = "it was dismissed") -> None:
        """Refuse to answer a slot: whoever waits is told. Unknown ids are ignored."""
        waiting = self._waiting.get(slot_id)
        if slot_id not in self._slots:
            return
        self._settle(slot_id, keep=False)
        if waiting is not None:
            waiting.answer.set_exception(SlotRejectedError(slot_id, reason))
        self._changed()

    def remove(self, slot_id: str) -> None:
        """Take a slot away; whoever waits for it is told, and does not wait for ever."""
        self.reject(slot_id, "it was taken away")

    def clear(self, reason: str = "the screen was cleared") -> None:
        """Take all slots away."""
        for slot_id in tuple(self._slots):
            self.reject(slot_id, reason)

    def _push(
        self,
        renderer: str,
        input: Mapping[str, Any] | None,
        owner: str | None,
        strategy: DisplayStrategy,
        state: SlotState,
    ) -> str:
        self._pushed += 1
        for old in self.slots:
            hides = owner is not None and (old.owner, old.strategy) == (owner, "hide_on_new")
            if hides and old.state is not SlotState.WAITING:
                del self._slots[old.id]
        slot = Slot(
            id=f"slot_{self._pushed}",
            renderer=renderer,
            input=dict(input or {}),
            owner=owner,
            strategy=strategy,
            state=state,
        )
        self._slots[slot.id] = slot
        return slot.id

    def _settle(self, slot_id: str, *, keep: bool) -> None:
        self._waiting.pop(slot_id, None)
        if keep:
            self._slots[slot_id] = replace(self._slots[slot_id], state=SlotState.ANSWERED)
        else:
            del self._slots[slot_id]

    def _outlasts_answer(self, slot: Slot) -> bool:
        if slot.strategy == "hide_on_new":
            return slot.owner is None or [s for s in self.slots if s.owner == slot.owner][-1] is slot
        return slot.strategy == "stay"

    def _changed(self) -> None:
        for listener in self._listeners.members:
            try:
                listener(self.slots)
            except Exception:
                logger.exception("a display listener failed")
