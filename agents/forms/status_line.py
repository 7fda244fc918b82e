"""The few lines that a model is shown of a form with every call: where it stands and what is missing, no answers.

How long they are depends on the form, not on how much was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.forms.definition import Form
from agents.forms.evaluation import Evaluation, FieldStatus
from agents.forms.record import Instance, InstanceStatus
from agents.forms.view import failures, wait_message

__all__ = ["status_line"]

SAID = 160
"""Characters shown of what callers and executors said."""

STALE = (
    "it was begun in another version of the form and cannot be taken over; "
    "abandon it and start a new one with what is known"
)


def status_line(form: Form[Any], instance: Instance, now: Evaluation | None) -> str:
    """Write the lines; empty when there is nothing to do.

    Args:
        form: the form.
        instance: as it is kept.
        now: how it stands; ``None`` when it is stale.
    """
    head = f"[form: {form.id}]"
    if instance.status is InstanceStatus.STALE or now is None:
        return f"{head} stale — {STALE}"
    if instance.status is InstanceStatus.AWAITING:
        said = wait_message(form, instance)
        return f'{head} awaiting "{instance.blocked_on}"{f" — {said}" if said else ""}'
    if instance.status is InstanceStatus.ABANDONED:
        return ""
    if instance.status is InstanceStatus.COMPLETE and not now.revisiting:
        return ""
    return "\n".join([_head(form, now), *_rest(form, instance, now)])


def _head(form: Form[Any], now: Evaluation) -> str:
    step = now.open_step
    if step is None:
        return f"[form: {form.id}] nothing pending"
    place = f'step {step.index + 1}/{len(form.steps)} "{step.title}"'
    if now.revisiting:
        place = f"back at {place} — go through it again"
    labels = [field.label for field in step.fields if not now.fields[field.id].settled]
    pending = f" · pending: {', '.join(labels)}" if labels else ""
    return f"[form: {form.id}] {place}{pending}"


def _rest(form: Form[Any], instance: Instance, now: Evaluation) -> Iterator[str]:
    after = -1 if now.open_step is None else now.open_step.index
    later = [step for step in form.steps[after + 1 :] if step.id not in now.steps_complete]
    if later:
        previews = (f"{step.title}{f' ({step.notes.preview})' if step.notes.preview else ''}" for step in later)
        yield f"later: {' · '.join(previews)}"
    skipped = [
        f"{state.field.label} ({_said(state.revision.skipped)})"
        for state in now.fields.values()
        if state.status is FieldStatus.SKIPPED and state.revision is not None and state.revision.skipped is not None
    ]
    if skipped:
        yield f"skipped (do not ask again): {' · '.join(skipped)}"
    for failure in failures(instance):
        yield f"blocked earlier: {failure.hook_id} — {_said(failure.message)}"
    if form.conduct:
        yield form.conduct


def _said(text: str) -> str:
    """On one line: what was said makes no line of its own."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SAID else flat[: SAID - 1] + "…"
