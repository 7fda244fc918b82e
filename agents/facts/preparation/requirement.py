"""What is asked of the facts, and what they were found to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agents.facts.record import Claim, FactRef

__all__ = [
    "Current",
    "Decision",
    "DecisionStatus",
    "Proposal",
    "Report",
    "Requirement",
    "Rule",
    "Submission",
    "Validate",
]

Validate: TypeAlias = Callable[[Any], Any]
"""Checks a proposed value and gives it back as it is kept; refuses by a ``ValueError``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What evidence settles a requirement."""

    kind: Literal["information", "action", "outcome", "approval"] = "information"
    """Information is known; the others have to be proven by evidence of that kind."""
    criteria: str = ""
    """In words, for the agent that prepares: what the facts must say."""
    evidence_key: str | None = None
    """Which action, outcome or approval; without it none is ever proven."""
    authorized_actors: tuple[str, ...] = ()
    """Whose approval counts."""
    allow_unverified: bool = False
    """Whether information that nobody verified is enough."""
    fulfills: tuple[Literal["field", "step"], ...] = ()
    """Of a form: which hooks count as run when evidence fills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """What a requirement is settled by already."""

    value: Any
    claim_id: str | None = None
    """The claim that settled it; ``None``: somebody said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Something a goal or a form wants to know."""

    id: str
    label: str
    rule: Rule
    schema: Mapping[str, Any]
    """JSON Schema of its value."""
    validate: Validate
    eligible: bool = True
    """Whether it may be settled now."""
    current: Current | None = None


class Proposal(BaseModel):
    """What the agent finds that the facts say of one requirement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requirement: str = Field(max_length=600)
    value: Any = None
    refs: tuple[FactRef, ...] = Field(default=(), max_length=100)
    derivation: Literal["explicit", "synthesized"] = Field(
        default="explicit", description="whether one fact says it, or it follows from several"
    )
    strength: Literal["sufficient", "confirmation", "missing", "conflict"]
    explanation: str = Field(min_length=1, max_length=4000)


class Submission(BaseModel):
    """All it finds, at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requestId: str = Field(max_length=100)
    proposals: tuple[Proposal, ...] = Field(max_length=1000)


class DecisionStatus(StrEnum):
    """How a requirement stands against the evidence."""

    SUFFICIENT = "sufficient"
    CONFIRMATION = "confirmation"
    """The person is to be asked whether it is so."""
    MISSING = "missing"
    CONFLICT = "conflict"
    REVIEW = "review"
    """It is settled, and the evidence has changed or says otherwise."""
    INELIGIBLE = "ineligible"
    """It may not be settled yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of one requirement."""

    requirement: str
    status: DecisionStatus
    explanation: str = ""
    value: Any = None
    derivation: Literal["explicit", "synthesized"] | None = None
    refs: tuple[FactRef, ...] = ()
    claim_id: str | None = None
    applies: bool = False
    """Whether the requirement is to be settled by it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a preparation came to."""

    decisions: tuple[Decision, ...] = ()
    claims: tuple[Claim, ...] = field(default=(), repr=False)
    """Those that are to be saved, proposed."""
    error: str | None = None
    """Why nothing was applied, if nothing was."""
    urgent: tuple[str, ...] = ()
    """Lines of urgent facts."""

    def applied(self) -> tuple[Decision, ...]:
        """The decisions that settle something now."""
        return tuple(decision for decision in self.decisions if decision.applies)
