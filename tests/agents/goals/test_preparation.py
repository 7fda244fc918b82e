"""Goals that facts settle: in the same change, once, and never over what somebody said."""

from __future__ import annotations

from typing import Any

import pytest

from agents.core.errors import DefinitionError
from agents.facts.preparation.preparer import SUBMIT_TOOL, FactPreparation
from agents.facts.preparation.requirement import Rule
from agents.facts.record import Evidence, FactInput, FactScope, FactSource
from agents.facts.store import FactStore
from agents.goals.adapter import MemoryGoals
from agents.goals.definition import Goal, GoalItem
from agents.goals.errors import GoalError
from agents.goals.hooks import GoalHooks
from agents.goals.mount import use_goal_runner
from agents.goals.preparation import GoalPreparation
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from tests.agents.core.scenes import talking
from tests.agents.facts.test_store import facts
from tests.agents.goals.trip import SCOPE, TRIP, all_edges, runner

_SUBJECT = FactScope(subject=SCOPE.subject, context="trip")


def _proposal(requirement: str, fact: int = 1, revision: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "requirement": requirement,
        "value": True,
        "refs": [{"id": f"fact_{fact}", "revision": revision}],
        "strength": "sufficient",
        "explanation": "The facts say so",
        **more,
    }


def _finds(number: int, *proposals: dict[str, Any]) -> list[ScriptedResponse]:
    submission = ScriptedCall(name=SUBMIT_TOOL, input={"requestId": f"r{number}", "proposals": list(proposals)})
    return [[submission], "Done."]


def _rule(goal: Goal, item: GoalItem) -> Rule | None:
    return None if goal.key == "aftercare" else Rule(criteria=item.label, allow_unverified=True)


def _preparation(
    *responses: ScriptedResponse, store: FactStore | None = None, **options: Any
) -> tuple[GoalPreparation, ScriptedModel]:
    agent, model = talking(*responses)
    numbers = iter(range(1, 100))
    preparer = FactPreparation(store or facts(scope=_SUBJECT), agent=agent, new_id=lambda: f"r{next(numbers)}")
    return GoalPreparation(preparer=preparer, rule=options.pop("rule", _rule), **options), model


async def _learn(preparation: GoalPreparation, text: str, **more: Any) -> None:
    known = FactInput(text=text, source=FactSource(kind="message", id="m1"), **more)
    await preparation.preparer.facts.record(known, operation_id=text)


async def test_a_goal_that_facts_settle_from_the_start_is_completed_and_never_entered() -> None:
    entered: list[str] = []
    preparation, model = _preparation(*_finds(1, _proposal("plan/route"), _proposal("plan/date")))
    await _learn(preparation, "Nairobi to Lisbon on the second.")
    goals = runner(preparation=preparation, hooks=GoalHooks(on_enter=lambda ctx: entered.append(ctx.goal.key)))
    status = await goals.start(TRIP)
    assert (status.version, status.active_goal) == (1, "book")
    assert await all_edges(goals) == [["plan complete", "book enter"]]
    assert entered == ["book"]
    assert len(model.requests) == 2


async def test_a_goal_that_would_come_next_is_passed_over_when_facts_settle_it_already() -> None:
    preparation, _ = _preparation(*_finds(1), *_finds(2, _proposal("book/confirmed"), _proposal("book/booked")))
    goals = runner(preparation=preparation)
    await _learn(preparation, "It is booked.")
    await goals.start(TRIP)
    status = await goals.update("plan", completed=["route", "date"], reason="said")
    assert (status.version, status.active_goal) == (2, "aftercare")
    assert await all_edges(goals) == [["plan enter"], ["plan complete", "book complete", "aftercare enter"]]


async def test_preparing_again_on_the_same_facts_adds_no_history_no_claim_and_no_hook() -> None:
    preparation, _ = _preparation(
        *_finds(1), *_finds(2, _proposal("plan/route")), *_finds(3, _proposal("plan/route")), *_finds(4)
    )
    goals = runner(preparation=preparation)
    await goals.start(TRIP)
    await _learn(preparation, "Nairobi to Lisbon.")
    for _ in range(3):
        await goals.prepare()
    assert len(await goals.history()) == 2
    assert len((await preparation.preparer.facts.inspect()).claims) == 1


async def test_a_correction_asks_for_a_review_and_reopens_nothing() -> None:
    preparation, _ = _preparation(*_finds(1), *_finds(2, _proposal("plan/route")), *_finds(3))
    goals = runner(preparation=preparation)
    await goals.start(TRIP)
    await _learn(preparation, "Nairobi to Lisbon.")
    await goals.prepare()
    (old,) = await preparation.preparer.facts.facts()
    await preparation.preparer.facts.record(
        FactInput(text="To Porto.", source=old.source), operation_id="op2", supersedes=old.ref
    )
    status = await goals.prepare()
    assert status is not None
    assert status.goals[0].items[0].disposition.value == "done"
    assert goals.prepared is not None
    first = goals.prepared.decisions[0]
    assert (first.requirement, first.status.value) == ("plan/route", "review")
    assert len(await goals.history()) == 2


