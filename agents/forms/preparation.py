"""Forms filled in by evidence: which questions facts may answer, and their answers in the change that is saved anyway.

Above: ``keeping`` saves every change through it. Below: the preparer has facts read, and judges what they prove.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from pydantic_core import from_json

from agents.core.abort import AbortSignal
from agents.facts.preparation.preparer import Committed, FactPreparation
from agents.facts.preparation.requirement import Current, Decision, DecisionStatus, Report, Requirement, Rule
from agents.forms.definition import Form
from agents.forms.engine import Outcome
from agents.forms.errors import FormError
from agents.forms.evaluation import Evaluation, evaluate
from agents.forms.field import Field, write_value
from agents.forms.record import Instance, Provenance
from agents.forms.status_line import status_line
from agents.forms.writes import REASON_LIMIT, Stamp, adopt

__all__ = ["Adopt", "FormPreparation", "Prefill"]

Adopt: TypeAlias = Callable[[Form[Any], Instance], Instance]
"""Writes into an instance what facts answer by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPreparation:
    """Which questions facts may answer. Never one that confirms: a yes is to what was read back, and is said."""

    preparer: FactPreparation
    rule: Callable[[Field], Rule | None]
    """What evidence a question takes; ``None``: none will do."""
    eligible: Callable[[Field, Instance], bool] = lambda field, instance: True
    """Whether it may be answered by facts now."""


class Prefill:
    """Puts into every change of an instance what facts answer: in the same commit, and never over what was said.

    Args:
        preparation: which questions; ``None``: none.
        now: dates the answers.
    """

    def __init__(self, preparation: FormPreparation | None, now: Callable[[], datetime]) -> None:
        self._preparation = preparation
        self._now = now
        self._latest: tuple[str, Report] | None = None

    def report(self, instance_id: str) -> Report | None:
        """What the latest preparation of an instance came to; ``None``: there was none."""
        return self._latest[1] if self._latest is not None and self._latest[0] == instance_id else None

    async def save(
        self,
        form: Form[Any],
        edited: Instance,
        save: Callable[[Adopt], Awaitable[Outcome]],
        signal: AbortSignal | None = None,
    ) -> Outcome:
        """Have a change saved.

        Args:
            form: the instance's form.
            edited: the instance after the change.
            save: saves it, with what the function it is given writes into it. Nothing else: the facts wait meanwhile.
            signal: stops it.

        Raises:
            FormError: the facts are another subject's.
            AbortError: the signal was set; nothing was saved.
            Exception: what ``save`` raises.
        """
        if self._preparation is None:
            return await save(lambda form, instance: instance)
        preparation = self._preparation
        if preparation.preparer.facts.scope.subject != edited.subject:
            raise FormError("the facts belong to another subject than the form; give both the same one")

        async def commit(report: Report | None) -> Committed[Outcome]:
            if report is None:
                self._latest = None
                return Committed(value=await save(lambda form, instance: instance))
            answering = _Answering(preparation, report, self._now)
            outcome = await save(answering.adopt)
            self._latest = (edited.id, answering.outcome)
            return Committed(value=outcome, accepted=answering.claims)

        now = evaluate(form, edited)
        return await preparation.preparer.run(
            consumer=json.dumps(["forms", edited.subject, edited.id], separators=(",", ":")),
            requirements=[*_requirements(form, edited, now, preparation)],
            context=status_line(form, edited, now),
            commit=commit,
            accepted_claim_ids=_accepted_claims(edited),
            signal=signal,
        )

    def opened_up(self, form: Form[Any], instance: Instance, now: Evaluation) -> bool:
        """Whether facts were found to answer a question that was closed to them then, and is open now."""
        report = self.report(instance.id)
        return (
            self._preparation is not None
            and report is not None
            and any(_open_to(decision, form, instance, now, self._preparation) for decision in report.decisions)
        )


