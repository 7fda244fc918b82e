"""An agent's errors, as a pipeline may show them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agents.core.errors import GloveError
from pipelines.responder import ResponderError

__all__ = ["explained"]


@contextmanager
def explained(trouble: str) -> Iterator[None]:
    """Pass on an agent's errors with their sentences; others may quote the caller.

    Args:
        trouble: what could not be done.

    Raises:
        ResponderError: instead of any error that is the agent's own.
    """
    try:
        yield
    except GloveError as exc:
        raise ResponderError(f"{trouble}: {exc}") from exc
