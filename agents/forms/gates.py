"""Conditions of a form, asked under a given set of answers; they may ask each other in circles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.forms.definition import Form
from agents.forms.field import Field
from agents.forms.state import When
from agents.forms.step import Step

__all__ = ["Defect", "Gates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A condition raised."""

    id: str
    """Of the field, step or checkpoint it belongs to."""
    error: str


class Gates:
    """Answers conditions' questions. It is the :class:`FormState` they are given.

    Args:
        form: whose conditions.
        values: the answers that hold.
        settled: ids of fields answered or skipped, if they apply.
        excluded: ids of fields known not to apply.
        fired: ids of checkpoints that were ever reached.

    Attributes:
        defects: conditions that raised, so far.
    """

    def __init__(
        self,
        *,
        form: Form[Any],
        values: Mapping[str, Any],
        settled: set[str],
        excluded: frozenset[str],
        fired: frozenset[str],
    ) -> None:
        self._form = form
        self._values = values
        self._settled = settled
        self._excluded = excluded
        self._fired = fired
        self._asking: set[str] = set()
        self._known: dict[str, bool] = {}
        self._circular = False
        self.defects: list[Defect] = []

    @property
    def values(self) -> Mapping[str, Any]:
        """The answers that hold."""
        return self._values

    @property
    def complete(self) -> bool:
        """Whether all steps are; false while that is being found out."""
        return self._ask("form", lambda: all(map(self._is_complete, self._form.steps)), meanwhile=False)

    def step_complete(self, step: type[Any] | str) -> bool:
        """Whether a step is; false while that is being found out, and of a step that is not there."""
        found = self._form.step(step if isinstance(step, str) else step.__form_step__.id)
        return found is not None and self._is_complete(found)

    def checkpoint_fired(self, checkpoint: str) -> bool:
        """Whether a checkpoint ever was reached."""
        return checkpoint in self._fired

    def applies(self, field: Field) -> bool:
        """Whether a question applies; true while that is being found out."""
        when = field.notes.when
        if field.id in self._excluded:
            return False
        if when is None:
            return True
        return self._ask(f"field:{field.id}", lambda: self.ask(field.id, when), meanwhile=True)

    def ask(self, concerned: str, when: When, *, broken: bool = True) -> bool:
        """Ask a condition; one that raises counts as said, and is a defect."""
        try:
            return bool(when(self))
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code
            defect = Defect(id=concerned, error=f"the condition of {concerned!r} raised {type(exc).__name__}")
            if defect not in self.defects:
                self.defects.append(defect)
            return broken

    def _is_complete(self, step: Step) -> bool:
        def found() -> bool:
            return all(
                not field.required or field.id in self._settled or not self.applies(field) for field in step.fields
            )

        return self._ask(f"step:{step.id}", found, meanwhile=False)

    def _ask(self, key: str, find: Any, *, meanwhile: bool) -> bool:
        """Find out once; an answer that rests on one not found out yet is not kept."""
        if key in self._known:
            return self._known[key]
        if key in self._asking:
            self._circular = True
            return meanwhile
        self._asking.add(key)
        answer = bool(find())
        self._asking.discard(key)
        if not self._asking:
            self._circular = False
        if not self._circular:
            self._known[key] = answer
        return answer