class _Answering:
    """Writes a report's answers into an instance; perhaps again, when somebody else was first to save it."""

    def __init__(self, preparation: FormPreparation, report: Report, now: Callable[[], datetime]) -> None:
        self._preparation = preparation
        self._report = report
        self._now = now
        self._adopted: dict[str, Decision] = {}

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that answered something."""
        return tuple(one.claim_id for one in self._adopted.values() if one.claim_id is not None)

    @property
    def outcome(self) -> Report:
        """The report as it was carried out: also of questions that an answer of its own opened."""
        return replace(
            self._report, decisions=tuple(self._adopted.get(one.requirement, one) for one in self._report.decisions)
        )

    def adopt(self, form: Form[Any], instance: Instance) -> Instance:
        """Answer what is open, and what is open then, until nothing is."""
        self._adopted.clear()
        while ready := self._ready(form, instance):
            for decision in ready:
                instance = self._written(form, instance, decision)
                applied = replace(decision, status=DecisionStatus.SUFFICIENT, applies=True)
                self._adopted[decision.requirement] = applied
        return instance

    def _ready(self, form: Form[Any], instance: Instance) -> list[Decision]:
        now = evaluate(form, instance)
        return [one for one in self._report.decisions if _open_to(one, form, instance, now, self._preparation)]

    def _written(self, form: Form[Any], instance: Instance, decision: Decision) -> Instance:
        claim_id, written = decision.claim_id, write_value(decision.value)
        assert claim_id is not None and written is not None, "it was judged to be proven, and to fit"
        rule = self._preparation.rule(form.fields[decision.requirement])
        provenance = Provenance(
            source=f"facts:{claim_id}", actor="system", note=decision.explanation[:REASON_LIMIT] or None
        )
        return adopt(
            form,
            instance,
            decision.requirement,
            written,
            Stamp(at=self._now(), provenance=provenance),
            claim_id=claim_id,
            fulfills=() if rule is None else rule.fulfills,
        )


def _requirements(
    form: Form[Any], instance: Instance, now: Evaluation, preparation: FormPreparation
) -> Iterable[Requirement]:
    for field in form.fields.values():
        rule = None if field.notes.confirms else preparation.rule(field)
        if rule is not None:
            yield Requirement(
                id=field.id,
                label=field.label,
                rule=rule,
                schema=field.schema,
                validate=_checked(field),
                eligible=_eligible(field, instance, now, preparation),
                current=_current(field, instance),
            )


def _open_to(
    decision: Decision, form: Form[Any], instance: Instance, now: Evaluation, preparation: FormPreparation
) -> bool:
    """Whether a decision settles its question now."""
    proven = decision.status in (DecisionStatus.SUFFICIENT, DecisionStatus.INELIGIBLE)
    field = form.fields.get(decision.requirement)
    return (
        proven
        and decision.claim_id is not None
        and field is not None
        and _current(field, instance) is None
        and _eligible(field, instance, now, preparation)
    )


def _eligible(field: Field, instance: Instance, now: Evaluation, preparation: FormPreparation) -> bool:
    state = now.fields[field.id]
    return (
        state.applicable
        and (state.revision is None or state.revision.skipped is None)
        and instance.blocked_on is None
        and field.step not in now.steps_closed
        and preparation.eligible(field, instance)
    )


def _current(field: Field, instance: Instance) -> Current | None:
    """What was answered, also what was withdrawn or undone: whoever took it back does not want it filled in again."""
    entry = instance.entries.get(field.id)
    if entry is None or not entry.revisions:
        return None
    revision = entry.in_force
    if revision is None:
        return Current(value=None)
    if revision.written is None:  # Skipped: no answer, and not eligible either.
        return None
    return Current(value=from_json(revision.written), claim_id=revision.claim_id)


def _checked(field: Field) -> Callable[[Any], Any]:
    def validate(value: Any) -> Any:
        text = write_value(value)
        if text is None:
            raise ValueError("it is no JSON, or too long")
        if problems := field.judge(text).problems:
            raise ValueError("; ".join(problems))
        return from_json(text)

    return validate


def _accepted_claims(instance: Instance) -> Sequence[str]:
    return [
        revision.claim_id
        for entry in instance.entries.values()
        for revision in entry.revisions
        if revision.claim_id is not None
    ]
