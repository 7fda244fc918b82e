from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from agents.core.errors import StoreError
from agents.forms.adapter import Commit, FormAdapter, MemoryForms
from agents.forms.bridge import MemoryBridge
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Effects, Fail, Patch, Terminate
from agents.forms.errors import (
    FormBlockedError,
    FormConflictError,
    FormDefinitionError,
    FormNotFoundError,
    FormPostCommitError,
    FormStaleError,
    FormValidationError,
    ProvenanceRequiredError,
)
from agents.forms.evaluation import FieldStatus
from agents.forms.field import ask
from agents.forms.record import Dispatch, DispatchStatus, Instance, InstanceStatus, Provenance
from agents.forms.registry import FormRegistry
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from agents.forms.view import FormView, Scope
from tests.agents.forms.scenes import NOW, TRIP
from tests.agents.forms.trip import Desk, Traveller, Trip, booking

COMPLETE = {**TRIP, "full_name": "Amina Odhiambo", "loyalty_number": "GL123456", "confirmed": True}


class Clock:
    """A second later each time it is looked at."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def runner_of(form: Form[Any], store: FormAdapter | None = None, *, deps: Any = None, **more: Any) -> FormRunner:
    ids = count(1)
    options: dict[str, Any] = {"subject": "caller", "now": Clock(), "new_id": lambda: f"form_{next(ids)}", **more}
    return FormRunner(FormRegistry(form), MemoryForms() if store is None else store, deps=deps, **options)


class Step(FormStep, title="One"):
    name: str = ask("Name")
    number: str | None = ask("Number", skippable=True)
    out: str | None = ask("Out", default=None)


def one(
    run: Callable[[FormContext[None]], Effects] | Callable[[FormContext[None]], Any], *, blocking: bool = False
) -> Form[None]:
    """A form that runs this once there is a name."""
    form = Form("f", version=1, steps=[Step], name="F")
    form.checkpoint("go", when=lambda state: "name" in state.values, blocking=blocking, wait_message="Wait.")(run)
    return form


def row(view: FormView, field_id: str) -> Any:
    return next(row for row in view.fields if row.id == field_id)


# ---------------------------------------------------------------------------------------------------------- the design


async def test_the_design_s_form_books_once_and_shows_the_reference() -> None:
    desk = Desk()
    runner = runner_of(booking, deps=desk)
    await runner.start("trip-booking", TRIP)
    assert desk.goals.done == ["route", "date"]
    await runner.fill({"full_name": "Amina Odhiambo"})
    await runner.skip("loyalty_number", "has none")
    report = await runner.fill({"confirmed": True})
    assert (report.captured, report.view.complete) == (("confirmed",), True)
    assert row(report.view, "reference").value == "GLV-1"
    ((key, (trip, traveller)),) = desk.bookings.made.items()
    assert key == "form_1:checkpoint:book:1"
    assert (trip.origin, trip.travellers) == ("Nairobi", 2)
    assert (traveller.full_name, traveller.loyalty_number) == ("Amina Odhiambo", None)


async def test_a_correction_asks_for_the_yes_again_and_reaches_the_checkpoint_under_another_key() -> None:
    desk = Desk()
    runner = runner_of(booking, deps=desk)
    await runner.start("trip-booking", COMPLETE)
    corrected = await runner.revise("travellers", 3, reason="a friend joins")
    assert corrected.view.status is InstanceStatus.ACTIVE
    assert row(corrected.view, "confirmed").ask
    assert runner.question is not None and runner.question.confirms
    await runner.fill({"confirmed": True})
    assert list(desk.bookings.made) == ["form_1:checkpoint:book:1", "form_1:checkpoint:book:2"]
    entry = await runner.history("travellers")
    assert entry.revisions[-1].provenance.note == "revision: a friend joins"
    undone = await runner.undo("travellers")
    assert not undone.view.complete, "the yes was to three"


async def test_an_executor_is_told_what_was_confirmed_the_same_for_the_same_answers() -> None:
    confirmed: list[tuple[str | None, str, int]] = []
    form = Form("trip-booking", version=1, steps=[Trip, Traveller], name="Trip")

    @form.checkpoint("book", when=lambda state: state.complete)
    def book(ctx: FormContext[None]) -> None:
        confirmed.append((ctx.confirmed_for, ctx.instance_id, ctx.occurrence))

    runner = runner_of(form)
    await runner.start("trip-booking", COMPLETE)
    for travellers in (3, 2):
        await runner.fill({"travellers": travellers, "confirmed": True})
        await runner.retract("confirmed")
        await runner.fill({"confirmed": True})
    fingerprints = [fingerprint for fingerprint, _, _ in confirmed]
    assert None not in fingerprints and len(set(fingerprints)) == 2
    assert [occurrence for _, _, occurrence in confirmed] == [1, 2, 3]


# -------------------------------------------------------------------------------------------------------------- writes


async def test_each_answer_is_judged_alone_and_told_apart() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking")
    report = await runner.fill(
        {"From": 1, "Flying from": "Nairobi", "travellers": "2", "reference": "early", "destinaton": "x", "loyalty": 3}
    )
    assert report.captured == ("origin",) and report.held == ("reference",)
    assert report.aliased == (("Flying from", "origin"),)
    assert [name for name, _ in report.unknown] == ["From", "destinaton", "loyalty"]
    (issue,) = report.issues
    assert (issue.field, issue.hint) == ("travellers", "Send it as unquoted JSON number: 2")
    assert row(report.view, "travellers").status is FieldStatus.INVALID


async def test_an_answer_that_cannot_be_stored_is_told() -> None:
    runner = runner_of(booking, deps=Desk())
    report = await runner.start("trip-booking", {"origin": "x" * 30_000, "destination": "Lisbon"})
    assert report.captured == ("destination",)
    assert [issue.field for issue in report.issues] == ["origin"]


async def test_the_step_written_to_is_shown_when_none_is_open_any_more() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking", COMPLETE)
    report = await runner.fill({"reference": "GLV-2"})
    assert report.view.step is not None and report.view.step.id == "traveller"


async def test_the_answers_are_saved_before_any_executor_runs() -> None:
    seen: list[Instance | None] = []

    async def look(ctx: FormContext[None]) -> None:
        seen.append(await store.get(ctx.instance_id))

    store = MemoryForms()
    await runner_of(one(look), store).start("f", {"name": "A"})
    (instance,) = seen
    assert instance is not None and instance.entries["name"].in_force is not None
    assert instance.pending and instance.dispatches["form_1:checkpoint:go:1"].status is DispatchStatus.RUNNING


async def test_executors_see_only_answers_that_hold() -> None:
    values: list[Mapping[str, Any]] = []
    runner = runner_of(one(lambda ctx: values.append(ctx.values)))
    await runner.start("f", {"name": "A", "number": 5})
    assert values == [{"name": "A"}]


async def test_a_checkpoint_finds_itself_not_fired_the_first_time_and_its_step_complete() -> None:
    seen: list[tuple[bool, bool]] = []
    runner = runner_of(one(lambda ctx: seen.append((ctx.state.checkpoint_fired("go"), ctx.state.step_complete(Step)))))
    await runner.start("f", {"name": "A", "number": "1"})
    await runner.fill({"name": 5})
    await runner.fill({"name": "B"})
    assert seen == [(False, True), (True, True)]


async def test_answers_of_a_step_are_given_typed_and_a_step_that_is_incomplete_is_refused() -> None:
    given: list[Any] = []

    def look(ctx: FormContext[None]) -> None:
        given.append(ctx.step(Step).number)

    runner = runner_of(one(look))
    report = await runner.start("f", {"name": "A"})
    assert given == [None] and not report.failures

    class Two(FormStep):
        age: int = ask("Age")
        note: str = ask("Note", default="none")

    form = Form("g", version=1, steps=[Step, Two], name="G")
    form.on_fill("name")(lambda ctx, name: given.append(ctx.step(Two)))
    form.on_complete(Two)(lambda ctx, two: given.append(two))
    runner = runner_of(form)
    report = await runner.start("g", {"name": "A"})
    assert [failure.message for failure in report.failures] == ["step 'two' is not complete: Age"]
    await runner.fill({"age": 4})
    assert (given[-1].age, given[-1].note) == (4, "none")


# ------------------------------------------------------------------------------------------------------------ executors


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Fail("No seats."), "No seats."),
        ([Patch({"out": "x"}), Fail("No seats.")], "No seats."),
        (ValueError("Down."), "Down."),
        (KeyError(), "KeyError"),
        ("nonsense", "an executor returned str"),
        (Patch({"out": object()}), "its patch of 'out' is no JSON"),
    ],
)
async def test_a_failure_is_told_the_answer_stays_and_nothing_else_the_executor_wants_is_done(
    outcome: Any, message: str
) -> None:
    def run(ctx: FormContext[None]) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    runner = runner_of(one(run, blocking=True))
    report = await runner.start("f", {"name": "A"})
    (failure,) = report.failures
    assert failure.hook_id == "checkpoint:go" and failure.message.startswith(message)
    assert row(report.view, "name").value == "A" and row(report.view, "out").value is None
    assert report.view.status is InstanceStatus.ACTIVE and report.view.blocked_on is None


async def test_a_failure_is_not_tried_again_and_is_told_with_later_writes_until_it_works() -> None:
    results: list[Effects] = [Fail("No seats."), None]
    runner = runner_of(one(lambda ctx: results.pop(0)))
    await runner.start("f", {"name": "A"})
    again = await runner.fill({"name": "A"})
    assert len(again.failures) == 1 and len(results) == 1
    await runner.resume_hooks()
    assert len(results) == 1
    await runner.retract("name")
    assert not (await runner.fill({"name": "B"})).failures


async def test_failures_of_this_write_are_told_before_older_ones() -> None:
    form = Form("f", version=1, steps=[Step], name="F")
    form.on_fill("name")(lambda ctx, name: Fail(f"name {name}"))
    form.on_skip("number")(lambda ctx, reason: Fail(f"skip {reason}"))
    runner = runner_of(form)
    await runner.start("f", {"name": "A"})
    report = await runner.skip("number", "none")
    assert [failure.message for failure in report.failures] == ["skip none"]
    assert [failure.message for failure in (await runner.fill({"out": "x"})).failures] == ["name A", "skip none"]


async def test_executors_of_one_write_all_run_whatever_the_first_one_does() -> None:
    ran: list[str] = []

    def note(effect: Effect) -> Callable[..., Effect]:
        def run(ctx: FormContext[None], *_: Any) -> Effect:
            ran.append(ctx.hook_id)
            return effect

        return run

    form = Form("f", version=1, steps=[Step], name="F")
    form.on_fill("name")(note(Fail("x")))
    form.checkpoint("go", when=lambda state: state.complete)(note(Terminate("No.")))
    form.on_complete()(note(Patch({"out": "x"})))
    report = await runner_of(form).start("f", {"name": "A", "number": "1"})
    assert ran == ["field:name", "checkpoint:go", "form"]
    assert report.view.status is InstanceStatus.ABANDONED and not report.view.complete
    assert report.view.closed_reason == "No."


async def test_what_a_skip_runs_gets_the_reason() -> None:
    reasons: list[str] = []
    form = Form("f", version=1, steps=[Step], name="F")
    form.on_skip("number")(lambda ctx, reason: reasons.append(reason))
    runner = runner_of(form)
    await runner.start("f")
    await runner.skip("Number", " has none ")
    assert reasons == ["has none"]


async def test_an_executor_may_write_to_the_form_itself() -> None:
    async def run(ctx: FormContext[None]) -> None:
        await runner.fill({"out": "x"}, instance_id=ctx.instance_id)

    runner = runner_of(one(run))
    report = await runner.start("f", {"name": "A"})
    assert row(report.view, "out").value == "x" and not report.failures


async def test_a_memory_that_is_missing_is_missed_only_by_whoever_uses_it() -> None:
    @dataclass
    class Notes:
        kept: list[tuple[str, str, str]] = field(default_factory=list)

        async def set_context(self, section: str, key: str, value: str) -> None:
            self.kept.append((section, key, value))

    async def run(ctx: FormContext[None]) -> None:
        await ctx.memory.set_context("user", "name", ctx.values["name"])
        await ctx.memory.upsert_node("person", "a", {})

    notes = Notes()
    report = await runner_of(one(run), memory=MemoryBridge(context=notes)).start("f", {"name": "A"})
    assert notes.kept == [("user", "name", "A")]
    assert "entity" in report.failures[0].message


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.upsert_node("person", "a", {}),
        lambda memory: memory.connect("a", "knows", "b"),
        lambda memory: memory.record_episode("call", {}, content="x", occurred_at=NOW),
        lambda memory: memory.write_resource("a.txt", "x"),
        lambda memory: memory.set_context("a", "b", "c"),
    ],
)
async def test_every_memory_may_be_missing(use: Any) -> None:
    with pytest.raises(FormValidationError, match="memory"):
        await use(MemoryBridge())


# ------------------------------------------------------------------------------------------------------------- blocking


async def test_while_a_blocking_checkpoint_runs_writes_are_refused_and_the_form_waits() -> None:
    going, gone = asyncio.Event(), asyncio.Event()

    async def run(ctx: FormContext[None]) -> Effects:
        going.set()
        await gone.wait()
        return Patch({"out": "done"})

    runner = runner_of(one(run, blocking=True))
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(runner.start("f", {"name": "A"}))
        await going.wait()
        with pytest.raises(FormBlockedError) as refused:
            await runner.fill({"name": "B"})
        assert str(refused.value) == 'Waiting on checkpoint "go". Wait.'
        assert refused.value.data == {"code": "form_blocked", "checkpoint": "go", "waiting": "Wait."}
        for write in (runner.undo(), runner.redo(), runner.retract("name"), runner.skip("number", "none")):
            with pytest.raises(FormBlockedError):
                await write
        view = await runner.status()
        assert (view.status, view.wait_message) == (InstanceStatus.AWAITING, "Wait.")
        assert runner.question is None
        assert await runner.status_line() == '[form: f] awaiting "go" — Wait.'
        await runner.resume_hooks()  # What runs here is not run twice.
        gone.set()
    assert starting.result().view.status is InstanceStatus.ACTIVE
    assert row(starting.result().view, "out").value == "done"


async def test_a_checkpoint_resolved_from_outside_unblocks_and_its_executor_is_not_heard_any_more() -> None:
    going, gone = asyncio.Event(), asyncio.Event()

    async def run(ctx: FormContext[None]) -> Effects:
        going.set()
        await gone.wait()
        return Patch({"out": "late"})

    runner = runner_of(one(run, blocking=True))
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(runner.start("f", {"name": "A"}))
        await going.wait()
        view = await runner.resolve_checkpoint("go", ok=False, error="Over budget", values={"number": "7"})
        assert view.status is InstanceStatus.COMPLETE
        assert [failure.message for failure in view.failures] == ["Over budget"]
        gone.set()
    assert row(starting.result().view, "out").value is None
    assert row(starting.result().view, "number").value == "7"
    assert "blocked earlier" not in await runner.status_line(), "complete forms are silent"


async def test_abandoning_while_a_checkpoint_runs_closes_the_form_for_good() -> None:
    going, gone = asyncio.Event(), asyncio.Event()

    async def run(ctx: FormContext[None]) -> Effects:
        going.set()
        await gone.wait()
        return Patch({"out": "late"})

    runner = runner_of(one(run, blocking=True))
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(runner.start("f", {"name": "A"}))
        await going.wait()
        await runner.abandon("The caller left.")
        gone.set()
    view = starting.result().view
    assert (view.status, view.closed_reason, row(view, "out").value) == (
        InstanceStatus.ABANDONED,
        "The caller left.",
        None,
    )


async def test_what_is_cancelled_in_the_middle_is_resumed_under_its_key() -> None:
    keys: list[tuple[str, str]] = []
    going = asyncio.Event()

    async def run(ctx: FormContext[None]) -> Effects:
        keys.append((ctx.idempotency_key, ctx.values["name"]))
        if len(keys) == 1:
            going.set()
            await asyncio.Event().wait()
        return Patch({"out": "done"})

    runner = runner_of(one(run, blocking=True))
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(runner.start("f", {"name": "A"}))
        await going.wait()
        starting.cancel()
    assert (await runner.status()).status is InstanceStatus.AWAITING
    await runner.resume_hooks()
    assert keys == [("form_1:checkpoint:go:1", "A")] * 2
    view = await runner.status()
    assert view.status is InstanceStatus.ACTIVE and row(view, "out").value == "done"
    instance = await runner.active_instance()
    assert instance is not None and instance.dispatches["form_1:checkpoint:go:1"].attempts == 2
    await runner.resume_hooks()
    assert len(keys) == 2


async def test_what_is_resumed_sees_the_answers_as_they_were_and_what_had_ended_is_not_run_again() -> None:
    seen: list[tuple[str, str]] = []
    broken = [True]
    form = Form("f", version=1, steps=[Step], name="F")

    @form.on_fill("name")
    def first(ctx: FormContext[None], name: str) -> Effects:
        seen.append((ctx.hook_id, name))
        return Patch({"out": f"for {name}"})

    @form.checkpoint("go", when=lambda state: "name" in state.values)
    async def second(ctx: FormContext[None]) -> None:
        seen.append((ctx.hook_id, ctx.values["name"]))
        if broken:
            raise asyncio.CancelledError

    runner = runner_of(form)
    with pytest.raises(asyncio.CancelledError):
        await runner.start("f", {"name": "A"})
    await runner.fill({"name": "B"})
    broken.clear()
    await runner.resume_hooks()
    assert seen == [("field:name", "A"), ("checkpoint:go", "A"), ("checkpoint:go", "A")]
    view = await runner.status()
    assert (row(view, "name").value, row(view, "out").value) == ("B", "for A")


async def test_an_executor_that_is_gone_cannot_be_resumed() -> None:
    store = MemoryForms()

    async def die(ctx: FormContext[None]) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await runner_of(one(die), store).start("f", {"name": "A"})
    with pytest.raises(FormPostCommitError) as refused:
        await runner_of(Form("f", version=1, steps=[Step], name="F"), store).resume_hooks()
    assert isinstance(refused.value.__cause__, FormDefinitionError)
    assert refused.value.__cause__.ids == ("checkpoint:go",)


# ------------------------------------------------------------------------------------------ conflicts and broken stores


class Crowded(MemoryForms):
    """Somebody else writes first, a number of times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
        if self.times and commit.appended:
            self.times -= 1
            other = replace(commit, appended={}, cursors={}, occurrences={}, pending={}, dispatches={})
            await super().commit(instance_id, replace(other, revision_seq=0), if_version=if_version)
        await super().commit(instance_id, commit, if_version=if_version)


