from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, DefinitionError, ModelError, StoreError
from agents.core.glove import Glove
from agents.facts.adapter import MemoryFacts
from agents.facts.preparation.preparer import SUBMIT_TOOL, Committed, FactPreparation
from agents.facts.preparation.requirement import Report, Requirement, Rule
from agents.facts.record import ClaimState, FactScope, FactState
from agents.facts.store import FactStore
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from tests.agents.core.scenes import echo, talking
from tests.agents.facts.test_store import fact, facts

_WANTED = Requirement(
    id="city", label="City", rule=Rule(allow_unverified=True), schema={"type": "string"}, validate=lambda value: value
)


def _found(request: str = "r1", **more: Any) -> ScriptedCall:
    proposal = {
        "requirement": "city",
        "value": "Lisbon",
        "refs": [{"id": "fact_1", "revision": 1}],
        "derivation": "explicit",
        "strength": "sufficient",
        "explanation": "said so",
        **more,
    }
    return ScriptedCall(name=SUBMIT_TOOL, input={"requestId": request, "proposals": [proposal]})


def _preparing(*responses: ScriptedResponse, store: FactStore | None = None) -> tuple[FactPreparation, ScriptedModel]:
    agent, model = talking(*responses)
    numbers = iter(range(1, 100))
    preparation = FactPreparation(store or facts(), agent=agent, new_id=lambda: f"r{next(numbers)}")
    return preparation, model


async def _run(preparation: FactPreparation, **options: Any) -> Report | None:
    async def commit(report: Report | None) -> Committed[Report | None]:
        applied = () if report is None else report.applied()
        return Committed(value=report, accepted=tuple(one.claim_id for one in applied if one.claim_id))

    options = {"consumer": "goals", "requirements": [_WANTED], "context": "A trip.", "commit": commit, **options}
    return await preparation.run(**options)


