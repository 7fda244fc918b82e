"""Which field a model means: ids and labels are found whatever their case and punctuation; a near miss is suggested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["NEAR", "SUGGESTIONS", "AliasIndex", "normalise"]

NEAR = 0.4
"""Sørensen–Dice coefficient from which a name counts as near."""

SUGGESTIONS = 2
"""How many names are suggested at most."""


def normalise(name: str) -> str:
    """Lower-case, letters and digits of ASCII only."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


class AliasIndex:
    """Fields by id and label.

    Args:
        names: pairs of a field's id and label.

    Attributes:
        collisions: ids of two fields that go by one name, in pairs; such a form is refused.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._ids: dict[str, str] = {}
        self._bigrams: list[tuple[str, Counter[str]]] = []
        self.collisions: list[tuple[str, str, str]] = []
        for field_id, label in names:
            for key in dict.fromkeys((normalise(field_id), normalise(label))):
                if not key:
                    continue  # A label in letters that are not of ASCII.
                if self._ids.setdefault(key, field_id) != field_id:
                    self.collisions.append((self._ids[key], field_id, key))
                self._bigrams.append((field_id, _bigrams(key)))

    def find(self, name: str) -> str | None:
        """Give the id of the field that goes by this name."""
        return self._ids.get(normalise(name))

    def near(self, name: str) -> tuple[str, ...]:
        """Suggest ids, the nearest first; none when nothing is near."""
        wanted = _bigrams(normalise(name[:200]))
        best: dict[str, float] = {}
        for field_id, bigrams in self._bigrams:
            best[field_id] = max(best.get(field_id, 0.0), _dice(wanted, bigrams))
        ranked = sorted((field_id for field_id, score in best.items() if score >= NEAR), key=lambda one: -best[one])
        return tuple(ranked[:SUGGESTIONS])


def _bigrams(key: str) -> Counter[str]:
    return Counter(key[place : place + 2] for place in range(len(key) - 1))


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
