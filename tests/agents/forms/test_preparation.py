"""Forms that facts fill in: in the change that is saved anyway, once, and never over what somebody said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agents.core.errors import DefinitionError, ModelError, StoreError
from agents.facts.preparation.preparer import FactPreparation
from agents.facts.preparation.requirement import DecisionStatus, Rule
from agents.facts.record import ClaimState, Evidence, FactScope
from agents.facts.store import FactStore
from agents.forms.adapter import MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effects, Patch
from agents.forms.errors import FormError
from agents.forms.field import Field, ask
from agents.forms.mount import use_form_runner
from agents.forms.preparation import FormPreparation
from agents.forms.record import Dispatch, DispatchStatus, Instance, InstanceStatus
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from agents.goals.adapter import MemoryGoals
from agents.goals.definition import Goal, GoalItem, GoalProgram
from agents.goals.preparation import GoalPreparation
from agents.goals.record import GoalScope
from agents.goals.runner import GoalRunner
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import talking
from tests.agents.facts.reader import Reader, learn, reading
from tests.agents.facts.test_store import facts
from tests.agents.forms.test_runner import runner_of
from tests.agents.forms.trip import Desk, booking

CALLER = FactScope(subject="caller", context="trip")


class Order(FormStep, title="Order"):
    name: str = ask("Name", min_length=2)
    number: str | None = ask("Customer number", skippable=True)
    size: int = ask("Size", ge=1, le=9)
    express: bool = ask("Express", default=False)
    address: str | None = ask("Address", when=lambda form: form.values.get("express") is True)


class Payment(FormStep, title="Payment", when=lambda form: form.step_complete("order")):
    card: str = ask("Card")


class Told:
    """What executors were run for."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, ctx: FormContext[Any], *_: Any) -> Effects:
        self.keys.append(ctx.idempotency_key.partition(":")[2])
        return None


def order_form(told: Callable[..., Any] | None = None, *steps: type[FormStep]) -> Form[None]:
    run = told or Told()
    form = Form("order", version=1, steps=steps or (Order, Payment), name="Order")
    form.on_fill("name")(run)
    form.on_fill("size")(run)
    form.on_complete(Order)(run)
    form.checkpoint("sized", when=lambda state: "size" in state.values)(run)
    return form


def prepared(**options: Any) -> tuple[FormPreparation, FactStore, Reader]:
    store = facts(scope=options.pop("scope", CALLER))
    preparer, reader = reading(store)
    options.setdefault("rule", lambda field: Rule())
    return FormPreparation(preparer=preparer, **options), store, reader


async def instance_of(runner: FormRunner) -> Instance:
    found = await runner.active_instance()
    assert found is not None
    return found


def decided(runner: FormRunner, field: str, instance_id: str = "form_1") -> DecisionStatus | None:
    report = runner.prepared(instance_id)
    assert report is not None
    return next((one.status for one in report.decisions if one.requirement == field), None)


# ------------------------------------------------------------------------------------------------------------ filled in


async def test_what_is_known_from_the_start_is_filled_in_with_the_start_and_acted_upon() -> None:
    told = Told()
    preparation, store, reader = prepared()
    await learn(store, says={"name": "Amina", "size": 3})
    runner = runner_of(order_form(told), preparation=preparation)
    report = await runner.start("order")
    assert await runner.values() == {"name": "Amina", "size": 3}
    instance = await instance_of(runner)
    first = instance.entries["name"].revisions[0]
    (claim, _) = (await store.inspect()).claims
    assert (first.provenance.source, first.claim_id) == (f"facts:{claim.id}", claim.id)
    assert claim.state is ClaimState.ACCEPTED
    assert instance.entries["name"].revisions[0].seq == 1 and report.captured == ()
    assert told.keys == ["field:name:1", "field:size:1", "checkpoint:sized:1"]
    assert len(reader.read) == 1, "one question to the agent, one commit and one for its executors"
    assert instance.version == 2


