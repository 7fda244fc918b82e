"""In what Gemini's live models differ, as a table.

Above: ``setup`` and ``intents`` ask it. Sources: ai.google.dev's pages on the models and on migrating between them,
and reports of those who hold calls with them (pipecat, LiveKit Agents).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Family", "family_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a family of models takes."""

    takes_content: bool
    """Whether ``clientContent`` is taken at any time; else only as the history before the first turn, and later text
    goes as ``realtimeInput``, which is always answered: what must be silent waits for something that is not. Such a
    model may also have to be reminded that it has all results."""
    tool_behavior: str | None
    """What to say so that a tool call holds the answer until its result is there; ``None``: it does by itself, and
    the field may be refused."""


LATEST = Family(takes_content=True, tool_behavior="BLOCKING")

FAMILIES: tuple[tuple[str, Family], ...] = (
    ("gemini-2.", Family(takes_content=True, tool_behavior=None)),
    ("gemini-live-2.", Family(takes_content=True, tool_behavior=None)),
    ("gemini-3.1-", Family(takes_content=False, tool_behavior=None)),
    # It knows tools that do not hold the answer only.
    ("gemini-3.8-live-extended-thinking", Family(takes_content=True, tool_behavior=None)),
)
"""By how a name begins; what is in none is like the latest, ``gemini-3.8-live``."""


def family_of(model: str) -> Family:
    """Tell what a model takes.

    Args:
        model: its name, with or without ``models/``.
    """
    name = model.removeprefix("models/")
    return next((family for beginning, family in FAMILIES if name.startswith(beginning)), LATEST)
