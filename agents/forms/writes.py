"""Writing answers: each makes an instance with a revision more, or another one in force. Pure; nothing is ever removed.

Above: ``engine`` finds what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from agents.forms.definition import Form
from agents.forms.errors import FormNotFoundError, FormValidationError
from agents.forms.evaluation import evaluate
from agents.forms.field import Field, write_value
from agents.forms.record import Entry, Instance, Provenance, Revision

__all__ = [
    "REASON_LIMIT",
    "Stamp",
    "Written",
    "adopt",
    "fill",
    "find_field",
    "next_redo",
    "next_undo",
    "redo",
    "retract",
    "skip",
    "undo",
]

PATCH_LIMIT = 200
"""Answers in one write."""

NAME_LIMIT = 100
"""Characters of an unknown field's name that are repeated."""

REASON_LIMIT = 500
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """When something is written, and by whom."""

    at: datetime
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An instance after a write, and how the names in it were understood."""

    instance: Instance
    touched: tuple[str, ...] = ()
    """Ids of the fields written, in the order given."""
    unknown: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names that no field goes by, with ids that are near."""
    aliased: tuple[tuple[str, str], ...] = ()
    """Names that were not an id, with the ids they were taken for."""
    refused: tuple[str, ...] = ()
    """Ids of fields whose answers are no JSON or too long: not even stored."""


def fill(
    form: Form[Any], instance: Instance, values: Mapping[str, Any], stamp: Stamp, *, effects_of: str | None = None
) -> Written:
    """Write answers, valid or not; what is wrong with one does not concern the others.

    Args:
        form: the form.
        instance: as it is.
        values: by field id or label, in any spelling.
        stamp: when and by whom.
        effects_of: the batch whose executors want it; ``None``: a caller or the host does.

    Raises:
        FormValidationError: there are more than 200.
    """
    if len(values) > PATCH_LIMIT:
        raise FormValidationError(f"{len(values)} answers at once; send up to {PATCH_LIMIT}")
    unknown: list[tuple[str, tuple[str, ...]]] = []
    aliased: list[tuple[str, str]] = []
    refused: list[str] = []
    written: dict[str, str] = {}
    for name, value in values.items():
        field_id = name if name in form.fields else form.names.find(name)
        if field_id is None:
            unknown.append((name[:NAME_LIMIT], form.names.near(name)))
            continue
        if field_id != name:
            aliased.append((name[:NAME_LIMIT], field_id))
        text = write_value(value)
        if text is None:
            refused.append(field_id)
        else:
            written[field_id] = text
    edited = _append_answers(form, instance, written, stamp, effects_of)
    return Written(
        instance=edited,
        touched=tuple(written),
        unknown=tuple(unknown),
        aliased=tuple(aliased),
        refused=tuple(refused),
    )


def adopt(
    form: Form[Any],
    instance: Instance,
    field_id: str,
    written: str,
    stamp: Stamp,
    *,
    claim_id: str,
    fulfills: tuple[Literal["field", "step"], ...],
) -> Instance:
    """Write an answer that evidence gave.

    Args:
        form: the form.
        instance: as it is.
        field_id: which question.
        written: the answer, as JSON text.
        stamp: when, and by which evidence.
        claim_id: the evidence.
        fulfills: what it proves done besides.
    """
    said = {"written": written, "claim_id": claim_id, "fulfills": fulfills}
    return _append(form, instance, form.fields[field_id], stamp, **said).instance


def skip(form: Form[Any], instance: Instance, name: str, reason: str, stamp: Stamp) -> Written:
    """Note that a question will not be answered, and why.

    Raises:
        FormValidationError: the question may not be skipped, or there is no reason.
        FormNotFoundError: there is no such field.
    """
    field = find_field(form, name)
    if not field.notes.skippable:
        raise FormValidationError(
            f"{field.label!r} ({field.id}) may not be skipped; it needs an answer", field=field.id
        )
    if not reason.strip():
        raise FormValidationError("give a reason for skipping, in the caller's words", field=field.id)
    return _append(form, instance, field, stamp, skipped=reason.strip()[:REASON_LIMIT])


def retract(form: Form[Any], instance: Instance, name: str, stamp: Stamp) -> Written:
    """Withdraw an answer or a refusal: the question is asked again. What was said stays in the history.

    Raises:
        FormValidationError: there is nothing to withdraw.
        FormNotFoundError: there is no such field.
    """
    field = find_field(form, name)
    if (entry := instance.entries.get(field.id)) is None or entry.in_force is None:
        raise FormValidationError(f"{field.label!r} ({field.id}) has no answer to withdraw", field=field.id)
    return _append(form, instance, field, stamp)


