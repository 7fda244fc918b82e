"""What sort of answer the agent waits for, so that a voice can listen for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["AnswerKind", "ExpectedAnswer"]

AnswerKind: TypeAlias = Literal["open", "yes_no", "choice", "digits", "spelling", "date", "time", "number", "dictation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAnswer:
    """The answer a question wants."""

    kind: AnswerKind
    choices: tuple[str, ...] = ()
    """What a ``choice`` offers, as it would be said."""
    length: int | None = None
    """How many digits ``digits`` wants; ``None`` when unknown."""
