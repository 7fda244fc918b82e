"""A step: questions that belong together, as a pydantic model whose fields arrive one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, Unpack

from pydantic import BaseModel, ConfigDict
from pydantic.errors import PydanticUserError

from agents.forms.field import Field, compile_field
from agents.forms.state import When

__all__ = ["FormStep", "Step", "StepNotes", "compile_step"]

Report = Callable[[str, str], None]
"""Takes an id and what is wrong with what it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNotes:
    """What a class statement says of a step beside its fields."""

    id: str
    title: str
    preview: str | None = None
    ask: str | None = None
    when: When | None = None


class FormStep(BaseModel):
    """A step of a form. Its fields are made with :func:`~agents.forms.field.ask`.

    Like this::

        class Trip(FormStep, title="Trip", preview="route and date"):
            origin: str = ask("Flying from", min_length=2)

    Keywords of the class statement:

    - ``title``: what the step is called; the class's name by default.
    - ``preview``: what it will ask for, told before it is open.
    - ``ask``: how to go about it, told while it is open.
    - ``when``: whether its questions are asked yet. They may be answered at any time.
    - ``id``: its id; the class's name in snake case by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    __form_step__: ClassVar[StepNotes]

    def __init_subclass__(
        cls,
        *,
        id: str | None = None,
        preview: str | None = None,
        ask: str | None = None,
        when: When | None = None,
        **config: Unpack[ConfigDict],
    ) -> None:
        """Read the class statement's keywords."""
        super().__init_subclass__(**config)
        cls.__form_step__ = StepNotes(
            id=_snake(cls.__name__) if id is None else id,
            title=cls.model_config.get("title") or cls.__name__,
            preview=preview,
            ask=ask,
            when=when,
        )


S = TypeVar("S", bound=FormStep)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step, compiled."""

    model: type[FormStep]
    notes: StepNotes
    index: int
    """Its place in the form, from 0."""
    fields: tuple[Field, ...]

    @property
    def id(self) -> str:
        """Its id."""
        return self.notes.id

    @property
    def title(self) -> str:
        """What it is called."""
        return self.notes.title

    def field(self, field_id: str) -> Field:
        """Find a field that is there."""
        return next(field for field in self.fields if field.id == field_id)


def compile_step(model: type[FormStep], index: int, report: Report) -> Step:
    """Compile a step, and report what is wrong with it."""
    notes = model.__form_step__
    fields: list[Field] = []
    for field_id, info in model.model_fields.items():
        try:
            fields.append(compile_field(notes.id, field_id, info))
        except (ValueError, PydanticUserError) as exc:
            report(field_id, f"field {field_id!r} {str(exc).splitlines()[0]}")
    if not model.model_fields:
        report(notes.id, f"step {notes.id!r} has no fields")
    decorators: Any = model.__pydantic_decorators__
    validators = [*decorators.field_validators, *decorators.validators, *decorators.model_validators]
    for name in [*validators, *decorators.root_validators]:
        report(
            notes.id,
            f"step {notes.id!r} has a validator {name!r} of the whole model, and answers are judged one by one; "
            "put it into the field's type: `Annotated[type, AfterValidator(…)]`",
        )
    return Step(model=model, notes=notes, index=index, fields=tuple(fields))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("-", "_").lower()
