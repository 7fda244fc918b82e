"""What a model is shown of goals, with every call: never stored, never part of the system prompt."""

from __future__ import annotations

from collections.abc import Iterator

from agents.goals.record import Transition, TransitionKind
from agents.goals.status import GoalStatus, GoalView, ProgramStatus

__all__ = ["GUIDANCE", "render_goals", "render_running"]

GUIDANCE = (
    "Note what you learn and ask nothing twice. Deferred is put off, not done. "
    "When circumstances change, revise what remains: keep the keys, and give a reason."
)


def render_goals(status: ProgramStatus | None) -> str:
    """Write the snapshot; empty when there is no program."""
    return "" if status is None else "\n".join(_lines(status))


def render_running(transition: Transition | None) -> str:
    """Write that a hook is under way elsewhere; empty when none is."""
    if transition is None:
        return ""
    became = {
        TransitionKind.ENTER: "begun",
        TransitionKind.COMPLETE: "completed",
        TransitionKind.REOPEN: "reopened",
    }[transition.kind]
    return (
        f"Still running elsewhere: what follows from goal {transition.goal.key} being {became}. Its results are not "
        "there yet; do not count on them."
    )


def _lines(status: ProgramStatus) -> Iterator[str]:
    yield f"GOALS — {status.program} (version {status.version}; {status.status})"
    yield GUIDANCE
    for number, goal in enumerate(status.goals, 1):
        if goal.status is not GoalStatus.RETIRED:
            yield from _goal(number, goal)
    if status.deferred:
        yield "Deferred follow-ups (remain visible after completion):"
    for deferral in status.deferred:
        retired = " (retired definition)" if deferral.retired else ""
        yield f"- {deferral.goal_key}/{deferral.item_key}: {deferral.label}{retired}{_note(deferral.note)}"


def _goal(number: int, goal: GoalView) -> Iterator[str]:
    definition = goal.definition
    yield f"{number}. {definition.title} [{definition.key}; {goal.status}]{_lock(definition.locked)}"
    if goal.status is GoalStatus.COMPLETED:
        return
    yield f"   Objective: {definition.objective}"
    for item in goal.items:
        if not item.definition.retired:
            key, label, locked = item.definition.key, item.definition.label, item.definition.locked
            yield f"   - {key}: {label} [{item.disposition}]{_lock(locked)}{_note(item.note)}"


def _lock(locked: bool) -> str:
    return " (locked)" if locked else ""


def _note(note: str | None) -> str:
    return f" — {note}" if note else ""
