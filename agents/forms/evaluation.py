"""How an instance stands: a pure function of the form and what is kept. Nothing of it is stored.

Above: ``engine`` compares two evaluations; ``view`` shows one. Below: ``gates`` asks the form's conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agents.forms.definition import Form
from agents.forms.field import Field, Judgement
from agents.forms.fingerprint import fingerprint
from agents.forms.gates import Defect, Gates
from agents.forms.hook import checkpoint_hook
from agents.forms.record import Instance, Revision
from agents.forms.step import Step

__all__ = ["NOTHING", "Evaluation", "FieldState", "FieldStatus", "evaluate"]

NOT_SKIPPABLE = "was skipped, and has to be answered by now"
OUTDATED = "was given for other answers; read them back as they are now and ask again"


class FieldStatus(StrEnum):
    """How a question stands."""

    EMPTY = "empty"
    HELD = "held"
    """Answered, and does not apply."""
    SKIPPED = "skipped"
    INVALID = "invalid"
    FILLED = "filled"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldState:
    """A question and its answer."""

    field: Field
    status: FieldStatus
    applicable: bool
    value: Any = None
    """The answer, when it is filled."""
    revision: Revision | None = None
    """What is in force."""
    problems: tuple[str, ...] = ()
    """What is wrong, when it is invalid."""

    @property
    def settled(self) -> bool:
        """Whether it needs no answer any more, or does not need any."""
        return not self.applicable or self.status in (FieldStatus.FILLED, FieldStatus.SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How an instance stands. It is also what conditions and executors may ask: a :class:`FormState`."""

    fields: Mapping[str, FieldState] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    steps_complete: frozenset[str] = frozenset()
    steps_closed: frozenset[str] = frozenset()
    """Ids of steps whose condition is not true: they are not asked yet."""
    checkpoints: frozenset[str] = frozenset()
    """Ids of checkpoints whose condition is true."""
    fired: frozenset[str] = frozenset()
    """Ids of checkpoints that were ever reached."""
    complete: bool = False
    open_step: Step | None = None
    revisiting: bool = False
    """Whether the open step was complete and is gone through again."""
    fingerprint: str = ""
    """Of the answers given; empty when the form has nothing that confirms."""
    defects: tuple[Defect, ...] = ()
    """Conditions that raised."""

    def step_complete(self, step: type[Any] | str) -> bool:
        """Whether every required question of a step is answered or skipped."""
        return (step if isinstance(step, str) else step.__form_step__.id) in self.steps_complete

    def checkpoint_fired(self, checkpoint: str) -> bool:
        """Whether a checkpoint ever was reached."""
        return checkpoint in self.fired


NOTHING = Evaluation()
"""A form before it exists: nothing is complete, no condition true."""


def evaluate(form: Form[Any], instance: Instance) -> Evaluation:
    """Find how an instance stands."""
    return _Evaluating(form, instance).run()


