from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.facts.preparation.judgement import judge
from agents.facts.preparation.render import HEADING, render_preparation
from agents.facts.preparation.requirement import Current, DecisionStatus, Proposal, Report, Requirement, Rule
from agents.facts.record import Evidence, Fact, FactRef, FactScope, FactSource, FactState, Verification

_SCOPE = FactScope(subject="ann", context="trip")


def _fact(number: int, **more: Any) -> Fact:
    more.setdefault("verification", Verification.VERIFIED)
    return Fact(
        **{
            "id": f"f{number}",
            "revision": 1,
            "scope": _SCOPE,
            "observed_at": datetime(2026, 11, 2, tzinfo=UTC),
            "text": f"Fact {number}.",
            "source": FactSource(kind="message", id="m1"),
            **more,
        }
    )


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("a text is wanted")
    return value


def _want(name: str = "city", **more: Any) -> Requirement:
    rule = more.pop("rule", Rule(criteria="where to"))
    return Requirement(id=name, label=name, rule=rule, schema={"type": "string"}, validate=_text, **more)


def _says(name: str = "city", *facts: int, value: Any = "Lisbon", **more: Any) -> Proposal:
    refs = tuple(FactRef(id=f"f{number}", revision=1) for number in facts)
    more.setdefault("strength", "sufficient")
    return Proposal(requirement=name, value=value, refs=refs, explanation=more.pop("explanation", "it says so"), **more)


def _state(*facts: Fact, **more: Any) -> FactState:
    return FactState(version=1, facts=facts, **more)


def _judged(requirement: Requirement, proposal: Proposal | None, state: FactState) -> Report:
    return judge("goals", [requirement], [] if proposal is None else [proposal], state)


_ACTION = Rule(kind="action", evidence_key="book")
_APPROVAL = Rule(kind="approval", evidence_key="book", authorized_actors=("ann",))


def _proof(kind: str, **more: Any) -> Evidence:
    return Evidence.model_validate({"kind": kind, "key": "book", "result": "success", **more})


@pytest.mark.parametrize(
    ("rule", "fact", "status"),
    [
        (Rule(), _fact(1), "sufficient"),
        (Rule(), _fact(1, verification="unverified"), "confirmation"),
        (Rule(allow_unverified=True), _fact(1, verification="unverified"), "sufficient"),
        (Rule(allow_unverified=True), _fact(1, verification="ambiguous"), "confirmation"),
        (Rule(allow_unverified=True), _fact(1, verification="conflicted"), "conflict"),
        (_ACTION, _fact(1), "missing"),
        (_ACTION, _fact(1, evidence=_proof("action")), "sufficient"),
        (_ACTION, _fact(1, evidence=_proof("action"), verification="unverified"), "missing"),
        (_ACTION, _fact(1, evidence=_proof("action", result="intention")), "missing"),
        (_ACTION, _fact(1, evidence=_proof("action", result="failure")), "missing"),
        (_ACTION, _fact(1, evidence=_proof("action", key="cancel")), "missing"),
        (_ACTION, _fact(1, evidence=_proof("outcome")), "missing"),
        (Rule(kind="action"), _fact(1, evidence=_proof("action")), "missing"),
        (_APPROVAL, _fact(1, evidence=_proof("approval", actor="ann")), "sufficient"),
        (_APPROVAL, _fact(1, evidence=_proof("approval", actor="bob")), "missing"),
        (_APPROVAL, _fact(1, evidence=_proof("approval")), "missing"),
    ],
)
def test_a_proposal_is_as_strong_as_its_evidence(rule: Rule, fact: Fact, status: str) -> None:
    (decision,) = _judged(_want(rule=rule), _says("city", 1), _state(fact)).decisions
    assert decision.status == status
    assert decision.applies == (status == "sufficient")


@pytest.mark.parametrize("strength", ["confirmation", "missing", "conflict"])
def test_no_evidence_makes_a_proposal_stronger_than_the_agent_says(strength: str) -> None:
    (decision,) = _judged(_want(), _says("city", 1, strength=strength), _state(_fact(1))).decisions
    assert (decision.status, decision.applies) == (strength, False)


