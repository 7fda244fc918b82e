"""What can go wrong with facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.core.errors import GloveError

if TYPE_CHECKING:
    from agents.facts.record import Fact

__all__ = ["FactCaptureError", "FactConflictError", "FactError"]


class FactError(GloveError):
    """A fact was not recorded; the message is for a model, too."""


class FactConflictError(FactError):
    """Somebody else wrote to the same facts first, again and again."""


class FactCaptureError(GloveError):
    """A fact is saved, and whoever had to be told of it at once could not be.

    Recording it again by the same operation tells them again.

    Attributes:
        fact: as it was saved.
    """

    def __init__(self, fact: Fact, cause: Exception) -> None:
        self.fact = fact
        super().__init__(
            f"fact {fact.id} is saved, but telling of it failed ({type(cause).__name__}); record it again by the same "
            "operation to try once more"
        )
        self.__cause__ = cause