def undo(form: Form[Any], instance: Instance, name: str | None = None) -> Written:
    """Let the revision before hold again: of one field, or of the one written last.

    Raises:
        FormValidationError: there is nothing to undo.
        FormNotFoundError: there is no such field.
    """
    return _move(form, instance, None if name is None else find_field(form, name).id, by=-1)


def redo(form: Form[Any], instance: Instance, name: str | None = None) -> Written:
    """Let the revision after hold again: of one field, or the oldest of those undone.

    Raises:
        FormValidationError: there is nothing to redo.
        FormNotFoundError: there is no such field.
    """
    return _move(form, instance, None if name is None else find_field(form, name).id, by=1)


def next_undo(form: Form[Any], instance: Instance) -> str | None:
    """The field that :func:`undo` is about when none is named; ``None``: there is nothing to undo."""
    found = [(revision.seq, field_id) for field_id, entry in _known(form, instance) if (revision := entry.at_cursor)]
    return max(found)[1] if found else None


def next_redo(form: Form[Any], instance: Instance) -> str | None:
    """The field that :func:`redo` is about when none is named; ``None``: there is nothing to redo."""
    found = [
        (entry.revisions[entry.cursor + 1].seq, field_id)
        for field_id, entry in _known(form, instance)
        if entry.cursor + 1 < len(entry.revisions)
    ]
    return min(found)[1] if found else None


def find_field(form: Form[Any], name: str) -> Field:
    """Find the field a caller means.

    Raises:
        FormNotFoundError: none goes by the name; says which are near.
    """
    field_id = name if name in form.fields else form.names.find(name)
    if field_id is None:
        near = form.names.near(name)
        suggestion = f"; did you mean {' or '.join(near)}?" if near else ""
        raise FormNotFoundError(f"no field goes by {name[:NAME_LIMIT]!r}{suggestion}")
    return form.fields[field_id]


def _move(form: Form[Any], instance: Instance, field_id: str | None, *, by: int) -> Written:
    verb = "undo" if by < 0 else "redo"
    target = field_id or (next_undo if by < 0 else next_redo)(form, instance)
    entry = instance.entries.get(target) if target is not None else None
    if target is None or entry is None or not -1 <= entry.cursor + by < len(entry.revisions):
        raise FormValidationError(f"there is nothing to {verb}{f' in {target!r}' if target else ''}")
    moved = replace(entry, cursor=entry.cursor + by)
    return Written(instance=_with(form, instance, {target: moved}), touched=(target,))


def _append_answers(
    form: Form[Any], instance: Instance, written: Mapping[str, str], stamp: Stamp, effects_of: str | None
) -> Instance:
    entries: dict[str, Entry] = {}
    for seq, (field_id, text) in enumerate(written.items(), start=instance.revision_seq + 1):
        revision = Revision(
            seq=seq,
            at=stamp.at,
            provenance=stamp.provenance,
            written=text,
            effect_id=None if effects_of is None else f"{effects_of}:patch:{field_id}",
        )
        entries[field_id] = instance.entries.get(field_id, Entry()).with_revision(revision)
    edited = replace(_with(form, instance, entries), revision_seq=instance.revision_seq + len(written))
    if confirmed := [field_id for field_id in form.confirming if field_id in written]:
        # A yes is to the answers as they are after the write it came with.
        now = evaluate(form, edited).fingerprint
        sealed = {field_id: _sealed(edited.entries[field_id], now) for field_id in confirmed}
        edited = replace(edited, entries={**edited.entries, **sealed})
    return edited


def _sealed(entry: Entry, fingerprint: str) -> Entry:
    *before, last = entry.revisions
    return replace(entry, revisions=(*before, replace(last, fingerprint=fingerprint)))


def _append(form: Form[Any], instance: Instance, field: Field, stamp: Stamp, **said: Any) -> Written:
    seq = instance.revision_seq + 1
    revision = Revision(seq=seq, at=stamp.at, provenance=stamp.provenance, **said)
    entry = instance.entries.get(field.id, Entry()).with_revision(revision)
    edited = replace(_with(form, instance, {field.id: entry}), revision_seq=seq)
    return Written(instance=edited, touched=(field.id,))


def _with(form: Form[Any], instance: Instance, entries: Mapping[str, Entry]) -> Instance:
    """Put entries in; a step that was jumped to is left when something is written into it."""
    steps = {form.fields[field_id].step for field_id in entries}
    open_step = None if instance.open_step in steps else instance.open_step
    return replace(instance, entries={**instance.entries, **entries}, open_step=open_step)


def _known(form: Form[Any], instance: Instance) -> Iterable[tuple[str, Entry]]:
    return ((field_id, entry) for field_id, entry in instance.entries.items() if field_id in form.fields)
