"""What can go wrong in an agent, split by who must act.

::

    GloveError
    ├── DefinitionError      the programmer: a tool or factory is ill-defined
    │   └── ToolSelectionError   a list of tools names one that is not there
    ├── ConfigurationError   the operator: an unknown model, a missing key or package
    ├── ModelError           the provider: unreachable, refused or broken
    ├── StoreError           the operator: the database is unreachable, full, corrupt or newer than this program
    │   └── ConflictError    nobody: somebody else wrote to the same conversation first
    ├── SlotRejectedError    nobody: a person did not want to answer on the screen, or the screen went away
    ├── AnswerError          the screen: it answered with a value of another type
    └── AbortError           nobody: somebody asked for the work to stop
"""

from __future__ import annotations

__all__ = [
    "AbortError",
    "AnswerError",
    "ConfigurationError",
    "ConflictError",
    "DefinitionError",
    "GloveError",
    "ModelError",
    "SlotRejectedError",
    "StoreError",
    "ToolSelectionError",
]


class GloveError(Exception):
    """Root of everything this package raises on purpose."""


class DefinitionError(GloveError):
    """Something was defined in a way that cannot work; the message says what and how to mend it.

    Attributes:
        mistakes: every mistake found, a sentence each.
    """

    def __init__(self, *mistakes: str) -> None:
        self.mistakes = mistakes
        super().__init__(*mistakes)

    def __str__(self) -> str:
        if len(self.mistakes) == 1:
            return self.mistakes[0]
        return "".join([f"{len(self.mistakes)} mistakes:", *(f"\n- {mistake}" for mistake in self.mistakes)])


class ToolSelectionError(DefinitionError):
    """A list that picks tools names one that is not there.

    Attributes:
        code: ``unknown_tool``.
        unknown: the names that match nothing.
    """

    code = "unknown_tool"

    def __init__(self, unknown: tuple[str, ...], known: tuple[str, ...]) -> None:
        self.unknown = unknown
        wrong = ", ".join(map(repr, unknown))
        super().__init__(f"no tool is named or ends with {wrong}; there are {', '.join(map(repr, known)) or 'none'}")


class ConfigurationError(GloveError):
    """The installation lacks something that was asked for; the message names it and the fix."""


class ModelError(GloveError):
    """A model call failed.

    Attributes:
        model: which model, as ``provider:name``.
        reason: what was wrong, one sentence without personal data.
        status: the HTTP status, when there was one.
        retryable: whether the same call may succeed later.
        retry_after_s: how long the provider asks to wait, in seconds, when it does.
    """

    def __init__(
        self,
        model: str,
        reason: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        self.model = model
        self.reason = reason
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
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


class SlotRejectedError(GloveError):
    """Nobody answers on the screen.

    Attributes:
        slot_id: what was shown.
        reason: why it is not answered.
    """

    def __init__(self, slot_id: str, reason: str) -> None:
        self.slot_id = slot_id
        self.reason = reason
        super().__init__(slot_id, reason)

    def __str__(self) -> str:
        return self.reason


class AnswerError(GloveError):
    """A screen answered with a value of another type than was asked for; the question stands.

    Attributes:
        slot_id: what was answered.
        reason: what is wrong with the value.
    """

    def __init__(self, slot_id: str, reason: str) -> None:
        self.slot_id = slot_id
        self.reason = reason
        super().__init__(slot_id, reason)

    def __str__(self) -> str:
        return f"slot {self.slot_id!r} cannot be answered so: {self.reason}"


class AbortError(GloveError):
    """The work was stopped by its abort signal."""

    def __init__(self, reason: str = "aborted") -> None:
        self.reason = reason
        super().__init__(reason)
