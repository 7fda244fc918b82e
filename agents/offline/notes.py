"""What the framework tells a model beside the conversation: where a form stands, which goals are open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.core.messages import Message

__all__ = ["Notes", "OpenItem", "read_notes"]

_VERSION = re.compile(r"^GOALS — \S+ \(version (\d+);", re.MULTILINE)
_GOAL = re.compile(r"^\d+\. .* \[(?P<key>[\w.-]+); (?P<status>\w+)\]")
_ITEM = re.compile(r"^   - (?P<key>[\w.-]+): (?P<label>.*?) \[(?P<disposition>\w+)\]")
_FORM = re.compile(r"^\[form: (?P<id>[^\]]+)\] (?P<rest>.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """An item of the goal that is active, still to be settled."""

    goal_key: str
    key: str
    label: str
    version: int
    """Of the goals as they were shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What was told."""

    form: str | None = None
    """The id of the form that is open."""
    waiting: str | None = None
    """What an open form waits for, when it takes no answers."""
    items: tuple[OpenItem, ...] = ()


def read_notes(messages: Sequence[Message]) -> Notes:
    """Read what is told with this model call."""
    told = "\n".join(message.text for message in messages if message.framework_context == "runtime")
    form = _FORM.search(told)
    rest = "" if form is None else form["rest"]
    waiting = rest.partition("—")[2].strip() if rest.startswith("awaiting") else None
    return Notes(form=None if form is None else form["id"], waiting=waiting, items=tuple(_open_items(told)))


def _open_items(told: str) -> list[OpenItem]:
    version = _VERSION.search(told)
    found: list[OpenItem] = []
    goal_key = ""
    for line in told.splitlines():
        if (goal := _GOAL.match(line)) is not None:
            goal_key = goal["key"] if goal["status"] == "active" else ""
        elif goal_key and version is not None and (item := _ITEM.match(line)) and item["disposition"] == "pending":
            found.append(OpenItem(goal_key=goal_key, key=item["key"], label=item["label"], version=int(version[1])))
    return found
