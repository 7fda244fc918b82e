"""What a form asks next, so that whoever listens knows what an answer looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.forms.evaluation import Evaluation
from agents.forms.record import Instance
from agents.forms.view import next_asked

__all__ = ["Question", "next_question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A field that is to be asked."""

    instance_id: str
    form: str
    """The form's id."""
    field: str
    """The field's id."""
    label: str
    description: str
    """How to ask for it, and what an answer looks like; may be empty."""
    type: str
    """What answers it takes, in a few words."""
    schema: Mapping[str, Any]
    """The same as JSON Schema."""
    required: bool
    skippable: bool
    confirms: bool
    """Whether it is a yes to what was read back."""


def next_question(instance: Instance, now: Evaluation) -> Question | None:
    """Describe what is asked next; ``None`` when nothing is asked."""
    if (state := next_asked(instance, now)) is None:
        return None
    field = state.field
    return Question(
        instance_id=instance.id,
        form=instance.form,
        field=field.id,
        label=field.label,
        description=field.description,
        type=field.type,
        schema=field.schema,
        required=field.required,
        skippable=field.notes.skippable,
        confirms=field.notes.confirms,
    )