async def test_a_write_that_comes_second_is_decided_anew() -> None:
    runner = runner_of(booking, Crowded(3), deps=Desk())
    await runner.start("trip-booking")
    assert (await runner.fill({"origin": "Nairobi"})).captured == ("origin",)
    instance = await runner.active_instance()
    assert instance is not None and instance.version == 5


async def test_a_write_that_comes_second_again_and_again_is_a_conflict() -> None:
    runner = runner_of(booking, Crowded(4), deps=Desk())
    await runner.start("trip-booking")
    with pytest.raises(FormConflictError) as refused:
        await runner.fill({"origin": "Nairobi"})
    assert refused.value.data == {"code": "form_conflict", "expected": 4, "actual": 5}


async def test_what_executors_want_is_done_though_others_write_meanwhile_until_it_is_too_much() -> None:
    store = Crowded(0)

    def crowd(ctx: FormContext[None]) -> Effects:
        store.times = times
        return Patch({"out": "x"})

    for times, conflicts in ((3, False), (4, True)):
        runner = runner_of(one(crowd), store, subject=f"caller {times}", new_id=lambda times=times: f"form_{times}")
        if conflicts:
            with pytest.raises(FormPostCommitError) as refused:
                await runner.start("f", {"name": "A"})
            assert isinstance(refused.value.__cause__, FormConflictError)
        else:
            assert row((await runner.start("f", {"name": "A"})).view, "out").value == "x"