def test_one_doubtful_fact_makes_a_synthesis_doubtful_and_all_its_facts_are_named() -> None:
    proposal = _says("city", 1, 2, derivation="synthesized")
    report = _judged(_want(), proposal, _state(_fact(1), _fact(2, verification="unverified")))
    (decision,) = report.decisions
    assert (decision.status, len(decision.refs)) == ("confirmation", 2)


@pytest.mark.parametrize(
    ("proposals", "about"),
    [
        ([_says("nothing", 1)], "no requirement"),
        ([_says("city", 1), _says("city", 1)], "twice"),
        ([_says("city", 9)], "no current fact"),
        ([_says("city", 1, 1)], "a fact twice"),
        ([_says("city")], "without facts"),
        ([_says("city", 1, value=None)], "without a value"),
        ([_says("city", 1, value=7)], "does not fit"),
    ],
)
def test_a_batch_with_one_mistake_in_it_is_believed_in_nothing(proposals: list[Proposal], about: str) -> None:
    report = judge("goals", [_want(), _want("date")], [*proposals, _says("date", 1)], _state(_fact(1)))
    assert report.error is not None
    assert about in report.error
    assert {decision.status for decision in report.decisions} == {DecisionStatus.REVIEW}
    assert (report.claims, report.applied()) == ((), ())


def test_a_corrected_fact_is_no_current_one() -> None:
    state = _state(_fact(1), _fact(1, revision=2))
    assert _judged(_want(), _says("city", 1), state).error is not None


def test_what_may_not_be_settled_yet_is_only_claimed() -> None:
    report = _judged(_want(eligible=False), _says("city", 1), _state(_fact(1)))
    assert (report.decisions[0].status, report.applied(), len(report.claims)) == ("ineligible", (), 1)


def test_what_nobody_proposes_is_missing() -> None:
    assert _judged(_want(), None, _state(_fact(1))).decisions[0].status == "missing"


def test_what_is_settled_and_unchanged_is_no_news() -> None:
    current = Current(value="Lisbon")
    assert _judged(_want(current=current), _says("city", 1), _state(_fact(1))).decisions == ()
    assert _judged(_want(current=current), None, _state(_fact(1))).decisions == ()


def test_what_is_settled_is_to_be_reviewed_when_facts_say_otherwise_and_never_overwritten() -> None:
    (decision,) = _judged(_want(current=Current(value="Porto")), _says("city", 1), _state(_fact(1))).decisions
    assert (decision.status, decision.applies) == ("review", False)


@pytest.mark.parametrize(
    ("facts", "criteria", "why"),
    [((_fact(1), _fact(1, revision=2)), "where to", "corrected"), ((_fact(1),), "where exactly", "changed")],
)
def test_what_a_claim_settled_is_to_be_reviewed_when_its_ground_moves(
    facts: tuple[Fact, ...], criteria: str, why: str
) -> None:
    (claim,) = _judged(_want(), _says("city", 1), _state(_fact(1))).claims
    wanted = _want(current=Current(value="Lisbon", claim_id=claim.id), rule=Rule(criteria=criteria))
    (decision,) = _judged(wanted, None, _state(*facts, claims=(claim,))).decisions
    assert decision.status == "review"
    assert why in decision.explanation


def test_the_same_claim_in_other_words_is_the_same_claim() -> None:
    (first,) = _judged(_want(), _says("city", 1), _state(_fact(1))).claims
    (again,) = _judged(_want(), _says("city", 1, explanation="as she said"), _state(_fact(1), claims=(first,))).claims
    assert again == first
    (other,) = judge("forms", [_want()], [_says("city", 1)], _state(_fact(1))).claims
    assert other.id != first.id


def test_a_preparation_is_shown_with_its_sources_and_urgent_facts() -> None:
    state = _state(_fact(1), _fact(2, urgent=True, text="There is a fire."))
    report = judge("goals", [_want(), _want("date")], [_says("city", 1)], state)
    assert render_preparation(report) == "\n".join(
        [
            HEADING,
            "URGENT f2@1: There is a fire. (verified; message:m1)",
            'city: sufficient — it says so; value="Lisbon"; derivation=explicit; sources=f1@1',
            "date: missing — no fact says it",
        ]
    )
    assert render_preparation(None) == render_preparation(Report()) == ""
