"""What became of a write, answer by answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.forms.evaluation import Evaluation, FieldStatus
from agents.forms.keeping import Saved
from agents.forms.view import Failure, FormView, Scope, failures, see
from agents.forms.writes import Written

__all__ = ["FillReport", "Issue", "report_on"]

UNWRITABLE = "it is no JSON, or longer than 20,000 characters; it was not stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """What is wrong with an answer."""

    field: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FillReport:
    """What became of a write."""

    view: FormView
    captured: tuple[str, ...] = ()
    """Ids of fields whose answers hold."""
    held: tuple[str, ...] = ()
    """Ids of fields whose answers are kept until they apply."""
    skipped: tuple[str, ...] = ()
    unknown: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names that no field goes by, with ids that are near."""
    aliased: tuple[tuple[str, str], ...] = ()
    """Names that were not an id, with the ids they were taken for."""
    issues: tuple[Issue, ...] = ()
    failures: tuple[Failure, ...] = ()
    """Executors of this write that failed; when none did, all that have failed when they ran last."""


def report_on(saved: Saved, written: Written) -> FillReport:
    """Tell what became of a write, by how the instance stood right after it, and what followed."""
    now = saved.first.evaluation
    by_status: dict[FieldStatus, list[str]] = {}
    for field_id in written.touched:
        by_status.setdefault(now.fields[field_id].status, []).append(field_id)
    return FillReport(
        view=_view(saved, written),
        captured=tuple(by_status.get(FieldStatus.FILLED, ())),
        held=tuple(by_status.get(FieldStatus.HELD, ())),
        skipped=tuple(by_status.get(FieldStatus.SKIPPED, ())),
        unknown=written.unknown,
        aliased=written.aliased,
        issues=tuple(_issues(now, by_status.get(FieldStatus.INVALID, ()), written.refused)),
        failures=_failures(saved),
    )


def _view(saved: Saved, written: Written) -> FormView:
    """The open step; when none is open any more, that of what was written."""
    touched = next(iter(written.touched), None)
    if saved.now.open_step is None and touched is not None:
        step = saved.form.fields[touched].step
        return see(saved.form, saved.instance, saved.now, Scope.STEP, step)
    return see(saved.form, saved.instance, saved.now)


def _issues(now: Evaluation, invalid: Sequence[str], refused: Sequence[str]) -> Iterator[Issue]:
    for field_id in refused:
        yield Issue(field=field_id, message=UNWRITABLE)
    for field_id in invalid:
        state = now.fields[field_id]
        sent = state.revision.written if state.revision is not None else None
        hint = None if sent is None else state.field.hint(sent)
        for problem in state.problems:
            yield Issue(field=field_id, message=problem, hint=hint)


def _failures(saved: Saved) -> tuple[Failure, ...]:
    open_failures = failures(saved.instance)
    own = tuple(failure for failure in open_failures if failure.hook_id in saved.failed)
    return own or open_failures
