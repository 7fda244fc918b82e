"""A trip's goals, and what tests need to work on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agents.goals.adapter import GoalAdapter, MemoryGoals
from agents.goals.definition import Goal, GoalItem, GoalProgram, define_goal_program
from agents.goals.record import Entry, GoalScope
from agents.goals.runner import GoalRunner

SCOPE = GoalScope(subject="conversation-1", key="trip")


class Time:
    """A clock that goes on a second with every look."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def item(key: str, **more: Any) -> GoalItem:
    return GoalItem(key=key, label=f"The {key}", **more)


def goal(key: str, *items: str | GoalItem, **more: Any) -> Goal:
    made = tuple(item(one) if isinstance(one, str) else one for one in items)
    return Goal(key=key, title=f"{key} it", objective=f"Have the {key}", items=made, **more)


def program(*goals: Goal) -> GoalProgram:
    return define_goal_program(GoalProgram(key="trip", goals=goals))


TRIP = program(goal("plan", "route", "date"), goal("book", "confirmed", "booked"), goal("aftercare", "seats"))


def runner(adapter: GoalAdapter | None = None, **options: Any) -> GoalRunner:
    options.setdefault("now", Time())
    return GoalRunner(adapter or MemoryGoals(), options.pop("scope", SCOPE), **options)


def edges(entry: Entry) -> list[str]:
    return [f"{edge.goal.key} {edge.kind}" for edge in entry.transitions]


async def all_edges(goals: GoalRunner) -> list[list[str]]:
    return [edges(entry) for entry in await goals.history()]
