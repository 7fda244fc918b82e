"""How goals stand: derived from an entry, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agents.goals.definition import Goal, GoalItem
from agents.goals.record import Disposition, Entry, ItemState

__all__ = ["Deferral", "GoalStatus", "GoalView", "ItemView", "ProgramStatus", "status_of"]


class GoalStatus(StrEnum):
    """How a goal stands, or a program: a program is active or completed."""

    PENDING = "pending"
    """A goal before it is not settled."""
    ACTIVE = "active"
    COMPLETED = "completed"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item and what became of it."""

    definition: GoalItem
    disposition: Disposition
    note: str | None
    """Why it is what it is; ``None``: nothing was ever said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalView:
    """A goal and how it stands."""

    definition: Goal
    status: GoalStatus
    items: tuple[ItemView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """Something that was put off and is not forgotten."""

    goal_key: str
    item_key: str
    label: str
    note: str
    retired: bool
    """Whether its definition is out of force, or gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStatus:
    """How everything stands."""

    program: str
    """The program's key."""
    version: int
    status: GoalStatus
    goals: tuple[GoalView, ...]
    active_goal: str | None
    deferred: tuple[Deferral, ...]

    def goal(self, key: str) -> GoalView | None:
        """Find a goal."""
        return next((goal for goal in self.goals if goal.definition.key == key), None)


def status_of(entry: Entry) -> ProgramStatus:
    """Derive how everything stands after a change."""
    goals: list[GoalView] = []
    active: str | None = None
    for goal in entry.program.goals:
        items = tuple(_view(item, entry.progress.get(goal.key, {}).get(item.key)) for item in goal.items)
        if goal.retired:
            status = GoalStatus.RETIRED
        elif all(item.definition.retired or item.disposition is not Disposition.PENDING for item in items):
            status = GoalStatus.COMPLETED
        elif active is None:
            status, active = GoalStatus.ACTIVE, goal.key
        else:
            status = GoalStatus.PENDING
        goals.append(GoalView(definition=goal, status=status, items=items))
    return ProgramStatus(
        program=entry.program.key,
        version=entry.version,
        status=GoalStatus.COMPLETED if active is None else GoalStatus.ACTIVE,
        goals=tuple(goals),
        active_goal=active,
        deferred=tuple(_deferrals(entry)),
    )


def _view(item: GoalItem, state: ItemState | None) -> ItemView:
    if state is None:
        return ItemView(definition=item, disposition=Disposition.PENDING, note=None)
    return ItemView(definition=item, disposition=state.disposition, note=state.note)


def _deferrals(entry: Entry) -> list[Deferral]:
    found = []
    for goal_key, items in entry.progress.items():
        goal = entry.program.goal(goal_key)
        for item_key, state in items.items():
            if state.disposition is Disposition.DEFERRED:
                item = None if goal is None else goal.item(item_key)
                retired = goal is None or item is None or goal.retired or item.retired
                found.append(
                    Deferral(goal_key=goal_key, item_key=item_key, label=state.label, note=state.note, retired=retired)
                )
    return found