async def test_what_somebody_declined_is_not_settled_by_facts() -> None:
    preparation, _ = _preparation(*_finds(1), *_finds(2), *_finds(3, _proposal("plan/route")))
    goals = runner(preparation=preparation)
    await goals.start(TRIP)
    await _learn(preparation, "Nairobi to Lisbon.")
    await goals.update("plan", declined=["route"], reason="changed her mind")
    status = await goals.prepare()
    assert status is not None
    assert status.goals[0].items[0].disposition.value == "declined"


async def test_an_intention_settles_no_action() -> None:
    rule = Rule(kind="action", evidence_key="book")
    preparation, _ = _preparation(
        *_finds(1, _proposal("book/booked")),
        *_finds(2, _proposal("book/booked", fact=2)),
        rule=lambda goal, item: rule if item.key == "booked" else None,
    )
    goals = runner(preparation=preparation)
    wanted = Evidence(kind="action", key="book", result="intention")
    await _learn(preparation, "She wants to book.", verification="verified", evidence=wanted)
    assert (await goals.start(TRIP)).goals[1].items[1].disposition.value == "pending"
    done = Evidence(kind="action", key="book", result="success")
    await _learn(preparation, "It was booked.", verification="verified", evidence=done)
    status = await goals.prepare()
    assert status is not None
    assert status.goals[1].items[1].disposition.value == "done"


async def test_facts_of_another_subject_are_refused_before_anything_is_saved() -> None:
    preparation, _ = _preparation(store=facts(scope=FactScope(subject="bob", context="trip")))
    goals = runner(preparation=preparation)
    with pytest.raises(GoalError, match="another subject"):
        await goals.start(TRIP)
    assert await goals.status() is None


async def test_a_preparation_that_fails_leaves_the_goals_as_they_are_and_shows_the_error() -> None:
    preparation, _ = _preparation("Nothing to say.")
    goals = runner(preparation=preparation)
    assert (await goals.start(TRIP)).active_goal == "plan"
    assert goals.prepared is not None
    assert goals.prepared.error is not None


async def test_an_agent_is_shown_what_was_prepared_and_what_is_to_be_confirmed() -> None:
    preparation, _ = _preparation(*_finds(1), *_finds(2, _proposal("plan/route", strength="confirmation")))
    glove, model = talking("To Lisbon, is that right?")
    mounted = use_goal_runner(glove, MemoryGoals(), scope=SCOPE, preparation=preparation)
    await mounted.runner.start(TRIP)
    await _learn(preparation, "Nairobi to Lisbon.")
    await glove.process_request("Hello")
    (shown,) = [message.text for message in model.requests[0].messages if message.text.startswith("GOALS")]
    assert "EVIDENCE PREPARATION" in shown
    assert "plan/route: confirmation — The facts say so" in shown


async def test_tools_tell_what_facts_say_of_goals() -> None:
    preparation, _ = _preparation(*_finds(1), *_finds(2, _proposal("plan/route", strength="confirmation")))
    glove, _ = talking([ScriptedCall(name="glove_goal_status")], "To Lisbon, is that right?")
    mounted = use_goal_runner(glove, MemoryGoals(), scope=SCOPE, preparation=preparation)
    await mounted.runner.start(TRIP)
    await _learn(preparation, "Nairobi to Lisbon.")
    await glove.process_request("Hello")
    (result,) = [one.result for message in await glove.store.get_messages() for one in message.tool_results]
    assert result.data["program"] == "trip"
    assert result.data["preparation"]["requirements"][0]["status"] == "confirmation"


def test_an_agent_does_not_prepare_its_own_goals() -> None:
    glove, _ = talking()
    preparation = GoalPreparation(preparer=FactPreparation(facts(scope=_SUBJECT), agent=glove), rule=_rule)
    with pytest.raises(DefinitionError, match="agent of its own"):
        use_goal_runner(glove, MemoryGoals(), scope=SCOPE, preparation=preparation)


async def test_without_an_agent_goals_are_settled_by_hand() -> None:
    preparation = GoalPreparation(preparer=FactPreparation(facts(scope=_SUBJECT)), rule=_rule)
    goals = runner(preparation=preparation)
    await _learn(preparation, "Nairobi to Lisbon.")
    await goals.start(TRIP)
    assert (await goals.update("plan", completed=["route"], reason="said")).version == 2
