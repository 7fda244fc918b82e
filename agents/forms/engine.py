"""What follows from a write: which executors rise, how the instance stands then. Pure.

Above: ``runner`` saves what this decides, and only then runs the executors. Below: ``writes`` and ``evaluation``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic_core import from_json

from agents.forms.definition import Form
from agents.forms.effects import Complete, Effect, Jump, Patch, Terminate
from agents.forms.errors import FormDefinitionError, FormNotFoundError
from agents.forms.evaluation import NOTHING, Evaluation, FieldStatus, evaluate
from agents.forms.field import write_value
from agents.forms.hook import FORM_HOOK, checkpoint_hook, field_hook, skip_hook, step_hook
from agents.forms.record import Batch, Dispatch, DispatchStatus, Instance, InstanceStatus
from agents.forms.writes import REASON_LIMIT, Stamp, fill

__all__ = [
    "ROUNDS",
    "Outcome",
    "abandon",
    "advance",
    "as_seen_by",
    "conclude",
    "dispatch_key",
    "migrate",
    "resolve",
    "start",
]

ROUNDS = 8
"""How often executors may patch answers that raise executors that patch answers."""

ENDLESS = f"its patch was dropped: executors had patched each other's answers {ROUNDS} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is to be saved, and what is to run then."""

    instance: Instance
    evaluation: Evaluation
    batch_id: str | None = None
    """The executors that rose, in ``instance.pending``; ``None``: none did."""


def start(instance: Instance, form: Form[Any]) -> Outcome:
    """Begin an instance that may hold first answers: whatever is true of it rises."""
    return advance(form, NOTHING, instance, at=instance.created_at)


def advance(
    form: Form[Any], before: Evaluation, edited: Instance, *, at: datetime, round: int = 1, forced: bool = False
) -> Outcome:
    """Find what a write leads to.

    Args:
        form: the form.
        before: how the instance stood before the write.
        edited: the instance after it.
        at: the time of the write.
        round: how many batches of executors led to this one, itself included.
        forced: whether the form is complete whatever is missing.

    Raises:
        FormDefinitionError: a condition raised; nothing is to be saved.
    """
    rising: list[str] = []
    instance, previous = edited, before
    reached = True
    while reached:
        evaluation = _sound(form, instance)
        rose = [hook for hook in _edges(form, previous, evaluation) if hook not in rising]
        rising += rose
        counted = {hook: instance.occurrences.get(hook, 0) + 1 for hook in rose}
        instance, previous = replace(instance, occurrences={**instance.occurrences, **counted}), evaluation
        # A checkpoint that is reached may itself open a question; what follows from that belongs to the same commit.
        reached = any(_checkpoints(form, rose))
    instance = replace(instance, version=edited.version + 1, updated_at=at)
    batch_id = None
    claims = _fulfilled(evaluation)
    receipts = {
        _key(instance, hook, edited.occurrences): Dispatch(
            hook_id=hook, status=DispatchStatus.OK, attempts=0, at=at, claim_id=claims[hook]
        )
        for hook in rising
        if hook in form.executors and hook in claims
    }
    instance = replace(instance, dispatches={**instance.dispatches, **receipts})
    if hooks := tuple(hook for hook in rising if hook in form.executors and hook not in claims):
        batch_id = f"b{instance.version}"
        batch = Batch(hooks=hooks, cursors=_cursors(edited), occurrences=edited.occurrences, round=round)
        instance = replace(instance, pending={**instance.pending, batch_id: batch})
    blocking = next((one for one in _checkpoints(form, rising) if form.checkpoints[one].blocking), None)
    # Complete without being so: an executor said it was, and no answer has become missing since.
    kept = forced or (edited.status is InstanceStatus.COMPLETE and not before.complete)
    instance = _with_status(instance, evaluation.complete or kept, blocking, at)
    return Outcome(instance=instance, evaluation=evaluation, batch_id=batch_id)