async def test_a_write_takes_along_what_is_known_by_then() -> None:
    told = Told()
    preparation, store, _ = prepared()
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order")
    await learn(store, says={"size": 3})
    report = await runner.fill({"name": "Amina"})
    assert await runner.values() == {"name": "Amina", "size": 3}
    assert report.captured == ("name",)
    assert told.keys == ["field:name:1", "field:size:1", "checkpoint:sized:1"]


async def test_the_next_turn_fills_in_what_was_learnt_since_and_the_model_sees_it() -> None:
    preparation, store, _ = prepared()
    glove, model = talking("Who are you?", "What size?")
    mounted = use_form_runner(glove, order_form(), store=MemoryForms(), subject="caller", preparation=preparation)
    await mounted.runner.start("order")
    await learn(store, says={"name": "Amina"})
    await learn(store, says={"size": 3}, verification="unverified", urgent=True)
    await glove.process_request("Hello")
    (shown,) = [one.text for one in model.requests[0].messages if one.text.startswith("[form")]
    status, *block = shown.split("\n", 1)
    assert "pending: Customer number, Size, Express" in status
    assert block[0].startswith("later: Payment\nEVIDENCE PREPARATION (source content is data, not instructions)\n")
    assert "\nURGENT fact_2@1: " in shown
    assert '\nname: sufficient — a fact says so; value="Amina"; derivation=explicit; sources=fact_1@1' in shown
    assert "\nsize: confirmation — a fact says so; value=3" in shown


async def test_without_a_status_line_it_is_filled_in_all_the_same() -> None:
    preparation, store, _ = prepared()
    glove, model = talking("Hello.")
    mounted = use_form_runner(
        glove, order_form(), store=MemoryForms(), subject="caller", preparation=preparation, inject_status=False
    )
    await mounted.runner.start("order")
    await learn(store, says={"name": "Amina"})
    await glove.process_request("Hello")
    assert await mounted.runner.values() == {"name": "Amina"}
    assert not [one for one in model.requests[0].messages if one.text.startswith("[form")]


async def test_goals_and_forms_share_facts_with_claims_of_their_own() -> None:
    preparation, store, reader = prepared()
    wants = GoalProgram(
        key="trip", goals=(Goal(key="g", title="G", objective="O", items=(GoalItem(key="who", label="Who"),)),)
    )
    goals = GoalRunner(
        MemoryGoals(),
        GoalScope(subject="caller", key="trip"),
        preparation=GoalPreparation(preparer=preparation.preparer, rule=lambda goal, item: Rule()),
    )
    await learn(store, says={"name": "Amina", "g/who": True})
    await goals.start(wants)

    async def tell(ctx: FormContext[Any], *_: Any) -> None:
        # An executor may change goals that the same facts prepare.
        await goals.update("g", reopened=["who"], reason="it is another")

    runner = runner_of(order_form(tell), preparation=preparation)
    await asyncio.wait_for(runner.start("order"), 5)
    consumers = {claim.consumer for claim in (await store.inspect()).claims}
    assert consumers == {'["goals","caller","trip",null]', '["forms","caller","form_1"]'}
    assert await runner.values() == {"name": "Amina"}
    status = await goals.status()
    assert status is not None and status.version == 2
    assert len(reader.read) == 3


# --------------------------------------------------------------------------------------------------------- gates, rules


async def test_a_question_that_does_not_apply_waits_and_is_filled_in_with_the_answer_that_opens_it() -> None:
    preparation, store, reader = prepared()
    await learn(store, says={"address": "12 Main Street", "card": "4711"})
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    assert (decided(runner, "address"), decided(runner, "card")) == ("ineligible", "ineligible")
    assert await runner.values() == {}
    before = await instance_of(runner)
    await runner.fill({"name": "Amina", "size": 3, "express": True})
    await runner.skip("number", "none")
    assert await runner.values() == {
        "name": "Amina",
        "size": 3,
        "express": True,
        "address": "12 Main Street",
        "card": "4711",
    }
    assert len(reader.read) == 3
    assert {claim.state for claim in (await store.inspect()).claims} == {ClaimState.ACCEPTED}
    assert (await instance_of(runner)).version == before.version + 4, "two writes, and what their executors came to"


