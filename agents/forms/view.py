"""What can be seen of an instance: never the whole form, always as much as was asked for.

Above: ``rendering`` writes it for models and clients. Below: ``evaluation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic_core import from_json

from agents.core.results import as_json
from agents.forms.definition import Form
from agents.forms.errors import FormNotFoundError
from agents.forms.evaluation import Evaluation, FieldState, FieldStatus
from agents.forms.record import Dispatch, DispatchStatus, Instance, InstanceStatus, Revision
from agents.forms.step import Step
from agents.forms.writes import find_field, next_redo, next_undo

__all__ = [
    "Failure",
    "FieldRow",
    "FormView",
    "Move",
    "Scope",
    "StepRow",
    "failures",
    "is_asked",
    "is_complete",
    "next_asked",
    "see",
    "wait_message",
]


class Scope(StrEnum):
    """How much is looked at."""

    OPEN = "open"
    """The step whose questions are asked now; the last one when there are none."""
    STEP = "step"
    FIELD = "field"
    OUTLINE = "outline"
    """Everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """A question, as it stands."""

    id: str
    label: str
    description: str
    type: str
    required: bool
    skippable: bool
    status: FieldStatus
    value: Any = None
    """The answer as JSON: when it is valid, or held as it was sent."""
    error: str | None = None
    skip_reason: str | None = None
    ask: bool
    """Whether it is to be asked now."""
    confirms: bool
    """Whether it is a yes to what was read back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A step, as it stands."""

    id: str
    title: str
    index: int
    preview: str | None
    ask: str | None
    required: int
    """Required questions that apply."""
    filled: int
    """Of them, answered."""
    skipped: int
    """Of them, skipped."""
    complete: bool
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An executor that failed when it ran last."""

    hook_id: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What undo or redo would do."""

    field: str
    label: str
    becomes: Any
    """The answer there would be, as JSON; ``None`` when there would be none."""
    empty: bool
    """Whether there would be none."""
    skip_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView:
    """An instance, as it stands."""

    instance_id: str
    form: str
    form_version: int
    name: str
    status: InstanceStatus
    complete: bool
    conduct: str | None
    scope: Scope
    step: StepRow | None
    """The step looked at; ``None`` for the whole form."""
    of: int
    """How many steps there are."""
    fields: tuple[FieldRow, ...]
    steps: tuple[StepRow, ...]
    """All steps, when everything is looked at."""
    blocked_on: str | None
    wait_message: str | None
    failures: tuple[Failure, ...]
    revisiting: bool
    closed_reason: str | None
    undo: Move | None
    redo: Move | None
    asked: str | None
    """The id of the field that is asked next; ``None``: nothing is asked."""


def see(
    form: Form[Any], instance: Instance, now: Evaluation, scope: Scope = Scope.OPEN, id: str | None = None
) -> FormView:
    """Look at an instance.

    Args:
        form: its form.
        instance: as it is kept.
        now: how it stands.
        scope: how much of it.
        id: which step or field, for these scopes; the open step by default.

    Raises:
        FormNotFoundError: there is no such step or field.
    """
    step = _step(form, now, scope, id)
    if scope is Scope.FIELD:
        shown = [now.fields[find_field(form, id or "").id]]
    elif step is not None:
        shown = [now.fields[field.id] for field in step.fields]
    else:
        shown = list(now.fields.values())
    return FormView(
        instance_id=instance.id,
        form=form.id,
        form_version=form.version,
        name=form.name,
        status=instance.status,
        complete=is_complete(instance, now),
        conduct=form.conduct,
        scope=scope,
        step=None if step is None else _step_row(step, now),
        of=len(form.steps),
        fields=tuple(_field_row(state, instance, now) for state in shown),
        steps=tuple(_step_row(one, now) for one in form.steps) if scope is Scope.OUTLINE else (),
        blocked_on=instance.blocked_on,
        wait_message=wait_message(form, instance),
        failures=failures(instance),
        revisiting=now.revisiting,
        closed_reason=instance.closed_reason,
        undo=_move(form, instance, next_undo(form, instance), by=-1),
        redo=_move(form, instance, next_redo(form, instance), by=1),
        asked=None if (asked := next_asked(instance, now)) is None else asked.field.id,
    )


