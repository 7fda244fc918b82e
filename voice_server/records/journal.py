"""The journal: what a call told, a line each, as a record keeps it in ``events.jsonl``.

Above: ``scribe`` writes it; ``opened`` reads it back, whoever wrote it. Below: nothing. All times in it are since the
call began: ``t_ms`` in milliseconds, fields that end in ``_at`` in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, TypeAlias, get_args

from pydantic import TypeAdapter, ValidationError

from agents.core.progress import ProgressKind
from pipelines.events import CallEvent, UtteranceEnded

__all__ = [
    "VERSION",
    "Entry",
    "FormsStand",
    "GoalsStand",
    "Heading",
    "Journal",
    "JournalError",
    "Noted",
    "head",
    "line",
    "read_journal",
    "stands",
    "tail",
]

VERSION = 1
"""Of the lines. Within it types and fields are only added; a type that is not known is skipped."""

_BEGAN, _ENDED = "call_began", "call_ended"
_LONGEST_S = 7 * 24 * 3600.0
"""Seconds into a call that are believed of a journal: a week."""


class JournalError(Exception):
    """Something that is no journal of ours. The message says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What is known of a call when it begins: the journal's first line."""

    conversation: str
    pipeline: str
    agent: str
    stt: str
    tts: str
    model: str
    began_at: datetime
    """With its time zone: for people, who want to know which call it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsStand:
    """How the agent's goals stand from now on."""

    type: ClassVar[str] = "goals"
    program: dict[str, Any] | None
    """As ``agents.core.progress.Progress`` gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsStand:
    """How the agent's forms stand from now on."""

    type: ClassVar[str] = "forms"
    forms: tuple[dict[str, Any], ...]
    """Each with its ``id``, ``status`` and ``values``, which are the answers that hold, and all that
    ``agents.core.progress.Progress`` gives."""


Noted: TypeAlias = CallEvent | GoalsStand | FormsStand
"""What a journal notes: what the call told, and how far its agent was."""


def stands(kind: ProgressKind, read: Any) -> GoalsStand | FormsStand:
    """Note how goals or forms stand.

    Args:
        kind: which of them.
        read: what was read of ``agents.core.progress.Progress``.
    """
    return GoalsStand(program=read) if kind == "goals" else FormsStand(forms=tuple(map(_form, read or ())))


def _form(read: dict[str, Any]) -> dict[str, Any]:
    values = {field["id"]: field["value"] for field in read["fields"] if field["status"] == "filled"}
    return {"id": read["form"], "values": values, **read}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event and when it was told."""

    at_s: float
    """Seconds since the call began."""
    event: Noted
    """Its own times (fields that end in ``_at``) are seconds since the call began, too."""
    played_s: float | None = None
    """Where an utterance ended: when the output had last played something; ``None``: not known."""

    @classmethod
    def of(cls, event: Noted, *, now: float, began: float, played_at: float | None = None) -> Entry:
        """Make an entry of an event as it is told.

        Args:
            event: with times of the call's clock.
            now: seconds of the call's clock.
            began: when the call began, by the same.
            played_at: when the output last played something, by the same.
        """
        moved = {name: getattr(event, name) - began for name in _times_of(event.type)}
        return cls(
            at_s=now - began,
            event=replace(event, **moved) if moved else event,
            played_s=played_at - began if played_at is not None and isinstance(event, UtteranceEnded) else None,
        )

    def sounded_until(self, started_s: float) -> float:
        """Say until when an utterance sounded that ends with this entry, seconds since the call began.

        Args:
            started_s: when it began to sound.
        """
        played_s = self.at_s if self.played_s is None else self.played_s
        return max(started_s, min(self.at_s, played_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A journal that was read."""

    heading: Heading
    entries: tuple[Entry, ...]
    ended_s: float | None
    """When the call ended; ``None``: whoever wrote it was stopped before."""


def head(heading: Heading) -> str:
    """Write the first line."""
    data = {**asdict(heading), "began_at": heading.began_at.isoformat()}
    return _line({"v": VERSION, "t_ms": 0, "type": _BEGAN, "data": data})


def line(entry: Entry) -> str:
    """Write an entry."""
    fields_: dict[str, Any] = {"t_ms": _ms(entry.at_s), "type": entry.event.type, "data": asdict(entry.event)}
    if entry.played_s is not None:
        fields_["played_ms"] = _ms(entry.played_s)
    return _line(fields_)


def tail(ended_s: float) -> str:
    """Write the last line."""
    return _line({"t_ms": _ms(ended_s), "type": _ENDED, "data": {}})


def read_journal(lines: Iterable[str]) -> Journal:
    """Read what was written. The last line may be half: whoever wrote it was killed.

    Raises:
        JournalError: it is no journal, of a newer version, or damaged.
    """
    numbered = _parsed(lines)
    first = next(numbered, None)
    if first is None or first[1]["type"] != _BEGAN:
        raise JournalError(f"its first line is no {_BEGAN!r}: this is no record of a call")
    if (version := first[1].get("v")) != VERSION:
        raise JournalError(
            f"it is of version {version!r}, and {VERSION} is what is read here: open it with what made it"
        )
    heading = _checked(_heading_type(), first[1]["data"], first[0])
    entries: list[Entry] = []
    ended_s = None
    for number, parsed in numbered:
        at_s = _seconds(parsed.get("t_ms"), number)
        if parsed["type"] == _ENDED:
            ended_s = at_s
        elif (adapter := _event_types().get(parsed["type"])) is not None:
            played = parsed.get("played_ms")
            played_s = None if played is None else _seconds(played, number)
            event = _checked(adapter, parsed["data"], number)
            entries.append(Entry(at_s=at_s, event=event, played_s=played_s))
    return Journal(heading=heading, entries=tuple(entries), ended_s=ended_s)


@cache
def _times_of(type_: str) -> tuple[str, ...]:
    event = next(event for event in get_args(Noted) if event.type == type_)
    return tuple(field.name for field in fields(event) if field.name.endswith("_at"))


@cache
def _heading_type() -> TypeAdapter[Any]:
    return TypeAdapter(Heading)


@cache
def _event_types() -> Mapping[str, TypeAdapter[Any]]:
    return {event.type: TypeAdapter(event) for event in get_args(Noted)}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _line(content: dict[str, Any]) -> str:
    # A measure or a tool's input may hold what JSON does not know: better unreadable than lost.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str) + "\n"


def _parsed(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines as objects, with their numbers; half a line at the end is left out."""
    for number, text in enumerate(lines, 1):
        try:
            parsed = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            if not text.endswith("\n"):
                return
            raise JournalError(f"its line {number} is no JSON ({error})") from None
        if not isinstance(parsed, dict) or not isinstance(parsed.get("type"), str) or "data" not in parsed:
            raise JournalError(f"its line {number} is no event: an object with 't_ms', 'type' and 'data' was expected")
        yield number, parsed


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _seconds(ms: object, number: int) -> float:
    if isinstance(ms, bool) or not isinstance(ms, int | float) or not 0 <= ms <= _LONGEST_S * 1000:
        raise JournalError(f"its line {number} is of {ms!r} ms: a number from 0 to a week was expected")
    return ms / 1000


def _checked(adapter: TypeAdapter[Any], data: object, number: int) -> Any:
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in wrong["loc"])
        raise JournalError(f"its line {number} does not fit: {where}: {wrong['msg']}") from None