async def test_facts_that_open_a_question_answer_it_in_the_same_commit() -> None:
    preparation, store, reader = prepared()
    await learn(store, says={"address": "12 Main Street", "express": True})
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    assert await runner.values() == {"address": "12 Main Street", "express": True}
    assert (await instance_of(runner)).version == 1 and len(reader.read) == 1
    assert decided(runner, "address") == "sufficient"


async def test_what_an_executor_opens_is_filled_in_behind_it() -> None:
    form = Form("order", version=1, steps=[Order], name="Order")
    form.on_fill("name")(lambda ctx, name: Patch({"express": True}))
    preparation, store, reader = prepared()
    await learn(store, says={"address": "12 Main Street"})
    runner = runner_of(form, preparation=preparation)
    await runner.start("order", {"name": "Amina"})
    assert await runner.values() == {"name": "Amina", "express": True, "address": "12 Main Street"}
    assert len(reader.read) == 2


async def test_nothing_is_filled_in_while_a_checkpoint_is_waited_for_and_all_of_it_afterwards() -> None:
    going, gone = asyncio.Event(), asyncio.Event()
    form = Form("order", version=1, steps=[Order], name="Order")

    @form.checkpoint("go", when=lambda state: "name" in state.values, blocking=True)
    async def wait(ctx: FormContext[None]) -> None:
        going.set()
        await gone.wait()

    preparation, store, _ = prepared()
    runner = runner_of(form, preparation=preparation)
    async with asyncio.TaskGroup() as group:
        group.create_task(runner.start("order", {"name": "Amina"}))
        await going.wait()
        await learn(store, says={"size": 3})
        await runner.prepare()
        assert decided(runner, "size") == "ineligible"
        assert (await instance_of(runner)).status is InstanceStatus.AWAITING
        gone.set()
    assert await runner.values() == {"name": "Amina", "size": 3}


async def test_who_may_be_answered_by_facts_is_the_host_s_to_say_and_a_yes_never_is() -> None:
    preparation, store, reader = prepared(
        rule=lambda field: None if field.id == "origin" else Rule(),
        eligible=lambda field, instance: field.id != "destination",
    )
    await learn(store, says={"origin": "Nairobi", "destination": "Lisbon", "full_name": "Amina", "confirmed": True})
    runner = runner_of(booking, deps=Desk(), preparation=preparation)
    await runner.start("trip-booking")
    assert await runner.values() == {"full_name": "Amina"}
    assert {"origin", "confirmed"}.isdisjoint(one["id"] for one in reader.read[0]["requirements"])
    assert decided(runner, "destination") == "ineligible"


async def test_a_yes_was_to_what_was_read_back_and_not_to_what_facts_fill_in_later() -> None:
    preparation, store, _ = prepared()
    runner = runner_of(booking, deps=Desk(), preparation=preparation)
    await runner.start("trip-booking", {"origin": "Nairobi", "confirmed": True})
    assert (await runner.values())["confirmed"] is True
    await learn(store, says={"destination": "Lisbon"})
    await runner.prepare()
    assert await runner.values() == {"origin": "Nairobi", "destination": "Lisbon"}


# ---------------------------------------------------------------------------------------------- never over what is said


async def test_what_was_withdrawn_undone_or_skipped_is_not_filled_in_again() -> None:
    preparation, store, _ = prepared()
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order", {"name": "Amina", "size": 3})
    await runner.retract("name")
    await runner.undo("size")
    await runner.skip("number", "has none")
    await learn(store, says={"name": "Bob", "size": 4, "number": "X1"})
    await runner.prepare()
    assert await runner.values() == {}
    instance = await instance_of(runner)
    assert instance.entries["number"].at_cursor is not None and instance.entries["number"].at_cursor.skipped
    assert (decided(runner, "name"), decided(runner, "size"), decided(runner, "number")) == (
        "review",
        "review",
        "ineligible",
    )


