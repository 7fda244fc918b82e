"""What clients are shown of an agent's goals and forms: bounded, whatever was written into them.

Above: ``events`` tells it, routes answer with it. Below: what :class:`~agents.core.progress.Progress` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "DeferralShown",
    "FailureShown",
    "FieldShown",
    "FormShown",
    "GoalItemShown",
    "GoalShown",
    "StepShown",
    "form_shown",
    "goals_shown",
]

LONGEST = 500
"""Characters of an answer, a note or a label: what a person reads at a glance; the rest is left out."""

MOST = 200
"""Fields, steps, goals, items of a goal and follow-ups each: more than a person looks through."""


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GoalItemShown(_Shown):
    """Something that a goal wants."""

    key: str
    label: str
    disposition: Literal["pending", "done", "deferred", "declined"]
    note: str | None = Field(description="why it is what it is")
    retired: bool = Field(description="whether it is out of force")


class GoalShown(_Shown):
    """A goal."""

    key: str
    title: str
    objective: str
    status: Literal["pending", "active", "completed", "retired"]
    items: tuple[GoalItemShown, ...]


class DeferralShown(_Shown):
    """Something that was put off and is not forgotten."""

    goal: str = Field(description="the goal's key")
    item: str = Field(description="the item's key")
    label: str
    note: str


class FieldShown(_Shown):
    """A question of a form."""

    id: str
    label: str
    description: str
    type: str = Field(description="what answers it takes, in a few words")
    required: bool
    skippable: bool
    confirms: bool = Field(description="whether it is a yes to the others' answers")
    status: str = Field(description="`empty`, `filled`, `held` (kept until it applies), `invalid` or `skipped`")
    value: Any
    """The answer, as JSON; one that is too long is cut, and is a string then."""
    error: str | None
    skip_reason: str | None


class StepShown(_Shown):
    """A step of a form."""

    id: str
    title: str
    progress: str = Field(description="of its required questions, how many are settled: `2/4`")
    complete: bool
    open: bool


class FailureShown(_Shown):
    """Something that was to follow from the answers, and failed."""

    hook: str
    message: str


class FormShown(_Shown):
    """A form that is being filled in."""

    instance: str
    form: str
    name: str
    status: str = Field(description="`active`, `awaiting`, `complete`, `stale` or `abandoned`")
    complete: bool
    asked: str | None = Field(description="the id of the field that is asked now")
    fields: tuple[FieldShown, ...] = Field(description="in the order they are asked")
    steps: tuple[StepShown, ...]
    blocked_on: str | None = Field(description="the checkpoint that is waited for")
    waiting: str | None = Field(description="what people are told meanwhile")
    failures: tuple[FailureShown, ...]


def goals_shown(read: Mapping[str, Any]) -> dict[str, Any]:
    """Pick what is shown of goals, as arguments of the event: key of the program, status, goals, follow-ups."""
    return {
        "program": read["program"],
        "version": read["version"],
        "status": read["status"],
        "active_goal": read["activeGoal"],
        "goals": tuple(_goal(goal) for goal in read["goals"][:MOST]),
        "deferred": tuple(
            DeferralShown(
                goal=each["goalKey"], item=each["itemKey"], label=_cut(each["label"]), note=_cut(each["note"] or "")
            )
            for each in read["deferred"][:MOST]
        ),
    }


def form_shown(read: Mapping[str, Any]) -> FormShown:
    """Pick what is shown of a form."""
    return FormShown(
        instance=read["instance_id"],
        form=read["form"],
        name=read["name"],
        status=read["status"],
        complete=read["complete"],
        asked=read["asked"],
        fields=tuple(_field(field) for field in read["fields"][:MOST]),
        steps=tuple(
            StepShown(**{name: step[name] for name in StepShown.model_fields}) for step in read.get("steps", [])[:MOST]
        ),
        blocked_on=read.get("blocked_on"),
        waiting=_cut(read.get("waiting")),
        failures=tuple(
            FailureShown(hook=each["hook"], message=_cut(each["message"])) for each in read.get("failures", [])[:MOST]
        ),
    )


def _goal(read: Mapping[str, Any]) -> GoalShown:
    return GoalShown(
        key=read["key"],
        title=_cut(read["title"]),
        objective=_cut(read["objective"]),
        status=read["status"],
        items=tuple(
            GoalItemShown(
                key=item["key"],
                label=_cut(item["label"]),
                disposition=item["disposition"],
                note=_cut(item["note"]),
                retired=item["retired"],
            )
            for item in read["items"][:MOST]
        ),
    )


def _field(read: Mapping[str, Any]) -> FieldShown:
    return FieldShown(
        id=read["id"],
        label=read["label"],
        description=read.get("description", ""),
        type=read["type"],
        required=read["required"],
        skippable=read.get("skippable", False),
        confirms=read.get("confirms", False),
        status=read["status"],
        value=_short(read.get("value")),
        error=_cut(read.get("error")),
        skip_reason=_cut(read.get("skip_reason")),
    )


def _cut(text: Any) -> Any:
    """Cut a text; what is none is left."""
    return f"{text[: LONGEST - 1]}…" if isinstance(text, str) and len(text) > LONGEST else text


def _short(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return _cut(value)
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else _cut(text)