async def test_two_that_take_over_a_form_at_once_take_it_over_once() -> None:
    class Slow(MemoryForms):
        async def commit(self, instance_id: str, commit: Commit, *, if_version: int) -> None:
            await asyncio.sleep(0)
            await super().commit(instance_id, commit, if_version=if_version)

    store = Slow()
    await runner_of(booking, store, deps=Desk()).start("trip-booking", {"travellers": "2"})
    form = Form("trip-booking", version=2, steps=[Trip], name="T", migrate=lambda old, version: {"travellers": 2})
    views = await asyncio.gather(*(runner_of(form, store).status() for _ in range(2)))
    assert [row(view, "travellers").value for view in views] == [2, 2]
    instance = await store.get("form_1")
    assert instance is not None and len(instance.entries["travellers"].revisions) == 2


async def test_two_runners_on_one_form_lose_nothing() -> None:
    store = MemoryForms()
    mine, theirs = runner_of(booking, store, deps=Desk()), runner_of(booking, store, deps=Desk())
    await mine.start("trip-booking")
    await asyncio.gather(*(one.fill({name: "Xx"}) for one, name in ((mine, "origin"), (theirs, "destination"))))
    assert set(await mine.values()) == {"origin", "destination"}
    await mine.status()
    await theirs.fill({"travellers": 2})
    assert row(await mine.status(), "travellers").value == 2


