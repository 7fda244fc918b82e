"""Which tool an utterance wants, by its words against the tools' names, descriptions and examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.core.model import ToolSpec
from agents.reading.numbers import NUMERAL, with_numerals
from agents.reading.vocabulary import vocabulary, words

__all__ = ["EVERYDAY", "LIKELY", "PLAIN", "Pick", "pick", "pick_all"]

LIKELY = 0.4
"""Score from which a tool is called: found with the examples of the desk and utterances that want nothing of it."""

PLAIN = 0.7
"""Score from which an utterance is a request of its own even though something was asked."""

_LIGHT = 0.25
"""What a word that is in every sentence counts, beside one that is not."""

EVERYDAY = vocabulary(
    "a an and any are at be but can could do does for from have i in is it know like may me my of on or please so tell",
    "that the there this to uh um us want we what which will with would you your now s t ll d m re ve hey hi hello",
    "something was whether wondering if stop wait no hang okay ok well just",
)
"""Words that are in every sentence, whatever it is about."""
_SAME = {
    "kilometers": "kilometres",
    "liters": "litres",
    "colour": "color",
    "x": "times",
    "email": "mail",
    "phone": "call",
}
_SEAM = re.compile(
    r"[.?!;]+(?:\s+|$)|,\s+(?:and |so |but )?|\s+(?:and|so|but)\s+(?=(?:can|could|do|how|please|tell|what|which)\b)",
    re.IGNORECASE,
)
_KEPT = frozenset(["times"])
"""A plural that is another word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A tool that fits."""

    tool: ToolSpec
    score: float
    """0 to 1: 1 is one of its examples, word for word."""
    words: str
    """The part of the utterance that wants it."""


def pick(utterance: str, tools: Sequence[ToolSpec]) -> Pick | None:
    """Find the tool that fits best.

    Args:
        utterance: what the caller said.
        tools: what there is; of equals the first is taken.

    Returns:
        The best tool that is at least ``LIKELY``, or ``None``.
    """
    said = _bag(utterance)
    picks = [Pick(tool=tool, score=_score(said, tool), words=utterance) for tool in tools]
    best = max(picks, key=lambda candidate: candidate.score, default=None)
    return best if best is not None and best.score >= LIKELY else None


def pick_all(utterance: str, tools: Sequence[ToolSpec], *, whole_only: bool = False) -> list[Pick]:
    """Find the tools for an utterance that may want several things, or say more than what it wants.

    Args:
        utterance: what the caller said.
        tools: what there is.
        whole_only: whether its parts are not looked at by themselves.

    Returns:
        One pick for each thing plainly wanted, in the order said; else the best of the whole and its parts; else none.
    """
    whole = pick(utterance, tools)
    said = [] if whole_only else _parts(utterance)
    parts = [picked for part in said if (picked := pick(part, tools)) is not None]
    plain: dict[str, Pick] = {}
    for part in parts:
        if part.score >= PLAIN:
            plain.setdefault(part.tool.name, part)
    if len(plain) > 1:
        return list(plain.values())
    candidates = [whole, *parts] if whole is not None else parts
    return [max(candidates, key=lambda candidate: candidate.score)] if candidates else []


def _parts(utterance: str) -> list[str]:
    """Take an utterance apart where another sentence or question begins, but no sum: its numbers stay together."""
    parts = [part.strip() for part in _SEAM.split(utterance) if part.strip()]
    numbers = [sum(bool(NUMERAL.fullmatch(word)) for word in with_numerals(part).split()) for part in parts]
    return [part for part, count in zip(parts, numbers, strict=True) if count in (0, sum(numbers))]


def _score(said: frozenset[str], tool: ToolSpec) -> float:
    by_example = max((_likeness(said, _bag(example)) for example in tool.examples), default=0.0)
    about = _bag(f"{tool.name.replace('_', ' ')}. {tool.description}")
    # A description has many words, so it is only asked how much of the utterance it covers, and weighs less.
    content = [word for word in said if word not in EVERYDAY and word != "#"]
    by_description = 0.6 * sum(word in about for word in content) / len(content) if content else 0.0
    return max(by_example, by_description)


def _likeness(said: frozenset[str], example: frozenset[str]) -> float:
    common = said & example
    if common <= {"#"}:  # Numbers alone are an answer, not a sum.
        return 0.0
    return 2 * _weight(common) / (_weight(said) + _weight(example))


def _weight(bag: frozenset[str]) -> float:
    return sum(_LIGHT if word in EVERYDAY else 1.0 for word in bag)


@lru_cache(maxsize=1024)
def _bag(text: str) -> frozenset[str]:
    """The words of a text, numbers as ``#``, plurals as singulars."""
    found = words(with_numerals(text.replace("-", "")).replace(" ' ", "'"))
    return frozenset(_normal(part) for word in found for part in word.split("'"))


def _normal(word: str) -> str:
    if NUMERAL.fullmatch(word):
        return "#"
    word = _SAME.get(word, word)
    if word.endswith("s") and len(word) > 3 and not word.endswith("ss") and word not in _KEPT:
        return word[:-1]
    return word