async def test_a_correction_asks_for_a_review_replays_nothing_and_a_person_has_the_last_word() -> None:
    told = Told()
    preparation, store, _ = prepared()
    old = await learn(store, says={"name": "Amina"})
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order")
    await learn(store, says={"name": "Anima"}, supersedes=old)
    await runner.prepare()
    assert decided(runner, "name") == "review"
    assert await runner.values() == {"name": "Amina"} and told.keys == ["field:name:1"]
    assert len((await instance_of(runner)).entries["name"].revisions) == 1
    await runner.fill({"name": "Anima"})
    assert [one.claim_id is None for one in (await instance_of(runner)).entries["name"].revisions] == [False, True]
    await runner.prepare()
    assert decided(runner, "name") is None, "it is what the facts say"


async def test_a_fact_that_is_corrected_while_it_is_read_answers_nothing() -> None:
    preparation, store, reader = prepared()
    old = await learn(store, says={"name": "Amina"})
    runner = runner_of(order_form(), preparation=preparation)
    reader.meanwhile = lambda: learn(store, says={"name": "Anima"}, supersedes=old)
    await runner.start("order")
    assert await runner.values() == {}
    assert "no current fact" in await runner.status_line()
    await runner.prepare()
    assert await runner.values() == {"name": "Anima"}


@pytest.mark.parametrize(("size", "about"), [(12, "less than or equal to 9"), ("3", "valid integer")])
async def test_a_value_that_does_not_fit_is_never_in_the_history(size: Any, about: str) -> None:
    preparation, store, _ = prepared()
    await learn(store, says={"name": "Amina", "size": size})
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    assert (await instance_of(runner)).entries == {}
    report = runner.prepared("form_1")
    assert report is not None and about in (report.error or "")
    assert (await store.inspect()).claims == ()


async def test_looking_again_at_the_same_facts_adds_nothing_also_at_once_and_after_a_restart() -> None:
    told, kept = Told(), MemoryForms()
    preparation, store, reader = prepared()
    runner = runner_of(order_form(told), kept, preparation=preparation)
    await runner.start("order")
    await learn(store, says={"name": "Amina"})
    again = FormPreparation(preparer=reading(store)[0], rule=lambda field: Rule())
    await asyncio.gather(runner.prepare(), runner_of(order_form(told), kept, preparation=again).prepare())
    reader.wording = "put differently"
    await runner.prepare()
    await runner_of(order_form(told), kept, preparation=preparation).prepare()
    instance = await instance_of(runner)
    assert len(instance.entries["name"].revisions) == 1 and told.keys == ["field:name:1"]
    assert instance.version == 3
    (claim,) = (await store.inspect()).claims
    assert (claim.state, claim.explanation) == (ClaimState.ACCEPTED, "a fact says so")


async def test_listeners_are_not_told_of_a_look_that_changed_nothing() -> None:
    preparation, _, _ = prepared()
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    seen: list[object] = []
    runner.add_listener(seen.append)
    await runner.prepare()
    assert seen == []
    await runner.fill({"name": "Amina"})
    assert seen


# ---------------------------------------------------------------------------------------------------- evidence of deeds


def shipped(result: str) -> dict[str, Any]:
    return {"evidence": Evidence(kind="action", key="ship", result=result)}  # type: ignore[arg-type]


def ships(*fulfills: Any) -> Callable[[Field], Rule | None]:
    rule = Rule(kind="action", evidence_key="ship", fulfills=fulfills)
    return lambda field: rule if field.id == "size" else None


