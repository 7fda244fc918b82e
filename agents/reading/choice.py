"""One of several things that were offered."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["read_choice"]

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
    return named[0] if len(named) == 1 else None


def _words(text: str) -> list[str]:
    # "e-mail", "e mail" and "email" are one word.
    return re.findall(r"[^\W_]+", re.sub(r"\b([a-z])[\s-](?=[a-z]{3})", r"\1", text.lower()))


def _names(choice: str, words: Sequence[str]) -> bool:
    return all(any(_same(part, word) for word in words) for part in _words(choice))


def _same(part: str, word: str) -> bool:
    """Whether a word is the choice's, its plural, or a longer or shorter form of it ("telephone", "mail")."""
    longer, shorter = (word, part) if len(word) >= len(part) else (part, word)
    return longer == shorter or (len(shorter) >= 4 and (longer.endswith(shorter) or longer == shorter + "s"))