async def test_a_store_that_fails_after_the_commit_is_told_as_that_and_taken_up_later() -> None:
    class Failing(MemoryForms):
        broken = False

        async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
            if self.broken:
                raise StoreError("the disk is full")
            await super().record_dispatch(instance_id, key, dispatch)

    store, ran = Failing(), []
    runner = runner_of(one(lambda ctx: ran.append(ctx.idempotency_key)), store)
    await runner.start("f")
    store.broken = True
    with pytest.raises(FormPostCommitError, match="saved, but what was to follow failed: the disk is full") as failed:
        await runner.fill({"name": "A"})
    assert failed.value.instance.pending
    store.broken = False
    await runner.resume_hooks()
    assert ran == ["form_1:checkpoint:go:1"]


# ------------------------------------------------------------------------------------------------------------ lifecycle


async def test_an_abandoned_form_is_reached_by_its_id_only_and_takes_no_writes() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking", TRIP)
    await runner.abandon("Changed plans.")
    with pytest.raises(FormNotFoundError, match="no open form"):
        await runner.fill({"origin": "x"})
    for write in (
        runner.fill({"origin": "x"}, instance_id="form_1"),
        runner.abandon("again", instance_id="form_1"),
        runner.resolve_checkpoint("book", ok=True, instance_id="form_1"),
    ):
        with pytest.raises(FormValidationError, match=r"abandoned: Changed plans\."):
            await write
    assert await runner.status_line() == "" and runner.question is None
    assert await runner.active_instance() is None
    assert (await runner.inspect(instance_id="form_1")).closed_reason == "Changed plans."
    assert [instance.id for instance in await runner.list()] == ["form_1"]


