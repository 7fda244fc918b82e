"""What the conditions of a form may ask about its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

__all__ = ["FormState", "When"]


class FormState(Protocol):
    """How a form stands: what applies, is valid and was answered."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Valid answers to questions that apply, by field id; what is not there is not known."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every required question that applies is answered or skipped."""
        ...

    def step_complete(self, step: type[Any] | str) -> bool:
        """Whether that is so of one step: its class or its id."""
        ...

    def checkpoint_fired(self, checkpoint: str) -> bool:
        """Whether a checkpoint ever was reached."""
        ...


When: TypeAlias = Callable[[FormState], bool]
"""A condition. It answers from the state alone, at once, and the same every time."""
