"""A field: one question, what answers it takes, and how an answer is judged."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import Field as PydanticField
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, PydanticUndefined, from_json, to_json

from agents.forms.state import When
from agents.forms.type_string import describe_type

__all__ = ["Field", "Judgement", "Notes", "ask", "compile_field", "write_value"]

VALUE_LIMIT = 20_000
"""Characters of an answer, as JSON."""

PROBLEMS = 5
"""How much is said of one answer that is wrong in many ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What :func:`ask` says of a field beside what pydantic knows."""

    label: str
    question: str | None = None
    hint: str | None = None
    skippable: bool = False
    confirms: bool = False
    when: When | None = None


def ask(
    label: str,
    question: str | None = None,
    *,
    hint: str | None = None,
    skippable: bool = False,
    confirms: bool = False,
    when: When | None = None,
    default: Any = PydanticUndefined,
    default_factory: Callable[[], Any] | None = None,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    multiple_of: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    pattern: str | None = None,
) -> Any:
    """Make a question of a step's field.

    Args:
        label: what is asked for, in a few words: "Departure date".
        question: how to ask for it, or when not to.
        hint: what a valid answer looks like.
        skippable: whether a caller may decline to answer; the type then admits ``None``.
        confirms: whether the answer is a yes to all others; it counts only while they are what they were.
        when: whether the question applies; the type then admits ``None``. Always by default.
        default: what holds without an answer; a field that has one is optional.
        default_factory: makes it.
        gt: values are greater.
        ge: values are not less.
        lt: values are less.
        le: values are not greater.
        multiple_of: values are multiples of it.
        min_length: characters or items at least.
        max_length: characters or items at most.
        pattern: a regular expression that text matches.
    """
    constraints = {
        "gt": gt,
        "ge": ge,
        "lt": lt,
        "le": le,
        "multiple_of": multiple_of,
        "min_length": min_length,
        "max_length": max_length,
        "pattern": pattern,
        "default_factory": default_factory,
    }
    given: dict[str, Any] = {name: value for name, value in constraints.items() if value is not None}
    if default is not PydanticUndefined:
        given["default"] = default
    info = cast(FieldInfo, PydanticField(title=label, **given))
    info.metadata.append(
        Notes(label=label, question=question, hint=hint, skippable=skippable, confirms=confirms, when=when)
    )
    return info


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is thought of an answer."""

    value: Any = None
    problems: tuple[str, ...] = ()
    """What is wrong with it; empty: nothing, and the value holds."""

    @property
    def valid(self) -> bool:
        """Whether the answer holds."""
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One question, compiled."""

    id: str
    step: str
    """The id of the step it belongs to."""
    notes: Notes
    required: bool
    """Whether the form is incomplete without it: it has no default."""
    adapter: TypeAdapter[Any]
    schema: dict[str, Any]
    """JSON Schema of the answers it takes."""
    type: str
    """The same in a few words."""

    @property
    def label(self) -> str:
        """What is asked for."""
        return self.notes.label

    @property
    def description(self) -> str:
        """How to ask for it, and what an answer looks like; may be empty."""
        return " ".join(part for part in (self.notes.question, self.notes.hint) if part)

    def judge(self, written: str) -> Judgement:
        """Judge an answer, given as JSON text. Strictly: ``"5"`` is no number and ``"yes"`` no boolean."""
        kind = self.schema.get("type")
        if (kind == "boolean") is not (written in ("true", "false")) and kind in ("boolean", "integer", "number"):
            # A literal takes 1 for true, and true for 1.
            return Judgement(problems=(f"Input should be {self.type}, as unquoted JSON",))
        try:
            return Judgement(value=self.adapter.validator.validate_json(written, strict=True))
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_context=False, include_input=False)[:PROBLEMS]
            return Judgement(problems=tuple(map(_problem, errors)))

    def hint(self, written: str) -> str:
        """Say what to send instead of an answer that does not hold."""
        inner = from_json(written)
        if isinstance(inner, str):
            bare = inner.strip().lower()
            kind = "boolean" if bare in ("true", "false") else "number" if _NUMBER.fullmatch(bare) else None
            if kind is not None and self.judge(bare).valid:
                return f"Send it as unquoted JSON {kind}: {bare}"
        return self.description or f"Expected {self.type}."


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def write_value(value: Any) -> str | None:
    """Write an answer as JSON text; dates and the like become what JSON has for them.

    Returns:
        ``None`` when it cannot be written: it is no JSON at all, or beyond 20,000 characters.
    """
    try:
        text = to_json(value, inf_nan_mode="strings").decode()
    except (PydanticSerializationError, UnicodeError, RecursionError):
        try:
            text = json.dumps(value)  # Escapes half a surrogate pair, which then is judged as what it is.
        except (TypeError, ValueError, RecursionError):
            return None
    return text if len(text) <= VALUE_LIMIT else None


def compile_field(step: str, field_id: str, info: FieldInfo) -> Field:
    """Compile a field of a step's model.

    Raises:
        ValueError: it is ill-defined; says how.
        PydanticUserError: its type has no JSON Schema.
    """
    notes = next((note for note in info.metadata if isinstance(note, Notes)), None)
    if notes is None or not notes.label.strip():
        raise ValueError("has no label; write it as `name: type = ask('Label', …)`")
    may_be_silent = notes.skippable or notes.when is not None
    annotation: Any = info.annotation
    if may_be_silent:
        annotation = _without_none(annotation)
        if annotation is None:
            raise ValueError("may be skipped or not apply, so that its type has to admit None: write `type | None`")
    if notes.confirms and notes.skippable:
        raise ValueError(
            "confirms and may be skipped; a confirmation that nobody gives is none, so drop one of the two"
        )
    metadata = [note for note in info.metadata if not isinstance(note, Notes)]
    if info.discriminator is not None:
        metadata.append(PydanticField(discriminator=info.discriminator))
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[(annotation, *metadata)] if metadata else annotation)
    schema = adapter.json_schema()
    return Field(
        id=field_id,
        step=step,
        notes=notes,
        required=info.is_required(),
        adapter=adapter,
        schema=schema,
        type=describe_type(schema),
    )


def _without_none(annotation: Any) -> Any:
    """Take ``None`` out of a union; ``None`` when it is not in it."""
    if get_origin(annotation) not in (Union, types.UnionType):
        return None
    members = get_args(annotation)
    kept = tuple(member for member in members if member is not type(None))
    return Union[kept] if kept and len(kept) < len(members) else None  # noqa: UP007 - of a tuple


def _problem(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])
