"""Executors: what runs when a field is answered or skipped, a step or the form is complete, a checkpoint is reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agents.forms.effects import Effects
from agents.forms.state import When

__all__ = ["FORM_HOOK", "Checkpoint", "Executor", "checkpoint_hook", "field_hook", "skip_hook", "step_hook"]

Executor: TypeAlias = Callable[[Any], Awaitable[Effects] | Effects]
"""Runs on the event loop with a context; what it raises is a failure."""

FORM_HOOK = "form"
"""The hook of the whole form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A moment at which something happens."""

    id: str
    when: When
    blocking: bool = False
    """Whether answers are frozen while its executor runs."""
    wait_message: str = ""
    """What people are told meanwhile."""


def field_hook(field_id: str) -> str:
    """The id of what runs when a field is answered."""
    return f"field:{field_id}"


def skip_hook(field_id: str) -> str:
    """The id of what runs when a field is skipped."""
    return f"skip:{field_id}"


def step_hook(step_id: str) -> str:
    """The id of what runs when a step is complete."""
    return f"step:{step_id}"


def checkpoint_hook(checkpoint_id: str) -> str:
    """The id of what runs when a checkpoint is reached."""
    return f"checkpoint:{checkpoint_id}"