async def test_a_form_is_abandoned_for_a_reason() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking")
    with pytest.raises(FormValidationError, match="reason"):
        await runner.abandon("  ")


async def test_a_complete_form_stays_reachable_for_corrections() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking", COMPLETE)
    assert await runner.status_line() == ""
    assert (await runner.fill({"origin": "Mombasa"})).captured == ("origin",)
    assert await runner.status_line() != ""


async def test_the_form_written_to_last_is_meant_when_none_is_named() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking", {"origin": "One"})
    await runner.start("trip-booking", {"origin": "Two"})
    assert (await runner.values())["origin"] == "Two"
    await runner.fill({"destination": "Lisbon"}, instance_id="form_1")
    assert (await runner.values())["origin"] == "One"


async def test_another_subject_s_form_is_not_there() -> None:
    store = MemoryForms()
    await runner_of(booking, store, deps=Desk(), subject="somebody").start("trip-booking", TRIP)
    mine = runner_of(booking, store, deps=Desk())
    assert await mine.active_instance() is None
    with pytest.raises(FormNotFoundError, match="here"):
        await mine.fill({"origin": "x"}, instance_id="form_1")


async def test_a_form_of_another_version_is_stale_and_may_only_be_abandoned() -> None:
    store = MemoryForms()
    await runner_of(booking, store, deps=Desk()).start("trip-booking", TRIP)
    runner = runner_of(Form("trip-booking", version=2, steps=[Trip, Traveller], name="Trip"), store)
    for write in (runner.fill({"origin": "x"}), runner.resolve_checkpoint("book", ok=True)):
        with pytest.raises(FormStaleError) as refused:
            await write
    assert refused.value.data == {"code": "form_stale", "instance_version": 1, "def_version": 2}
    assert "stale" in await runner.status_line()
    instance = await store.get("form_1")
    assert instance is not None and instance.status is InstanceStatus.STALE
    assert (await runner.abandon("too old")).status is InstanceStatus.ABANDONED


