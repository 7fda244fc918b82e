"""How far an utterance can go toward an answer, and the words around one that say nothing.

Above: ``answers``, ``digits`` and ``moments`` read what was asked for. Below: ``words``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pipelines.turns.words import phrases, vocabulary

__all__ = ["FILLERS", "LEAD_INS", "Reading", "without_closer"]


class Reading(StrEnum):
    """How far the words go."""

    OTHER = "other"
    """No answer of the expected kind."""
    BEGUN = "begun"
    """The beginning of one: more is sure to come."""
    OPEN_ENDED = "open_ended"
    """A part whose whole length nobody knows: more may come."""
    EXTENDABLE = "extendable"
    """A whole answer that a longer one begins with ("dot co")."""
    COMPLETE = "complete"
    """A whole answer."""


FILLERS = vocabulary("um umm uh uhm er erm hm hmm mm ah like")
"""Sounds of somebody who has the floor and is still thinking."""

_CLOSERS = phrases("please, thanks, thank you, that's it, that's all, that is it, that is all, okay, ok, done")


LEAD_INS = FILLERS | vocabulary("""
    the a an my it it's its is i i'd i'll would like want take have go with for think that that's one please oh well
    so okay ok yes yeah sure number phone account code area name last first email e mail address reference this and
    be will to let's prefer choose option make say spelled spelt of
""")
"""Words that lead to an answer and are none."""


def without_closer(heard: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Take "that's it" or "please" off the end; whether there was one and something before it."""
    for size in (3, 2, 1):
        if len(heard) > size and tuple(heard[-size:]) in _CLOSERS:
            return heard[:-size], True
    return heard, False
