"""Which answer is being made, which one was asked for, and which one is owed: one at a time, and none lost.

The provider makes one answer at a time and refuses a second. It also begins answers by itself, when the caller has
spoken. Whoever wants an answer names the item that is to be answered; any answer that has seen the item will do.

Above: ``protocol`` asks when an answer is due. No wire here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["PATIENCE_S", "Answer", "Floor", "Sequencer"]

PATIENCE_S = 10.0
"""How long an answer that was asked for, or cancelled, may keep us waiting before we go on without it, in seconds."""

OWN_ANSWER_S = 2.0
"""How long the provider may take to begin its own answer when the caller has spoken, in seconds; it takes
milliseconds."""

AGAIN_S = 0.5
"""How long we wait before asking again, when we were refused for an answer of which we know nothing, in seconds."""


class Floor(Enum):
    """Who may begin to speak next."""

    FREE = auto()
    CALLER = auto()
    """The caller is speaking."""
    PROVIDER = auto()
    """The caller has spoken, and the provider answers by itself."""


@dataclass(slots=True, kw_only=True)
class Answer:
    """The answer being made."""

    id: str
    void: bool = False
    told: bool = True
    """Whether the outside knows of it; not when it was void before it began."""
    expires: float | None = None
    """When it is given up, once void."""


@dataclass(slots=True, kw_only=True)
class _Asked:
    trigger: str
    item: str
    expires: float
    void: bool = False


@dataclass(slots=True, kw_only=True)
class _Owed:
    item: str
    seen: bool = False


class Sequencer:
    """Puts answers in a row.

    Attributes:
        answer: the one being made.
        floor: who may begin next.
    """

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self.floor = Floor.FREE
        self._floor_expires: float | None = None
        self._asked: _Asked | None = None
        self._owed: _Owed | None = None

    @property
    def asked(self) -> str | None:
        """The trigger that is not yet answered for."""
        return None if self._asked is None else self._asked.trigger

    @property
    def talking(self) -> bool:
        """Whether an answer is being made that is wanted."""
        return self.answer is not None and not self.answer.void

    def want(self, item: str) -> None:
        """Owe an answer to an item, and to all before it."""
        self._owed = _Owed(item=item)

    def see(self, item: str) -> None:
        """Note that the provider has an item: what it begins from now on has seen it."""
        if self._owed is not None and self._owed.item == item:
            self._owed.seen = True

    @property
    def due(self) -> bool:
        """Whether an answer is to be asked for now."""
        return self._owed is not None and self.answer is None and self._asked is None and self.floor is Floor.FREE

    def ask(self, trigger: str, now: float) -> None:
        """Note that the answer that is due was asked for, by a trigger that will be recognised."""
        assert self._owed is not None, "nothing is owed"
        self._asked = _Asked(trigger=trigger, item=self._owed.item, expires=now + PATIENCE_S)
        self._owed = None

    def begin(self, answer: str, trigger: str | None, now: float) -> Answer:
        """Note that an answer was begun: ours, if it bears our trigger; else the provider's own.

        Returns:
            The answer; when it is void, it is to be cancelled.
        """
        begun = Answer(id=answer)
        if self._asked is not None and self._asked.trigger == trigger:
            asked, self._asked = self._asked, None
            if asked.void or self.floor is Floor.CALLER:
                begun = Answer(id=answer, void=True, told=False, expires=now + PATIENCE_S)
            if not asked.void and self.floor is Floor.CALLER:
                self._owe_again(asked)
        elif self._owed is not None and self._owed.seen:
            self._owed = None
        if self.floor is Floor.PROVIDER:
            self._free()
        self.answer = begun
        return begun

    def refuse(self, trigger: str, *, again: bool, now: float) -> bool:
        """Note that a trigger was refused.

        Args:
            trigger: which.
            again: whether it was because an answer is being made, so that it is asked for later.
            now: seconds.

        Returns:
            Whether it was one of ours that waits.
        """
        if self._asked is None or self._asked.trigger != trigger:
            return False
        asked, self._asked = self._asked, None
        if again and not asked.void:
            self._owe_again(asked)
            if self.answer is None and self.floor is Floor.FREE:
                self.floor, self._floor_expires = Floor.PROVIDER, now + AGAIN_S
        return True

    def end(self, answer: str) -> Answer | None:
        """Note that an answer has ended; ``None`` when it is not the one being made."""
        if self.answer is None or self.answer.id != answer:
            return None
        ended, self.answer = self.answer, None
        return ended

    def void(self, now: float) -> Answer | None:
        """Give up the answer being made.

        Returns:
            It, if there is one that was not void: it is to be cancelled.
        """
        if self.answer is None or self.answer.void:
            return None
        self.answer.void, self.answer.expires = True, now + PATIENCE_S
        return self.answer

    def void_asked(self) -> None:
        """Give up the answer that was asked for and has not begun; while the caller speaks, it is owed again."""
        if self._asked is not None and self.floor is not Floor.CALLER:
            self._asked.void = True

    def caller_begins(self) -> None:
        """Note that the caller speaks: nothing is asked for meanwhile."""
        self.floor, self._floor_expires = Floor.CALLER, None

    def caller_ends(self, now: float, *, answered: bool) -> None:
        """Note that the caller has spoken.

        Args:
            now: seconds.
            answered: whether the provider answers by itself.
        """
        if answered:
            self.floor, self._floor_expires = Floor.PROVIDER, now + OWN_ANSWER_S
        else:
            self._free()

    def tick(self, now: float) -> Answer | None:
        """Give up what did not come in time.

        Returns:
            A void answer whose end was never told.
        """
        if self._floor_expires is not None and now >= self._floor_expires:
            self._free()
        if self._asked is not None and now >= self._asked.expires:
            asked, self._asked = self._asked, None
            if not asked.void:
                self._owe_again(asked)
        if self.answer is not None and self.answer.expires is not None and now >= self.answer.expires:
            return self.end(self.answer.id)
        return None

    def _free(self) -> None:
        self.floor, self._floor_expires = Floor.FREE, None

    def _owe_again(self, asked: _Asked) -> None:
        # Whatever is owed since came later, and the answer to it answers this as well.
        if self._owed is None:
            self._owed = _Owed(item=asked.item, seen=True)
