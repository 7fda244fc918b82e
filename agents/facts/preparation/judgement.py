"""What of an agent's proposals holds, by the facts they name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from agents.facts.canonical import canonical
from agents.facts.preparation.requirement import (
    Current,
    Decision,
    DecisionStatus,
    Proposal,
    Report,
    Requirement,
    Rule,
)
from agents.facts.record import Claim, ClaimState, Fact, FactRef, FactState, Verification

__all__ = ["judge", "refuse", "urgent_lines"]


def judge(
    consumer: str, requirements: Sequence[Requirement], proposals: Sequence[Proposal], state: FactState
) -> Report:
    """Decide what becomes of each requirement.

    Args:
        consumer: whose requirements they are.
        requirements: in order.
        proposals: what the agent finds.
        state: the facts as the agent was shown them.
    """
    facts = {fact.ref: fact for fact in state.current()}
    by_id = {requirement.id: requirement for requirement in requirements}
    try:
        values = _checked(proposals, by_id, facts)
    except ValueError as exc:
        return refuse(requirements, state, f"the proposals were refused: {exc}")
    proposed = {proposal.requirement: proposal for proposal in proposals}
    decisions: list[Decision] = []
    claims: list[Claim] = []
    for requirement in requirements:
        proposal = proposed.get(requirement.id)
        claim = None
        if proposal is not None and proposal.strength == "sufficient":
            claim = _claim(consumer, requirement, proposal, values[requirement.id], state)
            claims.append(claim)
        if (decision := _decide(requirement, proposal, claim, facts, state)) is not None:
            decisions.append(decision)
    return Report(decisions=tuple(decisions), claims=tuple(claims), urgent=urgent_lines(state))


def refuse(requirements: Sequence[Requirement], state: FactState, error: str) -> Report:
    """Apply nothing, and say why."""
    decisions = tuple(
        Decision(requirement=requirement.id, status=DecisionStatus.REVIEW, explanation="not prepared")
        for requirement in requirements
        if requirement.current is None
    )
    return Report(decisions=decisions, error=error, urgent=urgent_lines(state))


def urgent_lines(state: FactState) -> tuple[str, ...]:
    """Write the urgent facts, a line each."""
    return tuple(
        f"{fact.id}@{fact.revision}: {fact.text} ({fact.verification}; {fact.source.kind}:{fact.source.id})"
        for fact in state.current()
        if fact.urgent
    )


def _checked(
    proposals: Sequence[Proposal], requirements: Mapping[str, Requirement], facts: Mapping[FactRef, Fact]
) -> dict[str, object]:
    """Give the proposed values as they are kept.

    Raises:
        ValueError: one of the proposals cannot be: then none is believed.
    """
    values: dict[str, object] = {}
    for proposal in proposals:
        requirement = requirements.get(proposal.requirement)
        if requirement is None:
            raise ValueError(f"there is no requirement {proposal.requirement!r}")
        if proposal.requirement in values:
            raise ValueError(f"{proposal.requirement!r} is proposed twice")
        if len(set(proposal.refs)) < len(proposal.refs):
            raise ValueError(f"{proposal.requirement!r} names a fact twice")
        for ref in proposal.refs:
            if ref not in facts:
                raise ValueError(f"{proposal.requirement!r} names {ref.id}@{ref.revision}, which is no current fact")
        if proposal.strength == "sufficient" and (not proposal.refs or proposal.value is None):
            raise ValueError(f"{proposal.requirement!r} is said to be settled without facts, or without a value")
        values[proposal.requirement] = None
        if proposal.value is not None:
            try:
                values[proposal.requirement] = requirement.validate(proposal.value)
            except ValueError as exc:
                raise ValueError(f"the value of {proposal.requirement!r} does not fit: {exc}") from None
    return values


def _decide(
    requirement: Requirement,
    proposal: Proposal | None,
    claim: Claim | None,
    facts: Mapping[FactRef, Fact],
    state: FactState,
) -> Decision | None:
    """Decide on one; ``None``: it is settled, and nothing has changed."""
    if proposal is None:
        status, why = DecisionStatus.MISSING, "no fact says it"
    else:
        status, why = _strength(requirement.rule, proposal, [facts[ref] for ref in proposal.refs]), proposal.explanation
    if requirement.current is not None:
        changed = _changed(requirement, requirement.current, claim, status, facts, state)
        if changed is None:
            return None
        status, why = DecisionStatus.REVIEW, changed
    elif not requirement.eligible and status is DecisionStatus.SUFFICIENT:
        status = DecisionStatus.INELIGIBLE
    return Decision(
        requirement=requirement.id,
        status=status,
        explanation=why,
        value=None if claim is None else claim.value,
        derivation=None if proposal is None else proposal.derivation,
        refs=() if proposal is None else proposal.refs,
        claim_id=None if claim is None else claim.id,
        applies=status is DecisionStatus.SUFFICIENT,
    )


def _strength(rule: Rule, proposal: Proposal, named: Sequence[Fact]) -> DecisionStatus:
    """How strong a proposal really is: never stronger than the agent says, and never than its facts."""
    if proposal.strength != "sufficient":
        return DecisionStatus(proposal.strength)
    verifications = {fact.verification for fact in named}
    if Verification.CONFLICTED in verifications:
        return DecisionStatus.CONFLICT
    if rule.kind != "information" and not any(_proves(rule, fact) for fact in named):
        return DecisionStatus.MISSING
    if Verification.AMBIGUOUS in verifications:
        return DecisionStatus.CONFIRMATION
    lenient = rule.kind == "information" and rule.allow_unverified
    if Verification.UNVERIFIED in verifications and not lenient:
        return DecisionStatus.CONFIRMATION
    return DecisionStatus.SUFFICIENT


def _proves(rule: Rule, fact: Fact) -> bool:
    evidence = fact.evidence
    if evidence is None or fact.verification is not Verification.VERIFIED or rule.evidence_key is None:
        return False
    if (evidence.kind, evidence.key, evidence.result) != (rule.kind, rule.evidence_key, "success"):
        return False
    return rule.kind != "approval" or evidence.actor in rule.authorized_actors


def _changed(
    requirement: Requirement,
    current: Current,
    claim: Claim | None,
    status: DecisionStatus,
    facts: Mapping[FactRef, Fact],
    state: FactState,
) -> str | None:
    """Say why what is settled should be looked at again; ``None``: it need not be."""
    settled = None if current.claim_id is None else state.claim(current.claim_id)
    if settled is not None and any(ref not in facts for ref in settled.refs):
        return "a fact it rests on was corrected"
    if settled is not None and settled.criteria != requirement.rule.criteria:
        return "what it takes has changed"
    if claim is not None and status is DecisionStatus.SUFFICIENT and claim.value != current.value:
        return "facts say otherwise"
    return None


def _claim(consumer: str, requirement: Requirement, proposal: Proposal, value: object, state: FactState) -> Claim:
    """Make a claim, or find the one that says the same in other words."""
    content = {
        "consumer": consumer,
        "requirement": requirement.id,
        "refs": [ref.model_dump() for ref in proposal.refs],
        "value": value,
        "derivation": proposal.derivation,
        "criteria": requirement.rule.criteria,
    }
    identifier = f"claim_{sha256(canonical(content).encode()).hexdigest()}"
    known = state.claim(identifier)
    if known is not None:
        return known
    return Claim(
        id=identifier,
        consumer=consumer,
        requirement=requirement.id,
        refs=proposal.refs,
        value=value,
        derivation=proposal.derivation,
        criteria=requirement.rule.criteria,
        explanation=proposal.explanation,
        state=ClaimState.PROPOSED,
    )
