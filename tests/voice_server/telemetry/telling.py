"""Tells the story of a call to somebody, at its times, and the same story with other words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

from pipelines.events import CallEvent, Tell
from tests.voice_server.records.story import BEGAN, STORY

WORDS = frozenset({"text", "heard", "name", "call_id"})
"""Fields that hold what callers, models and agents say or make up."""


class Hand:
    """A clock's hand, moved by hand."""

    def __init__(self) -> None:
        self.at = BEGAN

    def __call__(self) -> float:
        return self.at


def tell(to: Callable[[Hand], Tell], story: Iterable[tuple[float, CallEvent]] = STORY) -> None:
    """Tell a story to somebody who is given the hand."""
    hand = Hand()
    told = to(hand)
    for hand.at, event in story:
        told(event)


def reworded(word: str) -> list[tuple[float, CallEvent]]:
    """The story with a word everywhere where somebody may say something."""
    return [(at, _reworded(event, word)) for at, event in STORY]


def _reworded(event: CallEvent, word: str) -> CallEvent:
    changed: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name in WORDS or (field.name == "reason" and event.type == "engine_trouble"):
            changed[field.name] = word
        elif isinstance(value, dict):
            changed[field.name] = {word: word}
    return replace(event, **changed)
