"""Goals settled by evidence: what of them facts may settle, and what a report settles."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agents.facts.preparation.preparer import FactPreparation
from agents.facts.preparation.requirement import Current, Report, Requirement, Rule
from agents.goals.definition import Goal, GoalItem
from agents.goals.engine import Evidence
from agents.goals.errors import GoalError
from agents.goals.record import Disposition, Entry, GoalScope

__all__ = ["GoalPreparation", "accepted_claims", "check_subject", "consumer_of", "evidence_in", "requirements_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalPreparation:
    """Which items facts may settle."""

    preparer: FactPreparation
    rule: Callable[[Goal, GoalItem], Rule | None]
    """What evidence an item takes; ``None``: none will do."""
    eligible: Callable[[Goal, GoalItem], bool] = lambda goal, item: True
    """Whether it may be settled now."""


def consumer_of(scope: GoalScope) -> str:
    """By this name claims are made for goals."""
    return json.dumps(["goals", *scope.parts()], separators=(",", ":"))


def check_subject(preparation: GoalPreparation, scope: GoalScope) -> None:
    """Refuse to settle one person's goals by another's facts.

    Raises:
        GoalError: they are.
    """
    if preparation.preparer.facts.scope.subject != scope.subject:
        raise GoalError("the facts belong to another subject than the goals; give both the same one")


def requirements_of(entry: Entry, preparation: GoalPreparation) -> list[Requirement]:
    """List what facts may settle, in the order of the program."""
    return [
        Requirement(
            id=f"{goal.key}/{item.key}",
            label=f"{goal.title}: {item.label}",
            rule=rule,
            schema={"const": True},
            validate=_yes,
            eligible=preparation.eligible(goal, item),
            current=_current(entry, goal, item),
        )
        for goal, item in _in_force(entry)
        if (rule := preparation.rule(goal, item)) is not None
    ]


def evidence_in(report: Report | None) -> tuple[Evidence, ...]:
    """What a report settles."""
    if report is None:
        return ()
    found = []
    for decision in report.applied():
        goal_key, item_key = decision.requirement.split("/")
        claim_id = decision.claim_id or ""
        found.append(Evidence(goal_key=goal_key, item_key=item_key, claim_id=claim_id, note=decision.explanation))
    return tuple(found)


def accepted_claims(entry: Entry) -> list[str]:
    """The claims that settled items so far."""
    return [state.claim_id for items in entry.progress.values() for state in items.values() if state.claim_id]


def _in_force(entry: Entry) -> Iterator[tuple[Goal, GoalItem]]:
    for goal in entry.program.goals:
        for item in goal.items:
            if not goal.retired and not item.retired:
                yield goal, item


def _current(entry: Entry, goal: Goal, item: GoalItem) -> Current | None:
    state = entry.progress.get(goal.key, {}).get(item.key)
    if state is None or state.disposition is Disposition.PENDING:
        return None
    return Current(value=state.disposition is Disposition.DONE, claim_id=state.claim_id)


def _yes(value: Any) -> bool:
    if value is not True:
        raise ValueError("an item is settled by true, and by nothing else")
    return True
