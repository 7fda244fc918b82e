"""What the rules say: tool results as sentences, and plain words about themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.core.messages import ToolResultData
from agents.core.model import ToolSpec
from agents.reading.assent import read_yes_no
from agents.reading.vocabulary import vocabulary, words

__all__ = ["ALL_RIGHT", "DROPPED", "NOT_UNDERSTOOD", "courtesy", "excuse", "is_stop", "is_withdrawal", "say_result"]

NOT_UNDERSTOOD = "Sorry, I did not get that."
ALL_RIGHT = "All right."
DROPPED = "All right, I have dropped that."

EXAMPLES_SHOWN = 3
"""Examples named to a caller who is lost: as many as one remembers."""

_WITHDRAWALS = ("never mind", "forget it", "cancel that", "cancel", "drop it", "leave it")
_GREETINGS = vocabulary("hello hi hey morning afternoon evening good there")
_THANKS = vocabulary("thank thanks you very much a lot that's that is all great okay ok no cheers perfect lovely it")
_FAREWELLS = vocabulary("goodbye bye good-bye good night see you later thanks thank okay ok now so")
_STOPS = vocabulary("stop wait hang on hold a moment second quiet please okay ok now it that enough sorry shush pause")


def say_result(result: ToolResultData) -> str:
    """Say how a tool call ended: its ``ask`` or ``say`` when it has one, else its data, plainly."""
    data = result.data
    if result.status == "error" and isinstance(data, dict) and isinstance(data.get("ask"), str):
        return str(data["ask"])  # It needs somebody's leave.
    if result.status != "success":
        return f"That did not work. {_sentence(result.message or 'I was not told why')}"
    if isinstance(data, dict):
        said = [data[key] for key in ("say", "ask") if isinstance(data.get(key), str)]
        if said:
            return " ".join(said)
    return _sentence(_plain(data)) if data not in (None, "", [], {}) else "Done."


def courtesy(utterance: str) -> str | None:
    """Answer a greeting, a thank-you, a goodbye, a "stop" or a "yes" to nothing; ``None`` for anything else."""
    said = words(utterance)
    if not said:
        return None
    if all(word in _GREETINGS for word in said):
        return "Hello. What can I do for you?"
    if any(word.endswith("bye") for word in said) and all(word in _FAREWELLS for word in said):
        return "Goodbye."
    if any(word.startswith("thank") or word == "cheers" for word in said) and all(word in _THANKS for word in said):
        return "You are welcome."
    if is_stop(utterance) or read_yes_no(utterance) is not None:
        return ALL_RIGHT
    return None


def is_stop(utterance: str) -> bool:
    """Whether the caller only wants the agent to be quiet for a moment."""
    said = words(utterance)
    return bool(said) and all(word in _STOPS for word in said)


def is_withdrawal(utterance: str) -> bool:
    """Whether the caller takes back what they wanted."""
    said = " ".join(words(utterance))
    return any(said.startswith(phrase) for phrase in _WITHDRAWALS)


def excuse(tools: Sequence[ToolSpec], forms: Sequence[str] = ()) -> str:
    """Say what this is and what it can do.

    Args:
        tools: the agent's own.
        forms: what it can fill in, a few words each.
    """
    honest = "I am a set of rules, not a language model, and I found no rule for that."
    if forms:
        return f"{honest} What I can do is this. {' '.join(_sentence(form) for form in forms[:EXAMPLES_SHOWN])}"
    examples = [tool.examples[0] for tool in tools if tool.examples][:EXAMPLES_SHOWN]
    if examples:
        return f"{honest} You could say, for example: {'; or: '.join(example.rstrip('.?') for example in examples)}."
    names = [tool.name.replace("_", " ") for tool in tools]
    return f"{honest} What I can do is: {', '.join(names)}." if names else f"{honest} I have no tools."


def _plain(data: Any) -> str:
    match data:
        case bool():
            return "yes" if data else "no"
        case dict():
            return ", ".join(f"{str(key).replace('_', ' ')}: {_plain(value)}" for key, value in data.items())
        case list() | tuple():
            return ", ".join(_plain(value) for value in data)
        case None:
            return "nothing"
        case _:
            return str(data)


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