def is_complete(instance: Instance, now: Evaluation) -> bool:
    """Whether nothing is missing, or an executor said so; an abandoned form is not complete."""
    return instance.status is InstanceStatus.COMPLETE or (
        now.complete and instance.status is not InstanceStatus.ABANDONED
    )


def wait_message(form: Form[Any], instance: Instance) -> str | None:
    """What people are told while a checkpoint is waited for."""
    checkpoint = form.checkpoints.get(instance.blocked_on or "")
    return checkpoint.wait_message or None if checkpoint else None


def failures(instance: Instance) -> tuple[Failure, ...]:
    """Executors that failed when they ran last, by time. One that worked later is no failure any more."""
    latest: dict[str, Dispatch] = {}
    for dispatch in sorted(instance.dispatches.values(), key=lambda one: one.at):
        if dispatch.status is not DispatchStatus.RUNNING:
            latest.pop(dispatch.hook_id, None)
            latest[dispatch.hook_id] = dispatch
    return tuple(
        Failure(hook_id=dispatch.hook_id, message=dispatch.error or "")
        for dispatch in latest.values()
        if dispatch.status is DispatchStatus.FAILED
    )


def next_asked(instance: Instance, now: Evaluation) -> FieldState | None:
    """Find what is asked next: the first required question of the open step, else the first.

    Returns:
        ``None`` when nothing is asked: the form is complete, closed or waiting.
    """
    if instance.blocked_on is not None:
        return None
    asked = [state for state in now.fields.values() if is_asked(state, instance, now)]
    return next((one for one in asked if one.field.required), asked[0] if asked else None)


def is_asked(state: FieldState, instance: Instance, now: Evaluation) -> bool:
    """Whether a question is to be asked now."""
    closed = instance.status is InstanceStatus.ABANDONED or (
        instance.status is InstanceStatus.COMPLETE and not now.revisiting
    )
    if closed or not state.applicable or now.open_step is None or state.field.step != now.open_step.id:
        return False
    answered = state.status is FieldStatus.SKIPPED or (state.status is FieldStatus.FILLED and not now.revisiting)
    return not answered


def _step(form: Form[Any], now: Evaluation, scope: Scope, id: str | None) -> Step | None:
    match scope:
        case Scope.OPEN:
            return now.open_step or form.steps[-1]
        case Scope.OUTLINE:
            return None
        case Scope.FIELD:
            return form.step(find_field(form, id or "").step)
        case Scope.STEP:
            step = (now.open_step or form.steps[-1]) if id is None else form.step(id)
            if step is None:
                known = ", ".join(repr(one.id) for one in form.steps)
                raise FormNotFoundError(f"form {form.id!r} has no step {id!r}; it has {known}")
            return step


def _field_row(state: FieldState, instance: Instance, now: Evaluation) -> FieldRow:
    field, held = state.field, state.status is FieldStatus.HELD and state.revision is not None
    return FieldRow(
        id=field.id,
        label=field.label,
        description=field.description,
        type=field.type,
        required=field.required,
        skippable=field.notes.skippable,
        status=state.status,
        value=_raw(state.revision) if held else as_json(state.value),
        error="; ".join(state.problems) or None,
        skip_reason=state.revision.skipped if state.revision is not None else None,
        ask=is_asked(state, instance, now),
        confirms=field.notes.confirms,
    )


def _step_row(step: Step, now: Evaluation) -> StepRow:
    required = [state for field in step.fields if (state := now.fields[field.id]).applicable and field.required]
    return StepRow(
        id=step.id,
        title=step.title,
        index=step.index,
        preview=step.notes.preview,
        ask=step.notes.ask,
        required=len(required),
        filled=sum(state.status is FieldStatus.FILLED for state in required),
        skipped=sum(state.status is FieldStatus.SKIPPED for state in required),
        complete=step.id in now.steps_complete,
        open=step is now.open_step,
    )


def _move(form: Form[Any], instance: Instance, field_id: str | None, *, by: int) -> Move | None:
    if field_id is None:
        return None
    entry = instance.entries[field_id]
    place = entry.cursor + by
    revision = entry.revisions[place] if place >= 0 else None
    return Move(
        field=field_id,
        label=form.fields[field_id].label,
        becomes=_raw(revision),
        empty=revision is None or revision.retracted,
        skip_reason=None if revision is None else revision.skipped,
    )


def _raw(revision: Revision | None) -> Any:
    return None if revision is None or revision.written is None else from_json(revision.written)
