"""What can go wrong with goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.core.errors import GloveError

if TYPE_CHECKING:
    from agents.goals.status import ProgramStatus

__all__ = ["GoalConflictError", "GoalError", "GoalHookError", "GoalPostCommitError"]


class GoalError(GloveError):
    """Something was asked of goals that they do not allow; nothing was changed. The message is for a model, too."""


class GoalConflictError(GoalError):
    """Somebody else changed the goals meanwhile.

    Attributes:
        expected: the version the change was made from; 0: no program.
        actual: the version there is.
    """

    def __init__(self, expected: int, actual: int) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(f"Goal version conflict: expected {expected}, found {actual}. Read status and retry.")


class GoalHookError(GloveError):
    """A hook raised; it runs again, with the same idempotency key, when hooks are resumed.

    Attributes:
        transition_id: which transition it was for.
    """

    def __init__(self, transition_id: str, cause: Exception) -> None:
        self.transition_id = transition_id
        super().__init__(f"the hook of transition {transition_id} raised {type(cause).__name__}: {cause}")
        self.__cause__ = cause


class GoalPostCommitError(GloveError):
    """A change was saved, and what was to follow it failed.

    Attributes:
        status: as it is after the change.
    """

    def __init__(self, status: ProgramStatus, cause: Exception) -> None:
        self.status = status
        super().__init__(f"the goals were changed (version {status.version}), but what follows failed: {cause}")
        self.__cause__ = cause