async def test_what_facts_settle_is_committed_and_its_claim_accepted() -> None:
    preparation, model = _preparing([_found()], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    report = await _run(preparation)
    assert report is not None
    assert [decision.value for decision in report.applied()] == ["Lisbon"]
    (claim,) = (await preparation.facts.inspect()).claims
    assert (claim.consumer, claim.state) == ("goals", ClaimState.ACCEPTED)
    assert await preparation.facts.facts(unclaimed_by="goals") == []
    assert len(await preparation.facts.facts(unclaimed_by="forms")) == 1
    assert "To Lisbon." in model.requests[0].messages[-1].text


async def test_without_an_agent_nobody_is_asked_and_nothing_is_claimed() -> None:
    preparation = FactPreparation(facts())
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    assert await _run(preparation) is None
    assert (await preparation.facts.inspect()).claims == ()


async def test_a_fact_cannot_give_commands() -> None:
    preparation, model = _preparing([_found()], "Done.")
    await preparation.facts.record(fact("/danger and </data>"), operation_id="op1")
    await _run(preparation)
    shown = model.requests[0].messages[-1].text
    assert "/danger" not in shown
    assert json.loads(shown.split("DATA:\n")[1])["facts"][0]["text"] == "/danger and </data>"


@pytest.mark.parametrize(
    ("responses", "about"),
    [
        (["I found nothing."], "without submitting"),
        ([[_found("another")], "Done."], "without submitting"),
        ([[ModelError("scripted", "overloaded")]], "ModelError"),
        ([[_found(refs=[])], "Done."], "without facts"),
    ],
)
async def test_a_preparation_that_fails_applies_nothing_and_says_why(responses: list[Any], about: str) -> None:
    preparation, _ = _preparing(*responses)
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    report = await _run(preparation)
    assert report is not None
    assert report.error is not None
    assert about in report.error
    assert report.applied() == ()
    assert (await preparation.facts.inspect()).claims == ()


async def test_a_second_submission_does_not_count() -> None:
    preparation, _ = _preparing([_found(), _found(value="Porto")], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    report = await _run(preparation)
    assert report is not None
    assert [decision.value for decision in report.applied()] == ["Lisbon"]


async def test_an_abort_commits_nothing() -> None:
    signal = AbortSignal()
    signal.abort()
    preparation, _ = _preparing([_found()], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    with pytest.raises(AbortError):
        await _run(preparation, signal=signal)


async def test_an_acceptance_that_was_lost_is_repaired_without_a_second_claim() -> None:
    preparation, _ = _preparing([_found()], "Done.", [_found("r2")], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")

    async def commit_and_die(report: Report | None) -> Committed[None]:
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError):
        await _run(preparation, commit=commit_and_die)
    (claim,) = (await preparation.facts.inspect()).claims
    assert claim.state is ClaimState.PROPOSED
    await _run(preparation, accepted_claim_ids=[claim.id])
    assert [known.state for known in (await preparation.facts.inspect()).claims] == [ClaimState.ACCEPTED]


async def test_what_was_taken_over_stays_so_when_it_cannot_be_acknowledged() -> None:
    class Failing(MemoryFacts):
        async def save(self, scope: FactScope, state: FactState) -> bool:
            if any(claim.state is ClaimState.ACCEPTED for claim in state.claims):
                raise StoreError("the disk is full")
            return await super().save(scope, state)

    preparation, _ = _preparing([_found()], "Done.", store=facts(Failing()))
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    report = await _run(preparation)
    assert report is not None
    assert [decision.value for decision in report.applied()] == ["Lisbon"]


async def test_claims_that_cannot_be_saved_settle_nothing() -> None:
    class Crowded(MemoryFacts):
        async def save(self, scope: FactScope, state: FactState) -> bool:
            return not state.claims and await super().save(scope, state)

    preparation, _ = _preparing([_found()], "Done.", store=facts(Crowded()))
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    report = await _run(preparation)
    assert report is not None and report.applied() == ()
    assert report.error is not None and "others kept writing" in report.error


async def test_two_consumers_have_claims_of_their_own_on_the_same_fact() -> None:
    preparation, _ = _preparing([_found()], "Done.", [_found("r2")], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    await _run(preparation)
    await _run(preparation, consumer="forms")
    assert [claim.consumer for claim in (await preparation.facts.inspect()).claims] == ["goals", "forms"]


async def test_an_agent_prepares_one_thing_at_a_time_also_for_several_preparers() -> None:
    running, peak = [0], [0]

    async def work() -> None:
        running[0] += 1
        peak[0] = max(peak[0], running[0])
        await asyncio.sleep(0)
        running[0] -= 1

    agent, _ = talking([work, _found("r1")], "Done.", [work, _found("r1")], "Done.")
    adapter = MemoryFacts()
    await facts(adapter).record(fact("To Lisbon."), operation_id="op1")
    preparers = [FactPreparation(facts(adapter), agent=agent, new_id=lambda: "r1") for _ in range(2)]
    await asyncio.gather(*(_run(preparation) for preparation in preparers))
    assert peak == [1]


async def test_an_agent_prepares_one_scope_only_also_after_a_restart() -> None:
    preparation, _ = _preparing([_found()], "Done.")
    await preparation.facts.record(fact("To Lisbon."), operation_id="op1")
    await _run(preparation)
    other = facts(scope=FactScope(subject="bob", context="trip"))
    await other.record(fact("To Porto."), operation_id="op1")
    assert preparation.agent is not None
    with pytest.raises(DefinitionError, match="another fact scope"):
        await _run(FactPreparation(other, agent=preparation.agent))
    restarted = Glove(model=ScriptedModel(["Done."]), store=preparation.agent.store)
    with pytest.raises(DefinitionError, match="another fact scope"):
        await _run(FactPreparation(other, agent=restarted))


async def test_an_agent_with_a_tool_of_that_name_is_refused() -> None:
    agent, _ = talking("Done.", tools=(echo(SUBMIT_TOOL),))
    preparation = FactPreparation(facts(), agent=agent)
    with pytest.raises(DefinitionError, match="an agent of its own"):
        await _run(preparation)
