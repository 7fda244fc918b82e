"""What a fact is, and what is kept of the facts of a scope."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "Claim",
    "ClaimState",
    "Evidence",
    "Fact",
    "FactInput",
    "FactRef",
    "FactScope",
    "FactSource",
    "FactState",
    "Operation",
    "Text",
    "Verification",
]

Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=512)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FactScope(_Record):
    """Whose facts, and in what connection: both are part of the identity."""

    subject: Text
    context: Text


class FactSource(_Record):
    """Where a fact comes from."""

    kind: Literal["message", "document", "tool", "person", "observation"]
    id: Name
    actor: Name | None = None


class Verification(StrEnum):
    """How far a fact can be relied on."""

    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    AMBIGUOUS = "ambiguous"
    CONFLICTED = "conflicted"


class Evidence(_Record):
    """What a fact proves that was done, allowed or came about."""

    kind: Literal["action", "approval", "outcome"]
    key: Name
    result: Literal["success", "failure", "intention"]
    """An intention proves nothing."""
    actor: Name | None = None


class FactInput(_Record):
    """A fact to be recorded."""

    text: Text
    value: Any = None
    """The same as JSON, where it has a form."""
    source: FactSource
    verification: Verification = Verification.UNVERIFIED
    effective_at: AwareDatetime | None = None
    urgent: bool = False
    """Whether somebody is to be told at once."""
    evidence: Evidence | None = None


class FactRef(_Record):
    """One revision of a fact."""

    id: str
    revision: int = Field(ge=1)


class Fact(FactInput):
    """A fact as it was recorded."""

    id: str
    revision: int
    """From 1; a correction is a further revision of the same fact."""
    scope: FactScope
    observed_at: datetime

    @property
    def ref(self) -> FactRef:
        """This revision."""
        return FactRef(id=self.id, revision=self.revision)


class ClaimState(StrEnum):
    """How far a claim is."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    """Whoever it was made for took it over."""


class Claim(_Record):
    """What facts say of one requirement of one consumer: evidence that was put together, not evidence itself."""

    id: str
    """Made of the content: the same claim has the same id."""
    consumer: str
    requirement: str
    refs: tuple[FactRef, ...]
    value: Any
    derivation: Literal["explicit", "synthesized"]
    criteria: str
    explanation: str
    state: ClaimState = ClaimState.PROPOSED


class Operation(_Record):
    """What an operation id was used for."""

    fingerprint: str
    ref: FactRef
    delivered: bool
    """Whether whoever had to be told of it was."""


class FactState(_Record):
    """All facts of a scope. Replaced as a whole, from one version to the next."""

    version: int = 0
    facts: tuple[Fact, ...] = ()
    """Every revision, in the order recorded."""
    operations: Mapping[str, Operation] = Field(default_factory=dict)
    claims: tuple[Claim, ...] = ()

    def current(self) -> tuple[Fact, ...]:
        """The newest revision of each fact, in the order the facts were first recorded."""
        newest: dict[str, Fact] = {}
        for fact in self.facts:
            newest[fact.id] = fact
        return tuple(newest.values())

    def claim(self, claim_id: str) -> Claim | None:
        """A claim."""
        return next((claim for claim in self.claims if claim.id == claim_id), None)

    def find(self, ref: FactRef) -> Fact | None:
        """A revision."""
        return next((fact for fact in self.facts if fact.ref == ref), None)
