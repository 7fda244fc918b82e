"""One of several things that were offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from agents.reading.vocabulary import vocabulary

__all__ = ["read_choice"]

ALIKE, UNLIKE = 0.6, 0.35
"""Likeness from which a lone word is taken for a choice, and up to which it counts as unlike the others."""

_AROUND = vocabulary("a an by please the via with uh um")
_REFUSALS = vocabulary("both either neither no none nope nothing yes yeah")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def read_choice(text: str, choices: Sequence[str]) -> str | None:
    """Read which choice an utterance takes.

    Args:
        text: an utterance.
        choices: what was offered, as it would be said.

    Returns:
        The choice as it was offered; ``None`` when the utterance names none, or more than one.
    """
    words = _words(text)
    named = [choice for choice in choices if _names(choice, words)]
    if not named:
        named = [choice for ordinal, choice in zip(_ORDINALS, choices, strict=False) if ordinal in words]
        if "last" in words or "latter" in words:
            named.append(choices[-1])
    if not named:
        named = _sounding_like(words, choices)
    return named[0] if len(named) == 1 else None


def _sounding_like(words: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Take a lone misheard word for the choice it is like, if it is like no other: "thong" for "phone"."""
    said = [word for word in words if word not in _AROUND]
    if len(said) != 1 or said[0] in _REFUSALS:
        return []
    likeness = {choice: SequenceMatcher(None, said[0], "".join(_words(choice))).ratio() for choice in choices}
    near = [choice for choice in choices if likeness[choice] > UNLIKE]
    return near if near and likeness[near[0]] >= ALIKE else []


def _words(text: str) -> list[str]:
    # "e-mail", "e mail" and "email" are one word.
    return re.findall(r"[^\W_]+", re.sub(r"\b([a-z])[\s-](?=[a-z]{3})", r"\1", text.lower()))


def _names(choice: str, words: Sequence[str]) -> bool:
    return all(any(_same(part, word) for word in words) for part in _words(choice))


def _same(part: str, word: str) -> bool:
    """Whether a word is the choice's, its plural, or a longer or shorter form of it ("telephone", "mail")."""
    longer, shorter = (word, part) if len(word) >= len(part) else (part, word)
    return longer == shorter or (len(shorter) >= 4 and (longer.endswith(shorter) or longer == shorter + "s"))
