"""The messages to Gemini, as what they mean; the SDK writes them. And what it says, made fit to be passed on.

Above: ``intents`` makes them, ``adapter`` hands them to the SDK.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal, TypeAlias

from pipelines.audio.frame import Samples
from pipelines.realtime.base import ToolAnswer

__all__ = [
    "HEARS",
    "SPEAKS",
    "Activity",
    "Outgoing",
    "Results",
    "Text",
    "Turns",
    "Voice",
    "in_words",
    "result",
    "seconds",
]

HEARS = 16_000
"""Hertz of the caller's voice: what the model hears by nature; others are resampled there."""

SPEAKS = 24_000
"""Hertz of an answer's voice, always."""

WORDS_LIMIT = 300
"""Characters of the provider's words that are passed on."""

_SECRET = re.compile(r"\bAIza[\w-]{6,}|\bauth_tokens/[\w-]+|(?<=key=)[\w-]+")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The caller's voice."""

    samples: Samples
    """At ``HEARS``."""


class Activity(Enum):
    """The caller begins or ends."""

    BEGINS = auto()
    """Where turns are ours. It interrupts what is being answered."""
    ENDS = auto()
    """Where turns are ours. It is answered."""
    PAUSES = auto()
    """Where turns are not ours: no more voice comes for now, and what was heard is all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """More of the conversation. It interrupts what is being answered."""

    turns: tuple[tuple[Literal["user", "model"], str], ...] = ()
    complete: bool = False
    """Whether it is to be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Something the caller wrote, as it were; always answered."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Results of calls: id, name and response of each. With the last that is missing, the model goes on."""

    results: tuple[tuple[str, str, Mapping[str, Any]], ...]


Outgoing: TypeAlias = Voice | Activity | Turns | Text | Results


def result(answer: ToolAnswer, name: str, context: str | None) -> tuple[str, str, Mapping[str, Any]]:
    """Write one result.

    The response has no key ``output`` or ``error``: else the model reads those only, and not the context beside them.

    Args:
        answer: the result.
        name: the function's, as it was called.
        context: the snapshot to travel along.
    """
    try:
        read = json.loads(answer.output)
    except (ValueError, RecursionError):
        read = answer.output
    taken = {"output", "error", "context"}
    response = dict(read) if isinstance(read, dict) and not taken & read.keys() else {"result": read}
    if context is not None:
        response["context"] = context
    return answer.call_id, name, response


def seconds(duration: object) -> float:
    """Read a duration such as ``9.5s``; none or nonsense means now."""
    found = _DURATION.fullmatch(duration.strip()) if isinstance(duration, str) else None
    return 0.0 if found is None else float(found[1])


def in_words(said: object) -> str:
    """Make a provider's words fit to be passed on: in one line, not long, and without a key."""
    words = " ".join(_SECRET.sub("[key]", said if isinstance(said, str) else "").split())
    return words if len(words) <= WORDS_LIMIT else words[: WORDS_LIMIT - 1] + "…"