async def test_a_form_that_was_stale_goes_on_when_the_program_is_back_at_its_version() -> None:
    store = MemoryForms()
    runner = runner_of(booking, store, deps=Desk())
    await runner.start("trip-booking", TRIP)
    await runner_of(Form("trip-booking", version=2, steps=[Trip, Traveller], name="Trip"), store).status_line()
    assert (await runner.fill({"full_name": "Amina"})).captured == ("full_name",)


async def test_a_form_of_another_version_is_taken_over_when_the_form_says_how() -> None:
    store = MemoryForms()
    await runner_of(booking, store, deps=Desk()).start("trip-booking", TRIP)
    form = Form("trip-booking", version=2, steps=[Trip, Traveller], name="Trip", migrate=lambda old, version: old)
    runner = runner_of(form, store)
    assert (await runner.fill({"full_name": "Amina"})).captured == ("full_name",)
    assert (await runner.values())["origin"] == "Nairobi"
    instance = await store.get("form_1")
    assert instance is not None and instance.form_version == 2


async def test_a_write_says_whose_it_is() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start(
        "trip-booking", {"origin": "Nairobi"}, provenance=Provenance(source="crm:lead-881", actor="system")
    )
    assert (await runner.history("origin")).revisions[0].provenance.source == "crm:lead-881"
    with pytest.raises(ProvenanceRequiredError):
        await runner.fill({"origin": "x"}, provenance=Provenance(source=" "))


