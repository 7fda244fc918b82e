"""A form as a model sees it: what a tool's result shows of it, and what values its questions take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agents.spoken import say_date

__all__ = ["Form", "FormField", "read_form", "schema_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A question of a form, and what was answered."""

    id: str
    label: str
    description: str
    schema: Mapping[str, Any]
    """What values it takes, as far as its type says it."""
    required: bool
    skippable: bool
    asked: bool
    """Whether it is to be asked now."""
    answered: bool
    value: Any

    @property
    def confirms(self) -> bool:
        """Whether nothing but a yes answers it."""
        return self.schema.get("enum") == [True]

    @property
    def question(self) -> str:
        """How it is asked for."""
        asking, mark, _ = self.description.partition("?")
        if mark and not self.confirms:
            return f"{asking}? {self._manner}".strip()
        return f"What is the {self.label[:1].lower()}{self.label[1:]}?"

    @property
    def _manner(self) -> str:
        """How the answer is to be given, if the question says it: "Please spell it."."""
        behind = self.description.partition("?")[2].strip()
        manner = re.match(r"Please[^.]*\.", behind)
        return "" if manner is None else manner[0]

    @property
    def hint(self) -> str:
        """What a valid answer looks like; may be empty."""
        behind = self.description.partition("?")[2].strip()
        return behind.removeprefix(self._manner).strip()

    def read_out(self) -> str:
        """The answer as it is read back."""
        value = self.value
        if self.schema.get("format") == "date" and isinstance(value, str):
            value = say_date(date.fromisoformat(value), year=True)
        joint = " " if self.label.split()[-1].lower() in ("from", "to", "at", "in") else ": "
        return f"{self.label}{joint}{value}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form, as far as a result shows it."""

    id: str
    complete: bool
    status: str
    fields: tuple[FormField, ...]
    whole: bool
    """Whether every step is shown."""
    rejected: tuple[str, ...] = ()
    """Ids of fields whose answers were refused."""
    failures: tuple[str, ...] = ()
    """What did not work, in words."""

    @property
    def next(self) -> FormField | None:
        """What is to be asked now."""
        asked = [field for field in self.fields if field.asked]
        return next((field for field in asked if field.required), asked[0] if asked else None)

    def find(self, field_id: str) -> FormField | None:
        """A field by id."""
        return next((field for field in self.fields if field.id == field_id), None)


def read_form(data: Any) -> Form | None:
    """Read the data of a form tool's result; ``None`` when it shows no form."""
    if not isinstance(data, dict) or not isinstance(data.get("fields"), list) or "form" not in data:
        return None
    return Form(
        id=str(data["form"]),
        complete=bool(data.get("complete")),
        status=str(data.get("status", "")),
        fields=tuple(_field(row) for row in data["fields"] if isinstance(row, dict)),
        whole="steps" in data,
        rejected=tuple(str(issue.get("field")) for issue in _rows(data.get("rejected"))),
        failures=tuple(str(failure.get("message")) for failure in _rows(data.get("failures"))),
    )


def schema_of(type: str) -> Mapping[str, Any]:
    """Turn a type as forms describe it into a schema; one that is not known takes any words."""
    plain = type.removesuffix(" (may be empty)")
    if plain == "exactly true":
        return {"type": "boolean", "enum": [True]}
    if plain.startswith("one of: "):
        return {"enum": [choice.strip() for choice in plain[len("one of: ") :].split("|")]}
    for start, schema in _TYPES.items():
        if plain.startswith(start):
            return schema
    return {"type": "string"}


_TYPES: Mapping[str, Mapping[str, Any]] = {
    "email address": {"type": "string", "format": "email"},
    "date (": {"type": "string", "format": "date"},
    "time (": {"type": "string", "format": "time"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "true or false": {"type": "boolean"},
}


def _field(row: Mapping[str, Any]) -> FormField:
    return FormField(
        id=str(row.get("id")),
        label=str(row.get("label", row.get("id"))),
        description=str(row.get("description", "")),
        schema=schema_of(str(row.get("type", ""))),
        required=bool(row.get("required")),
        skippable=bool(row.get("skippable")),
        asked=bool(row.get("ask")),
        answered=row.get("status") == "filled",
        value=row.get("value"),
    )


def _rows(value: Any) -> Sequence[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
