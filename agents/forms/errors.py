"""What can go wrong with forms, each with a code that tools and clients are told.

::

    FormError
    ├── FormDefinitionError      the programmer: a form is ill-defined (also a DefinitionError)
    ├── FormValidationError      the caller of an operation: it makes no sense as things stand
    ├── FormNotFoundError        the same: there is no such form, step, field or instance
    ├── ProvenanceRequiredError  the same: a write does not say whose it is
    ├── FormBlockedError         nobody: a checkpoint is at work, ask again later
    ├── FormStaleError           the programmer: an instance is of another version, and nothing migrates it
    ├── FormConflictError        nobody: somebody else wrote to the instance first
    └── FormPostCommitError      whoever runs it: a write was saved, and what was to follow failed
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agents.core.errors import DefinitionError, GloveError

if TYPE_CHECKING:
    from agents.forms.record import Instance

__all__ = [
    "FormBlockedError",
    "FormConflictError",
    "FormDefinitionError",
    "FormError",
    "FormNotFoundError",
    "FormPostCommitError",
    "FormStaleError",
    "FormValidationError",
    "ProvenanceRequiredError",
]


class FormError(GloveError):
    """Something was asked of a form that cannot be; nothing was changed. The message is for a model, too.

    Attributes:
        code: what it is, for programs.
    """

    code = "form_error"

    @property
    def data(self) -> dict[str, Any]:
        """The code and what else a program may want to know, as JSON."""
        return {"code": self.code}


class FormDefinitionError(FormError, DefinitionError):
    """A form is defined in a way that cannot work.

    Attributes:
        ids: of the fields, steps and checkpoints concerned.
        mistakes: every mistake found, a sentence each.
    """

    code = "form_definition_error"

    def __init__(self, ids: Iterable[str], *mistakes: str) -> None:
        self.ids = tuple(dict.fromkeys(ids))
        DefinitionError.__init__(self, *mistakes)

    @property
    def data(self) -> dict[str, Any]:
        """The code and the ids."""
        return {"code": self.code, "ids": list(self.ids)}


class FormValidationError(FormError):
    """An operation makes no sense as things stand."""

    code = "form_validation_failed"

    def __init__(self, message: str, **details: Any) -> None:
        self.details = details
        super().__init__(message)

    @property
    def data(self) -> dict[str, Any]:
        """The code and the details."""
        return {"code": self.code, **self.details}


class FormNotFoundError(FormError):
    """There is no such thing."""

    code = "not_found"


class ProvenanceRequiredError(FormError):
    """A write does not say whose it is."""

    code = "provenance_required"


class FormBlockedError(FormError):
    """Answers cannot be changed while a checkpoint is at work.

    Attributes:
        checkpoint_id: which.
        wait_message: what people are told meanwhile; empty when nothing.
    """

    code = "form_blocked"

    def __init__(self, checkpoint_id: str, wait_message: str = "") -> None:
        self.checkpoint_id = checkpoint_id
        self.wait_message = wait_message
        super().__init__(f'Waiting on checkpoint "{checkpoint_id}".{" " * bool(wait_message)}{wait_message}')

    @property
    def data(self) -> dict[str, Any]:
        """The code, the checkpoint and its message."""
        return {"code": self.code, "checkpoint": self.checkpoint_id, "waiting": self.wait_message}


class FormStaleError(FormError):
    """An instance is of another version than the form.

    Attributes:
        instance_version: the form's version when it was last written to.
        def_version: the form's version now.
    """

    code = "form_stale"

    def __init__(self, form: str, instance_version: int, def_version: int) -> None:
        self.instance_version = instance_version
        self.def_version = def_version
        super().__init__(
            f"this instance is of version {instance_version} of form {form!r}, which is at version {def_version} and "
            "cannot take it over; abandon it and start a new one with the answers known"
        )

    @property
    def data(self) -> dict[str, Any]:
        """The code and both versions."""
        return {"code": self.code, "instance_version": self.instance_version, "def_version": self.def_version}


class FormConflictError(FormError):
    """Somebody else wrote to an instance first; nothing was written.

    Attributes:
        expected: the version the writer had read.
        actual: the version there is.
    """

    code = "form_conflict"

    def __init__(self, instance_id: str, expected: int, actual: int) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(f"form instance {instance_id} is at version {actual}, not {expected}; read it and try again")

    @property
    def data(self) -> dict[str, Any]:
        """The code and both versions."""
        return {"code": self.code, "expected": self.expected, "actual": self.actual}


class FormPostCommitError(GloveError):
    """A write was saved, and what was to follow it failed; it is taken up again when hooks are resumed.

    Attributes:
        instance: as it was saved.
    """

    def __init__(self, instance: Instance, cause: Exception) -> None:
        self.instance = instance
        super().__init__(f"the answers are saved, but what was to follow failed: {cause}")
        self.__cause__ = cause