def conclude(
    form: Form[Any], instance: Instance, batch_id: str, effects: Mapping[str, Sequence[Effect]], stamp: Stamp
) -> Outcome:
    """Apply what the executors of a batch returned, and let go of it.

    Args:
        form: the form.
        instance: as it is now.
        batch_id: one of ``instance.pending``.
        effects: by hook; a hook that failed has none.
        stamp: when, and who the executors are.

    Raises:
        FormDefinitionError: a condition raised.
    """
    batch = instance.pending[batch_id]
    before = _sound(form, instance)
    all_effects = [effect for hook in batch.hooks for effect in effects.get(hook, ())]
    ends = [effect.reason for effect in all_effects if isinstance(effect, Terminate)]
    if ends:
        return Outcome(instance=abandon(instance, ends[-1], at=stamp.at), evaluation=before)
    unblocked = instance.blocked_on is not None and checkpoint_hook(instance.blocked_on) in batch.hooks
    edited = replace(
        instance,
        pending={one: other for one, other in instance.pending.items() if one != batch_id},
        blocked_on=None if unblocked else instance.blocked_on,
        status=InstanceStatus.ACTIVE if unblocked else instance.status,
    )
    patch: dict[str, Any] = {}
    for effect in all_effects:
        if isinstance(effect, Patch):
            patch |= effect.values
    changes = {one: value for one, value in patch.items() if one in form.fields and _changes(edited, one, value)}
    if changes and batch.round >= ROUNDS:
        edited = _fail_patches(edited, batch, effects, stamp.at)
    elif changes:
        edited = fill(form, edited, changes, stamp, effects_of=batch_id).instance
    for effect in all_effects:
        if isinstance(effect, Jump) and form.step(effect.step_id) is not None:
            edited = replace(edited, open_step=effect.step_id)
    forced = any(isinstance(effect, Complete) for effect in all_effects)
    return advance(form, before, edited, at=stamp.at, round=batch.round + 1, forced=forced)


def resolve(
    form: Form[Any],
    instance: Instance,
    checkpoint: str,
    *,
    ok: bool,
    error: str | None,
    values: Mapping[str, Any],
    stamp: Stamp,
) -> Instance:
    """Settle a checkpoint from outside: its executor does not run again, and whoever still runs it is not heard.

    Raises:
        FormNotFoundError: there is no such checkpoint.
    """
    if checkpoint not in form.checkpoints:
        raise FormNotFoundError(f"form {form.id!r} has no checkpoint {checkpoint!r}; it has {_list(form.checkpoints)}")
    hook = checkpoint_hook(checkpoint)
    pending = {
        batch_id: replace(batch, hooks=tuple(one for one in batch.hooks if one != hook))
        for batch_id, batch in instance.pending.items()
    }
    key = f"{instance.id}:{hook}:resolved"
    known = instance.dispatches.get(key)
    dispatch = Dispatch(
        hook_id=hook,
        status=DispatchStatus.OK if ok else DispatchStatus.FAILED,
        attempts=1 + (known.attempts if known else 0),
        at=stamp.at,
        error=None if ok else (error or "").strip() or "the checkpoint was rejected",
    )
    matches = instance.blocked_on == checkpoint
    edited = replace(
        instance,
        pending={batch_id: batch for batch_id, batch in pending.items() if batch.hooks},
        dispatches={**instance.dispatches, key: dispatch},
        blocked_on=None if matches else instance.blocked_on,
        status=InstanceStatus.ACTIVE if matches else instance.status,
    )
    return fill(form, edited, values, stamp).instance if values else edited


def abandon(instance: Instance, reason: str, *, at: datetime) -> Instance:
    """Close an instance; what was to run does not run any more."""
    return replace(
        instance,
        status=InstanceStatus.ABANDONED,
        closed_reason=reason[:REASON_LIMIT],
        pending={},
        blocked_on=None,
        version=instance.version + 1,
        updated_at=at,
    )


def migrate(form: Form[Any], instance: Instance, stamp: Stamp) -> Instance:
    """Bring an instance of another version to this one, or make it stale when the form does not say how. Runs nothing.

    Raises:
        FormDefinitionError: the form's ``migrate`` raised.
    """
    changed = replace(instance, version=instance.version + 1, updated_at=stamp.at)
    if instance.form_version == form.version:  # Stale, and the program is back at the version it was begun in.
        return _taken_over(form, changed)
    if form.migrate is None:
        return replace(changed, status=InstanceStatus.STALE)
    old = {
        field_id: from_json(revision.written)
        for field_id, entry in instance.entries.items()
        if (revision := entry.in_force) is not None and revision.written is not None
    }
    try:
        new = form.migrate(old, instance.form_version)
    except Exception as exc:
        raise FormDefinitionError([form.id], f"migrate of form {form.id!r} raised {type(exc).__name__}") from exc
    values = {one: value for one, value in new.items() if one in form.fields and _changes(instance, one, value)}
    return _taken_over(form, replace(fill(form, changed, values, stamp).instance, form_version=form.version))