async def test_what_is_asked_next_is_known_with_its_schema() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking", {"origin": "Nairobi", "destination": "Lisbon"})
    question = runner.question
    assert question is not None
    assert (question.field, question.label, question.type) == (
        "depart_date",
        "Departure date",
        "date (YYYY-MM-DD)",
    )
    assert question.schema == {"type": "string", "format": "date"}
    await runner.fill({"depart_date": "2026-11-02", "travellers": 2, "full_name": "Amina"})
    assert runner.question is not None and runner.question.skippable
    other = runner_of(booking, runner.adapter, deps=Desk())
    await other.status()
    assert other.question == runner.question
    await runner.skip("loyalty_number", "none")
    await runner.fill({"confirmed": True})
    assert [runner.question, (await runner.status()).complete] == [None, True]


async def test_listeners_are_told_of_every_saved_change_and_one_that_raises_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[tuple[InstanceStatus, bool]] = []

    def broken(view: FormView) -> None:
        raise RuntimeError

    runner = runner_of(booking, deps=Desk())
    runner.add_listener(broken)
    remove = runner.add_listener(lambda view: told.append((view.status, row(view, "reference").value is not None)))
    await runner.start("trip-booking", COMPLETE)
    assert told == [
        (InstanceStatus.AWAITING, False),
        (InstanceStatus.COMPLETE, True),
    ]
    remove()
    remove()
    await runner.fill({"origin": "Mombasa"})
    assert len(told) == 2
    assert "listener" in caplog.text


async def test_a_look_at_a_step_does_not_touch_the_question_of_another_form() -> None:
    runner = runner_of(booking, deps=Desk())
    await runner.start("trip-booking")
    await runner.start("trip-booking", TRIP)
    question = runner.question
    view = await runner.inspect(Scope.STEP, "traveller", instance_id="form_1")
    assert runner.question == question and view.instance_id == "form_1"
