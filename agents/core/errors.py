"""What can go wrong in an agent, split by who must act.

::

    GloveError
    ├── DefinitionError      the programmer: a tool or factory is ill-defined
    ├── ConfigurationError   the operator: an unknown model, a missing key or package
    ├── ModelError           the provider: unreachable, refused or broken
    ├── StoreError           the operator: the database is unreachable, full, corrupt or newer than this program
    │   └── ConflictError    nobody: somebody else wrote to the same conversation first
    └── AbortError           nobody: somebody asked for the work to stop
"""

from __future__ import annotations

__all__ = [
    "AbortError",
    "ConfigurationError",
    "ConflictError",
    "DefinitionError",
    "GloveError",
    "ModelError",
    "StoreError",
]


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


class StoreError(GloveError):
    """What is stored cannot be read or written; the message says where, why and what to do, without a password."""


class ConflictError(StoreError):
    """A conversation is not what the writer took it for; nothing was written.

    Attributes:
        conversation: which.
        expected: the version the writer had read, when the version is what differs.
        found: the version there is now.
        message_id: the id under which another message is stored, when that is the conflict.
    """

    def __init__(
        self, conversation: str, *, found: int, expected: int | None = None, message_id: str | None = None
    ) -> None:
        self.conversation = conversation
        self.expected = expected
        self.found = found
        self.message_id = message_id
        super().__init__(conversation, found, expected, message_id)

    def __str__(self) -> str:
        if self.message_id is not None:
            return (
                f"conversation {self.conversation!r} holds another message with the id {self.message_id!r}; "
                "give every message an id of its own"
            )
        return (
            f"conversation {self.conversation!r} is at version {self.found}, not {self.expected}: somebody else has "
            "written to it; read it again and append what still holds"
        )


class AbortError(GloveError):
    """The work was stopped by its abort signal."""

    def __init__(self, reason: str = "aborted") -> None:
        self.reason = reason
        super().__init__(reason)
