"""Agents for chats: whoever is to answer the next conversations is set beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from agents.core.glove import Glove
from agents.core.model import Model

__all__ = ["AGENT", "answered_by", "create"]

AGENT = f"{__name__}:create"

_make: list[Callable[[], Glove]] = []


def create(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """The factory the server is given."""
    return _make[-1]()


@contextmanager
def answered_by(make: Callable[[], Glove]) -> Iterator[None]:
    """Let conversations that begin inside be answered by agents that a function makes."""
    _make.append(make)
    try:
        yield
    finally:
        _make.pop()
