"""What a goal program is: ordered goals of items, each with a key that never changes its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from agents.core.errors import DefinitionError
from agents.goals.errors import GoalError

__all__ = ["Goal", "GoalItem", "GoalProgram", "Key", "Reason", "define_goal_program", "read_program"]

Key: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$")]
"""Names a goal or an item for as long as the conversation lasts."""

Label: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Reason: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class _Definition(BaseModel):
    """Closed: what is not named here, a hook say, cannot be smuggled in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Key
    locked: bool = Field(default=False, description="may not be changed by a revision")
    retired: bool = Field(default=False, description="is out of force; what was said of it remains")

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.locked and self.retired:
            raise ValueError(f"{self.key!r} is locked and retired; it can be only one of the two")
        return self


class GoalItem(_Definition):
    """One thing that is to be achieved, or settled in another way."""

    label: Label


class Goal(_Definition):
    """Items that belong together, and what they are for."""

    title: Label
    objective: Reason
    items: tuple[GoalItem, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _keys_once(self) -> Self:
        _refuse_repeated("item", (item.key for item in self.items))
        return self

    def item(self, key: str) -> GoalItem | None:
        """Find an item."""
        return next((item for item in self.items if item.key == key), None)


class GoalProgram(BaseModel):
    """Goals in the order they are worked on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Key
    goals: tuple[Goal, ...] = Field(max_length=100)

    @model_validator(mode="after")
    def _keys_once(self) -> Self:
        _refuse_repeated("goal", (goal.key for goal in self.goals))
        return self

    def goal(self, key: str) -> Goal | None:
        """Find a goal."""
        return next((goal for goal in self.goals if goal.key == key), None)


def define_goal_program(program: GoalProgram | Mapping[str, Any]) -> GoalProgram:
    """Check a program of the application's own.

    Raises:
        DefinitionError: something is wrong with it; every mistake is named.
    """
    try:
        return read_program(program)
    except GoalError as exc:
        raise DefinitionError(*str(exc).split("; ")) from None


def read_program(program: Any) -> GoalProgram:
    """Check a program, whoever wrote it.

    Raises:
        GoalError: something is wrong with it; every mistake is named.
    """
    data = program.model_dump() if isinstance(program, GoalProgram) else program
    try:
        return GoalProgram.model_validate(data)
    except ValidationError as exc:
        problems = (f"{'.'.join(map(str, error['loc'])) or 'program'}: {error['msg']}" for error in exc.errors())
        raise GoalError("; ".join(problems)) from None


def _refuse_repeated(what: str, keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"there are two {what}s {key!r}; keys are unique")
        seen.add(key)
