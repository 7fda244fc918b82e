"""What an executor is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from agents.core.abort import AbortSignal
from agents.core.tool_context import ToolDisplay
from agents.display import DisplayManager
from agents.forms.bridge import MemoryBridge
from agents.forms.errors import FormValidationError
from agents.forms.record import Instance
from agents.forms.state import FormState
from agents.forms.step import FormStep, Step

if TYPE_CHECKING:
    from agents.forms.definition import Form

__all__ = ["Deps", "FormContext"]

Deps = TypeVar("Deps", default=None)
StepModel = TypeVar("StepModel", bound=FormStep)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormContext(Generic[Deps]):
    """What an executor may use."""

    deps: Deps
    """What the conversation brings: services, goals, whatever the form was declared for."""
    form: Form[Deps]
    values: Mapping[str, Any]
    """Valid answers to questions that apply, by field id."""
    state: FormState
    """How the form stood; counters are from before the commit, so that a checkpoint's first run finds it not fired."""
    instance: Instance
    hook_id: str
    idempotency_key: str
    """``<instance>:<hook>:<occurrence>``, the same in every attempt: give it to whoever must not do it twice."""
    occurrence: int
    """How often the hook has risen, this time included; 1 the first time."""
    confirmed_for: str | None = None
    """Fingerprint of the answers that a confirmation in force was given for; ``None``: nothing is confirmed.

    With the instance's id, a name for one agreed state of things: amend once for each.
    """
    reason: str | None = None
    """Why a field was skipped, for what runs then."""
    memory: MemoryBridge
    display: DisplayManager | ToolDisplay | None = None
    """The screen there is; ``None`` when nobody has one."""
    signal: AbortSignal | None = None
    """Set when the work is to stop."""

    @property
    def instance_id(self) -> str:
        """Which form this is, as long as it lives: what is made for the form once is keyed by it."""
        return self.instance.id

    def step(self, model: type[StepModel]) -> StepModel:
        """Give a step's answers; questions that were skipped or do not apply are ``None``.

        Raises:
            FormValidationError: a required answer is missing.
        """
        compiled = self.form.step_of(model)
        missing = [
            field.label
            for field in compiled.fields
            if field.id not in self.values and field.required and not _may_be_none(compiled, field.id)
        ]
        if missing:
            raise FormValidationError(f"step {compiled.id!r} is not complete: {', '.join(missing)}")
        answers = {
            field.id: self.values.get(field.id)
            for field in compiled.fields
            if field.id in self.values or field.required
        }
        return model.model_construct(**answers)


def _may_be_none(step: Step, field_id: str) -> bool:
    """Whether a field may be without an answer in a step that is complete."""
    notes = step.field(field_id).notes
    return notes.skippable or notes.when is not None