class _Evaluating:
    def __init__(self, form: Form[Any], instance: Instance) -> None:
        self._form = form
        self._instance = instance
        self._excluded: set[str] = set()
        self._fired = frozenset(one for one in form.checkpoints if instance.occurrences.get(checkpoint_hook(one), 0))
        self._revisions = {
            field_id: revision
            for field_id in form.fields
            if (entry := instance.entries.get(field_id)) is not None and (revision := entry.in_force) is not None
        }
        self._judged = {
            field_id: form.fields[field_id].judge(revision.written)
            for field_id, revision in self._revisions.items()
            if revision.written is not None
        }
        self._fingerprint = ""

    def run(self) -> Evaluation:
        gates = self._settle()
        states = {field.id: self._state(field, gates) for field in self._form.fields.values()}
        checkpoints = frozenset(
            checkpoint.id
            for checkpoint in self._form.checkpoints.values()
            if gates.ask(checkpoint.id, checkpoint.when, broken=False)
        )
        steps_complete = frozenset(
            step.id for step in self._form.steps if all(_resolved(states[field.id]) for field in step.fields)
        )
        steps_closed = frozenset(
            step.id
            for step in self._form.steps
            if step.notes.when is not None and not gates.ask(step.id, step.notes.when)
        )
        open_step = self._open(steps_complete, steps_closed)
        return Evaluation(
            fields=states,
            values=gates.values,
            steps_complete=steps_complete,
            steps_closed=steps_closed,
            checkpoints=checkpoints,
            fired=self._fired,
            complete=len(steps_complete) == len(self._form.steps),
            open_step=open_step,
            revisiting=self._instance.open_step is not None
            and open_step is not None
            and open_step.id == self._instance.open_step
            and open_step.id in steps_complete,
            fingerprint=self._fingerprint,
            defects=tuple(gates.defects),
        )

    def _settle(self) -> Gates:
        """Exclude what does not apply, and what therefore does not apply either, until nothing changes."""
        while True:  # Each round but the last excludes a field for good; nearly always there is one.
            gates = self._gates()
            out = {field_id for field_id in self._revisions if not gates.applies(self._form.fields[field_id])}
            if out <= self._excluded:
                return gates
            self._excluded |= out

    def _gates(self) -> Gates:
        holding = {field_id: judged for field_id, judged in self._judged.items() if field_id not in self._excluded}
        self._fingerprint = self._current_fingerprint(holding)
        values = {
            field_id: judged.value
            for field_id, judged in holding.items()
            if judged.valid and not self._outdated(field_id)
        }
        settled = {*values, *(field_id for field_id in self._revisions if self._is_skip(field_id))}
        return Gates(
            form=self._form, values=values, settled=settled, excluded=frozenset(self._excluded), fired=self._fired
        )

    def _current_fingerprint(self, holding: Mapping[str, Judgement]) -> str:
        if not self._form.confirming:
            return ""
        answered = (field_id for field_id, judged in holding.items() if judged.valid)
        skipped = (one for one in self._revisions if one not in self._excluded and self._is_skip(one))
        counted = (one for one in (*answered, *skipped) if one not in self._form.confirming)
        return fingerprint(self._instance.entries, counted)

    def _is_skip(self, field_id: str) -> bool:
        return self._revisions[field_id].skipped is not None and self._form.fields[field_id].notes.skippable

    def _outdated(self, field_id: str) -> bool:
        """Whether a confirmation was given for other answers, or a later one was taken back: it is no yes now."""
        if field_id not in self._form.confirming:
            return False
        entry = self._instance.entries[field_id]
        taken_back = entry.cursor < len(entry.revisions) - 1
        return taken_back or self._revisions[field_id].fingerprint != self._fingerprint

    def _state(self, field: Field, gates: Gates) -> FieldState:
        applicable = gates.applies(field)
        status, problems = self._status(field, applicable)
        return FieldState(
            field=field,
            status=status,
            applicable=applicable,
            value=gates.values[field.id] if status is FieldStatus.FILLED else None,
            revision=self._revisions.get(field.id),
            problems=problems,
        )

    def _status(self, field: Field, applicable: bool) -> tuple[FieldStatus, tuple[str, ...]]:
        revision = self._revisions.get(field.id)
        if revision is None:
            return FieldStatus.EMPTY, ()
        if not applicable:
            return FieldStatus.HELD, ()
        if revision.skipped is not None:
            return (FieldStatus.SKIPPED, ()) if field.notes.skippable else (FieldStatus.INVALID, (NOT_SKIPPABLE,))
        if self._outdated(field.id) and self._judged[field.id].valid:
            return FieldStatus.INVALID, (OUTDATED,)
        problems = self._judged[field.id].problems
        return (FieldStatus.INVALID if problems else FieldStatus.FILLED), problems

    def _open(self, complete: frozenset[str], closed: frozenset[str]) -> Step | None:
        if self._instance.open_step is not None:
            step = self._form.step(self._instance.open_step)
            if step is not None:
                return step
        incomplete = [step for step in self._form.steps if step.id not in complete]
        return next((step for step in incomplete if step.id not in closed), next(iter(incomplete), None))


def _resolved(state: FieldState) -> bool:
    return state.settled or not state.field.required
