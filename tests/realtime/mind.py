"""What a fake service thinks with: it hears, decides and speaks, given only what was on the wire.

Above: the fake services of OpenAI and Gemini. Below: ``local_mind`` is one made of the local engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from pipelines.audio.frame import SPEAKING_RATE, Samples

__all__ = [
    "Call",
    "Called",
    "Context",
    "Item",
    "Mind",
    "Offer",
    "Result",
    "Said",
    "ScriptedMind",
    "Thought",
    "View",
    "Words",
    "context_in",
    "contexts",
    "latest_context",
    "tone",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool, as the wire describes it."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Something said, written or injected."""

    role: Literal["user", "agent", "system"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The model called a tool."""

    call_id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A tool call's result."""

    call_id: str
    output: str
    """JSON text, all of it, as the wire had it."""


Item: TypeAlias = Words | Call | Result


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that the service knows of a session: what was sent on the wire, and what it heard and said."""

    instructions: str = ""
    tools: Sequence[Offer] = ()
    items: Sequence[Item] = ()
    """In order. What was deleted, and of a truncated answer what was cut, is not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A piece of an answer, a sentence as a rule."""

    text: str
    """Services put a space between pieces."""
    samples: Samples
    """At ``SPEAKING_RATE``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool is to be called. The service gives it its id."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Thought: TypeAlias = Said | Called


class Mind(Protocol):
    """A speech-to-speech model without a wire."""

    async def transcribe(self, samples: Samples, view: View) -> str:
        """Write down an utterance of the caller.

        Args:
            samples: at ``HEARING_RATE``.
            view: the session when it was said.
        """
        ...

    def respond(self, view: View) -> AsyncIterator[Thought]:
        """Make one response. What of it was not taken up when it is closed was never thought."""
        ...


def tone(text: str, *, word_s: float = 0.2) -> Samples:
    """Sound as long as a text: every word a note of its own, the same every time.

    Args:
        text: its words are counted.
        word_s: seconds of a word.
    """
    size = round(word_s * SPEAKING_RATE)
    place = np.arange(size) / SPEAKING_RATE
    notes = [np.sin(2 * np.pi * (200 + 40 * (number % 10)) * place) for number in range(len(text.split()))]
    loud = 8_000 * np.concatenate([np.zeros(0), *notes])
    return loud.astype(np.int16)


class ScriptedMind:
    """Hears and answers what it is told to, whatever it is given.

    Args:
        hears: its transcripts, one for each utterance; empty text when there are no more.
        answers: its responses; a text is said, and the rest called. A response beyond them is an error of the test.
        word_s: seconds of sound for a word.

    Attributes:
        views: what it was shown, one for each response.
    """

    def __init__(
        self, *, hears: Iterable[str] = (), answers: Iterable[Sequence[str | Called]] = (), word_s: float = 0.2
    ) -> None:
        self.views: list[View] = []
        self._hears = iter(hears)
        self._answers = iter(answers)
        self._word_s = word_s

    async def transcribe(self, samples: Samples, view: View) -> str:
        """Give the next transcript."""
        return next(self._hears, "")

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        """Give the next response, sentence by sentence."""
        self.views.append(view)
        answer = next(self._answers, None)
        assert answer is not None, f"response {len(self.views)} was asked for, and is not in the script"
        for part in answer:
            if isinstance(part, Called):
                yield part
            else:
                yield Said(text=part, samples=tone(part, word_s=self._word_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A snapshot, as a model finds it among what it was given."""

    version: int
    text: str


_CONTEXT = re.compile(r"^\[Context (\d+) from the system\. [^\]]*\]\n(?P<text>.*)", re.DOTALL)
"""As ``pipelines.realtime.wording`` writes a snapshot."""


def context_in(text: str) -> Context | None:
    """Read a text that is a snapshot; ``None`` when it is none."""
    found = _CONTEXT.match(text)
    return None if found is None else Context(version=int(found[1]), text=found["text"])


def contexts(view: View) -> list[Context]:
    """Find every snapshot there is: as an item, inside a result, or at the end of the instructions."""
    texts = [view.instructions[at.start() :] for at in re.finditer(r"^\[Context ", view.instructions, re.MULTILINE)]
    for item in view.items:
        if isinstance(item, Words):
            texts.append(item.text)
        elif isinstance(item, Result):
            texts.extend(_texts(_read(item.output)))
    return [context for text in texts if (context := context_in(text)) is not None]


def latest_context(view: View) -> Context | None:
    """Find the snapshot that holds: the one with the highest version."""
    return max(contexts(view), key=lambda context: context.version, default=None)


def _read(output: str) -> Any:
    try:
        return json.loads(output)
    except ValueError:
        return output


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
