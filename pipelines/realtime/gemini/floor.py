"""Whose turn it is, as far as can be told: Gemini numbers no answers, and a message at the wrong moment cuts one off.

Above: ``protocol`` notes what happens, ``intents`` asks whether it is quiet.
"""

from __future__ import annotations

from enum import Enum, auto

__all__ = ["Floor", "Turn"]

CALLER_S = 5.0
"""How long the caller has the floor behind the last that was heard, in seconds; whoever is not answered by then,
is not."""

ASKED_S = 15.0
"""How long an answer that was asked for is waited for, in seconds: models that reason first take some."""

PLAYED_S = 5.0
"""How much longer than its voice an answer is taken to be playing at the provider, in seconds."""

VOID_S = 2.0
"""How long the rest of an answer that we interrupted may still come, in seconds: several round trips."""


class Turn(Enum):
    """Who is at it."""

    NOBODY = auto()
    """Nothing is being done: words may be put in."""
    CALLER = auto()
    """The caller speaks, or has just spoken."""
    ASKED = auto()
    """An answer was asked for, and has not begun."""
    REPLY = auto()
    """An answer is being made."""
    PLAYED = auto()
    """An answer is made, and the provider takes it to be playing: it is interrupted like one that is being made."""
    CALLS = auto()
    """The model waits for results."""
    VOID = auto()
    """The rest of an answer that we interrupted may still come: it is not to be heard."""


class Floor:
    """Keeps account of turns. Times are seconds."""

    def __init__(self) -> None:
        self.turn = Turn.NOBODY
        self._until: float | None = None
        self._owed = False
        self._cutting = False
        self._trailing = False

    @property
    def settling(self) -> bool:
        """Whether what is counted now belongs to the last answer, and not to the next."""
        return self._trailing or self.turn in (Turn.NOBODY, Turn.PLAYED, Turn.CALLS, Turn.VOID)

    @property
    def unanswered_since(self) -> float | None:
        """Since when the caller, or who asked, waits for an answer to begin; ``None``: nobody does."""
        limits = {Turn.CALLER: CALLER_S, Turn.ASKED: ASKED_S}
        return None if self._until is None or self.turn not in limits else self._until - limits[self.turn]

    def hear(self, now: float) -> None:
        """Note that the caller is heard."""
        if self.turn in (Turn.NOBODY, Turn.CALLER, Turn.VOID):
            self._go(Turn.CALLER, now + CALLER_S)

    def ask(self, now: float) -> None:
        """Note that we asked for an answer: with words, results or the end of the caller's."""
        if self.turn in (Turn.NOBODY, Turn.CALLER, Turn.ASKED):
            self._go(Turn.ASKED, now + ASKED_S)
        else:
            self._owed = True

    def speak(self) -> bool:
        """Note that more of an answer comes.

        Returns:
            Whether it is to be heard.
        """
        if self.turn is Turn.VOID:
            return False
        self._trailing = False
        self._go(Turn.REPLY, None)
        return True

    def end_reply(self, spoken_s: float, now: float) -> None:
        """Note that an answer is made.

        Args:
            spoken_s: how long its voice is.
            now: when that is.
        """
        if self.turn is Turn.REPLY:
            self._go(Turn.PLAYED, now + spoken_s + PLAYED_S)

    def call(self) -> None:
        """Note that the model waits for results; some say then that their turn is complete, and some do not."""
        self._trailing = True
        self._go(Turn.CALLS, None)

    def give_results(self, now: float) -> None:
        """Note that all results were given; a model that did not wait for them may be speaking."""
        if self.turn is Turn.CALLS:
            self._go(Turn.ASKED, now + ASKED_S)
        else:
            self.ask(now)

    def withdraw(self, now: float) -> None:
        """Note that no results are wanted any more."""
        self._rest(Turn.CALLER, now)

    def cut(self, now: float) -> bool:
        """Note that we interrupt.

        Returns:
            Whether there is something to interrupt.
        """
        if self.turn not in (Turn.ASKED, Turn.REPLY, Turn.PLAYED):
            return False
        self._cutting = True
        if self.turn is Turn.PLAYED:
            self._rest(Turn.NOBODY, now)
        else:
            self._go(Turn.VOID, now + VOID_S)
        return True

    def interrupted(self, now: float) -> bool:
        """Note that the provider says that it was interrupted.

        Returns:
            Whether that is news: not, when we did it.
        """
        ours, self._cutting, self._trailing = self._cutting, False, True
        if self.turn is Turn.VOID:
            self._rest(Turn.NOBODY, now)
        elif not ours:
            self._rest(Turn.CALLER, now)
        return not ours

    def complete(self, now: float) -> bool:
        """Note that the provider says that a turn is complete.

        Returns:
            Whether it is one that was not interrupted: of those it says so, too.
        """
        trailing, self._trailing = self._trailing, False
        if not trailing and self.turn in (Turn.ASKED, Turn.REPLY, Turn.PLAYED, Turn.VOID):
            self._cutting = False
            self._rest(Turn.NOBODY, now)
        return not trailing

    def tick(self, now: float) -> bool:
        """Give up what did not come in time.

        Returns:
            Whether there was something.
        """
        late = self._until is not None and now >= self._until
        if late:
            self._cutting = False
            self._rest(Turn.NOBODY, now)
        return late

    def _rest(self, turn: Turn, now: float) -> None:
        """Go on with what was asked for meanwhile, or else with ``turn``."""
        if self._owed:
            self._go(Turn.ASKED, now + ASKED_S)
        else:
            self._go(turn, now + CALLER_S if turn is Turn.CALLER else None)

    def _go(self, turn: Turn, until: float | None) -> None:
        if turn in (Turn.ASKED, Turn.REPLY):
            self._owed = False
        self.turn, self._until = turn, until