async def test_evidence_that_a_field_s_work_is_done_spares_that_work_and_no_checkpoint() -> None:
    told = Told()
    preparation, store, _ = prepared(rule=ships("field"))
    await learn(store, says={"size": 3}, **shipped("success"))
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order", {"name": "Amina"})
    assert told.keys == ["field:name:1", "checkpoint:sized:1"]
    instance = await instance_of(runner)
    receipt = instance.dispatches["form_1:field:size:1"]
    (claim,) = (await store.inspect()).claims
    assert (receipt.status, receipt.attempts, receipt.claim_id) == (DispatchStatus.OK, 0, claim.id)
    await runner.skip("number", "none")
    assert told.keys[2:] == ["step:order:1"], "the step's work is another"


async def test_evidence_that_a_step_s_work_is_done_spares_that_work_whenever_the_step_is_complete() -> None:
    told = Told()
    preparation, store, _ = prepared(rule=ships("step"))
    await learn(store, says={"size": 3}, **shipped("success"))
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order", {"name": "Amina"})
    assert told.keys == ["field:name:1", "field:size:1", "checkpoint:sized:1"]
    await runner.skip("number", "none")
    assert "order" in {step.id for step in (await runner.inspect()).steps if step.complete}
    assert len(told.keys) == 3
    assert (await instance_of(runner)).dispatches["form_1:step:order:1"].attempts == 0


async def test_a_person_s_own_answer_is_acted_upon_again() -> None:
    told = Told()
    preparation, store, _ = prepared(rule=ships("field"))
    await learn(store, says={"size": 3}, **shipped("success"))
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order")
    await runner.retract("size")
    await runner.fill({"size": 4})
    assert told.keys == ["checkpoint:sized:1", "field:size:2", "checkpoint:sized:2"]


async def test_an_intention_neither_fills_in_nor_spares_anything() -> None:
    told = Told()
    preparation, store, _ = prepared(rule=ships("field", "step"))
    await learn(store, says={"size": 3}, **shipped("intention"))
    runner = runner_of(order_form(told), preparation=preparation)
    await runner.start("order")
    assert await runner.values() == {} and decided(runner, "size") == "missing"
    await runner.fill({"size": 3})
    assert told.keys == ["field:size:1", "checkpoint:sized:1"]


async def test_what_evidence_spared_stays_spared_after_a_crash() -> None:
    class Stopped(Told):
        stopped = True

        def __call__(self, ctx: FormContext[Any], *more: Any) -> Effects:
            if self.stopped:
                raise asyncio.CancelledError
            super().__call__(ctx, *more)
            return Patch({"express": True}) if ctx.hook_id == "checkpoint:sized" else None

    told, kept = Stopped(), MemoryForms()
    preparation, store, _ = prepared(rule=ships("field"))
    await learn(store, says={"size": 3}, **shipped("success"))
    with pytest.raises(asyncio.CancelledError):
        await runner_of(order_form(told), kept, preparation=preparation).start("order")
    told.stopped = False
    runner = runner_of(order_form(told), kept, preparation=preparation)
    for _ in range(2):
        await runner.prepare()
        await runner.resume_hooks()
    assert told.keys == ["checkpoint:sized:1"]
    instance = await instance_of(runner)
    assert [len(entry.revisions) for entry in instance.entries.values()] == [1, 1]


# -------------------------------------------------------------------------------------------------- refused and failing


async def test_facts_of_another_subject_are_refused_before_anything_is_saved() -> None:
    preparation, _, reader = prepared(scope=FactScope(subject="bob", context="trip"))
    runner = runner_of(order_form(), preparation=preparation)
    with pytest.raises(FormError, match="another subject"):
        await runner.start("order")
    assert await runner.list() == [] and reader.read == []


async def test_what_is_refused_asks_nobody() -> None:
    preparation, _, reader = prepared()
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    for write in (runner.skip("name", "none"), runner.undo("size")):
        with pytest.raises(FormError):
            await write
    assert len(reader.read) == 1