def as_seen_by(instance: Instance, batch: Batch) -> Instance:
    """The instance as it was when a batch of executors rose; counters are from before."""
    entries = {
        field_id: replace(instance.entries[field_id], cursor=cursor) for field_id, cursor in batch.cursors.items()
    }
    return replace(instance, entries=entries, occurrences=batch.occurrences)


def dispatch_key(instance: Instance, batch: Batch, hook: str) -> str:
    """The idempotency key of a hook in a batch."""
    return _key(instance, hook, batch.occurrences)


def _key(instance: Instance, hook: str, occurrences: Mapping[str, int]) -> str:
    return f"{instance.id}:{hook}:{occurrences.get(hook, 0) + 1}"


def _fulfilled(now: Evaluation) -> dict[str, str]:
    """The hooks that need not run, because evidence in force proves done what they would do; with its claim.

    Of fields and steps only: a checkpoint is reached, whatever is known.
    """
    found: dict[str, str] = {}
    for state in now.fields.values():
        revision = state.revision
        if state.status is FieldStatus.FILLED and revision is not None and revision.claim_id is not None:
            if "field" in revision.fulfills:
                found[field_hook(state.field.id)] = revision.claim_id
            if "step" in revision.fulfills:
                found[step_hook(state.field.step)] = revision.claim_id
    return found


def _taken_over(form: Form[Any], instance: Instance) -> Instance:
    """Give an instance the status it has in this version; a checkpoint that is waited for still is."""
    if instance.blocked_on is not None:
        return replace(instance, status=InstanceStatus.AWAITING)
    complete = instance.completed_at is not None and evaluate(form, instance).complete
    return replace(instance, status=InstanceStatus.COMPLETE if complete else InstanceStatus.ACTIVE)


def _edges(form: Form[Any], before: Evaluation, after: Evaluation) -> Iterator[str]:
    """What has become true; ordered as executors run."""
    filled, skipped = FieldStatus.FILLED, FieldStatus.SKIPPED
    for status, hook_of in ((filled, field_hook), (skipped, skip_hook)):
        for field_id, state in after.fields.items():
            was = before.fields.get(field_id)
            if state.status is status and (was is None or was.status is not status):
                yield hook_of(field_id)
    for step in form.steps:
        if step.id in after.steps_complete and step.id not in before.steps_complete:
            yield step_hook(step.id)
    for checkpoint in form.checkpoints:
        if checkpoint in after.checkpoints and checkpoint not in before.checkpoints:
            yield checkpoint_hook(checkpoint)
    if after.complete and not before.complete:
        yield FORM_HOOK


def _checkpoints(form: Form[Any], rising: Sequence[str]) -> Iterator[str]:
    return (one for one in form.checkpoints if checkpoint_hook(one) in rising)


def _with_status(instance: Instance, complete: bool, blocking: str | None, at: datetime) -> Instance:
    blocked_on = instance.blocked_on or blocking
    if blocked_on is not None:
        status = InstanceStatus.AWAITING
    elif complete:
        status = InstanceStatus.COMPLETE
    else:
        status = InstanceStatus.ACTIVE
    completed_at = (instance.completed_at or at) if status is InstanceStatus.COMPLETE else instance.completed_at
    return replace(instance, status=status, blocked_on=blocked_on, completed_at=completed_at)


def _fail_patches(instance: Instance, batch: Batch, effects: Mapping[str, Sequence[Effect]], at: datetime) -> Instance:
    keys = [
        dispatch_key(instance, batch, hook)
        for hook in batch.hooks
        if any(isinstance(effect, Patch) for effect in effects.get(hook, ()))
    ]
    failed = {
        key: replace(instance.dispatches[key], status=DispatchStatus.FAILED, error=ENDLESS, at=at)
        for key in keys
        if key in instance.dispatches
    }
    return replace(instance, dispatches={**instance.dispatches, **failed})


def _sound(form: Form[Any], instance: Instance) -> Evaluation:
    evaluation = evaluate(form, instance)
    if evaluation.defects:
        raise FormDefinitionError(
            (defect.id for defect in evaluation.defects), *(defect.error for defect in evaluation.defects)
        )
    return evaluation


def _changes(instance: Instance, field_id: str, value: Any) -> bool:
    entry = instance.entries.get(field_id)
    revision = None if entry is None else entry.in_force
    return revision is None or revision.written != write_value(value)


def _cursors(instance: Instance) -> dict[str, int]:
    return {field_id: entry.cursor for field_id, entry in instance.entries.items()}


def _list(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names)) or "none"
