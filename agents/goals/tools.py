"""The tools with which a model reads goals and says what became of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.facts.preparation.render import preparation_data
from agents.goals.definition import GoalProgram, Key, Reason
from agents.goals.errors import GoalError, GoalPostCommitError
from agents.goals.record import Entry
from agents.goals.runner import GoalRunner
from agents.goals.status import GoalStatus, ProgramStatus

__all__ = ["goal_tools", "status_data"]


class _Input(BaseModel):
    """Closed: whose goals they are is the host's to say."""

    model_config = ConfigDict(extra="forbid")


class Nothing(_Input):
    """No input."""


class Start(_Input):
    """A program to begin."""

    program: GoalProgram
    reason: Reason


class Update(_Input):
    """What became of items of one goal."""

    goalKey: Key
    completed: list[Key] = Field(default=[], max_length=100, description="items that are done")
    deferred: list[Key] = Field(default=[], max_length=100, description="items that are put off, to be followed up")
    declined: list[Key] = Field(default=[], max_length=100, description="items that the user does not want")
    reopened: list[Key] = Field(default=[], max_length=100, description="items that are to be settled again")
    reason: Reason
    ifVersion: int = Field(ge=1, description="the version of the goals as you read them")


class Revise(_Input):
    """A program that takes the place of the one there is."""

    program: GoalProgram = Field(description="all goals, in order; unchanged ones too")
    ifVersion: int = Field(ge=1, description="the version of the goals as you read them")
    reason: Reason


def goal_tools(runner: GoalRunner) -> tuple[Tool, ...]:
    """Make the five tools that work on a runner's goals."""
    changed = partial(_changed, runner)

    async def status(_: Nothing, ctx: ToolContext) -> Any:
        return _shown(runner, await runner.status())

    async def start(given: Start, ctx: ToolContext) -> Any:
        return await changed(lambda: runner.start(given.program, given.reason))

    async def update(given: Update, ctx: ToolContext) -> Any:
        return await changed(
            lambda: runner.update(
                given.goalKey,
                completed=given.completed,
                deferred=given.deferred,
                declined=given.declined,
                reopened=given.reopened,
                reason=given.reason,
                if_version=given.ifVersion,
            )
        )

    async def revise(given: Revise, ctx: ToolContext) -> Any:
        return await changed(lambda: runner.revise(given.program, if_version=given.ifVersion, reason=given.reason))

    async def history(_: Nothing, ctx: ToolContext) -> Any:
        return {"history": [_entry_data(entry) for entry in await runner.history()]}

    return (
        Tool(
            name="glove_goal_status",
            description="Read the goals: what is settled, what is put off, what is still to be achieved.",
            input=Nothing,
            do=status,
        ),
        Tool(
            name="glove_goal_start",
            description="Begin a program of goals. Once; afterwards it is revised.",
            input=Start,
            do=start,
        ),
        Tool(
            name="glove_goal_update",
            description="Say what became of items of a goal, whichever goal it is, as soon as you know it.",
            input=Update,
            do=update,
        ),
        Tool(
            name="glove_goal_revise",
            description="Change the program because circumstances changed. Send all of it, and keep the keys.",
            input=Revise,
            do=revise,
        ),
        Tool(
            name="glove_goal_history",
            description="Read how the goals came to be what they are: every change, with its reason.",
            input=Nothing,
            do=history,
        ),
    )


def _shown(runner: GoalRunner, status: ProgramStatus | None) -> dict[str, Any]:
    """How the goals stand, with what facts say of them."""
    return {**status_data(status), **preparation_data(runner.prepared)}


async def _changed(runner: GoalRunner, change: Callable[[], Awaitable[ProgramStatus]]) -> Any:
    try:
        return _shown(runner, await change())
    except GoalPostCommitError as exc:
        data = {"committed": True, "status": _shown(runner, exc.status)}
        return ToolResultData(status="error", message=str(exc), data=data)
    except GoalError as exc:
        return ToolResultData(status="error", message=str(exc), data={})


def status_data(status: ProgramStatus | None) -> dict[str, Any]:
    """Write how the goals stand as JSON, for models and screens."""
    if status is None:
        return {"program": None}
    return {
        "program": status.program,
        "version": status.version,
        "status": status.status.value,
        "activeGoal": status.active_goal,
        "goals": [
            {
                "key": goal.definition.key,
                "title": goal.definition.title,
                "objective": goal.definition.objective,
                "status": goal.status.value,
                "locked": goal.definition.locked,
                "items": [
                    {
                        "key": item.definition.key,
                        "label": item.definition.label,
                        "disposition": item.disposition.value,
                        "locked": item.definition.locked,
                        "retired": goal.status is GoalStatus.RETIRED or item.definition.retired,
                        "note": item.note,
                    }
                    for item in goal.items
                ],
            }
            for goal in status.goals
        ],
        "deferred": [
            {
                "goalKey": deferral.goal_key,
                "itemKey": deferral.item_key,
                "label": deferral.label,
                "note": deferral.note,
                "retired": deferral.retired,
            }
            for deferral in status.deferred
        ],
    }


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "version": entry.version,
        "kind": entry.kind.value,
        "reason": entry.reason,
        "actor": entry.provenance.actor,
        "at": entry.provenance.timestamp.isoformat(),
        "transitions": [f"{edge.goal.key} {edge.kind.value}" for edge in entry.transitions],
    }