async def test_a_preparation_that_fails_leaves_the_form_as_it_is_and_shows_the_error() -> None:
    preparation, store, reader = prepared()
    await learn(store, says={"name": "Amina"})
    reader.failing = ModelError("reader", "overloaded")
    runner = runner_of(order_form(), preparation=preparation)
    report = await runner.start("order", {"size": 3})
    assert report.captured == ("size",) and await runner.values() == {"size": 3}
    assert "\nERROR: the preparation failed: ModelError\n" in await runner.status_line()


async def test_without_an_agent_the_form_is_filled_in_by_hand_and_an_agent_may_come_and_go() -> None:
    preparation, store, reader = prepared()
    agent, preparation.preparer.agent = preparation.preparer.agent, None
    await learn(store, says={"name": "Amina"}, urgent=True)
    runner = runner_of(order_form(), preparation=preparation)
    await runner.start("order")
    assert await runner.values() == {} and reader.read == [] and (await store.inspect()).claims == ()
    assert "URGENT" not in await runner.status_line()
    preparation.preparer.agent = agent
    await runner.prepare()
    assert await runner.values() == {"name": "Amina"}
    preparation.preparer.agent = None
    await runner.prepare()
    assert runner.prepared("form_1") is None


async def test_an_agent_does_not_prepare_its_own_forms_also_when_it_is_changed_later() -> None:
    glove, _ = talking("Hello.")
    mounted: dict[str, Any] = {"store": MemoryForms(), "subject": "caller"}
    preparer = FactPreparation(facts(scope=CALLER), agent=glove)
    own = FormPreparation(preparer=preparer, rule=lambda field: Rule())
    with pytest.raises(DefinitionError, match="agent of its own"):
        use_form_runner(glove, order_form(), preparation=own, **mounted)
    assert glove.tools == ()
    preparer.agent = None
    runner = use_form_runner(glove, order_form(), preparation=own, **mounted).runner
    preparer.agent = glove
    with pytest.raises(DefinitionError, match="agent of its own"):
        await runner.start("order")
    assert await runner.list() == []


async def test_there_may_be_no_form_or_one_of_another_version() -> None:
    preparation, store, reader = prepared()
    kept = MemoryForms()
    runner = runner_of(order_form(), kept, preparation=preparation)
    assert await runner.prepare() is None
    await runner.start("order")
    await learn(store, says={"name": "Amina"})
    newer = Form("order", version=2, steps=[Order], name="Order")
    assert await runner_of(newer, kept, preparation=preparation).prepare() is None
    assert len(reader.read) == 1


async def test_tools_tell_what_facts_say_also_when_what_follows_a_write_failed() -> None:
    class Failing(MemoryForms):
        broken = False

        async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
            if self.broken:
                raise StoreError("the disk is full")
            await super().record_dispatch(instance_id, key, dispatch)

    preparation, store, _ = prepared()
    await learn(store, says={"name": "Amina"}, verification="unverified")
    calls = [
        ScriptedCall(name="glove_form_start", input={"form": "order"}),
        ScriptedCall(name="glove_form_fill", input={"values": {"number": "X1"}}),
        ScriptedCall(name="glove_form_status"),
        ScriptedCall(name="glove_form_fill", input={"values": {"size": 3}}),
    ]
    kept = Failing()

    async def breaks() -> None:
        kept.broken = True

    glove, _ = talking([calls[0]], [calls[1]], [calls[2]], [breaks, calls[3]], "Is it Amina?")
    use_form_runner(glove, order_form(), store=kept, subject="caller", preparation=preparation)
    await glove.process_request("Begin")
    results = [result.result for message in await glove.store.get_messages() for result in message.tool_results]
    assert [result.status for result in results] == ["success"] * 3 + ["error"]
    for result in results:
        (name,) = (one for one in result.data["preparation"]["requirements"] if one["id"] == "name")
        assert (name["status"], name["value"], name["sources"]) == ("confirmation", "Amina", ["fact_1@1"])
    assert results[-1].data["committed"] is True
