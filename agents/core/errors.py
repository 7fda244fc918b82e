"""What can go wrong in an agent, split by who must act.

::

    GloveError
    ├── DefinitionError      the programmer: a tool or factory is ill-defined
    ├── ConfigurationError   the operator: an unknown model, a missing key or package
    ├── ModelError           the provider: unreachable, refused or broken
    └── AbortError           nobody: somebody asked for the work to stop
"""

from __future__ import annotations

__all__ = ["AbortError", "ConfigurationError", "DefinitionError", "GloveError", "ModelError"]


class GloveError(Exception):
    """Root of everything this package raises on purpose."""


class DefinitionError(GloveError):
    """Something was defined in a way that cannot work; the message says what and how to mend it."""


class ConfigurationError(GloveError):
    """The installation lacks something that was asked for; the message names it and the fix."""


class ModelError(GloveError):
    """A model call failed.

    Attributes:
        model: which model, as ``provider:name``.
        reason: what was wrong, one sentence without personal data.
        status: the HTTP status, when there was one.
        retryable: whether the same call may succeed later.
    """

    def __init__(self, model: str, reason: str, *, status: int | None = None, retryable: bool = False) -> None:
        self.model = model
        self.reason = reason
        self.status = status
        self.retryable = retryable
        super().__init__(model, reason)

    def __str__(self) -> str:
        return f"model {self.model!r} failed: {self.reason}"


class AbortError(GloveError):
    """The work was stopped by its abort signal."""

    def __init__(self, reason: str = "aborted") -> None:
        self.reason = reason
        super().__init__(reason)
