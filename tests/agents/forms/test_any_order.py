"""Whatever is done to a form, in whatever order, and whenever its process dies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agents.forms.adapter import MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Fail, Jump, Patch
from agents.forms.errors import FormBlockedError, FormValidationError
from agents.forms.field import ask
from agents.forms.record import DispatchStatus, Instance, InstanceStatus, Revision
from agents.forms.registry import FormRegistry
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep


class Died(BaseException):
    """The process is no more."""


class Trip(FormStep):
    origin: str = ask("Flying from", min_length=2)
    travellers: int = ask("How many", ge=1, le=9)
    children: int | None = ask("Children", when=lambda form: form.values.get("travellers", 0) > 1, default=None)


class Traveller(FormStep):
    loyalty_number: str | None = ask("Loyalty number", skippable=True)
    confirmed: Literal[True] = ask("Yes", confirms=True)
    reference: str | None = ask("Reference", default=None, when=lambda form: form.checkpoint_fired("book"))


VALUES: dict[str, list[Any]] = {
    "origin": ["Nairobi", "Lisbon", "N"],
    "travellers": [1, 2, "2"],
    "children": [1],
    "loyalty_number": ["GL123456"],
    "confirmed": [True, False],
    "reference": ["made up"],
}
ALL = {"origin": "Nairobi", "travellers": 1, "loyalty_number": "GL123456", "confirmed": True}
fields = st.sampled_from(sorted(VALUES))


class World:
    """What does not die with the process."""

    def __init__(self) -> None:
        self.store = MemoryForms()
        self.runs: Counter[str] = Counter()
        self.booked: dict[str, str] = {}
        self.dies_in: int | None = None
        """At which run of an executor from now; ``None``: it lives on."""

    def run(self, ctx: FormContext[World]) -> None:
        self.runs[ctx.idempotency_key] += 1
        self._die()

    def book(self, key: str) -> str:
        reference = self.booked.setdefault(key, f"GLV-{len(self.booked) + 1}")
        self._die()
        return reference

    def _die(self) -> None:
        if self.dies_in is not None:
            self.dies_in -= 1
            if self.dies_in < 0:
                self.dies_in = None
                raise Died


form = Form("trip", version=1, deps=World, steps=[Trip, Traveller], name="Trip")


@form.on_fill("origin")
def origin_known(ctx: FormContext[World], origin: str) -> Fail | None:
    ctx.deps.run(ctx)
    return Fail("Nobody flies from there.") if origin == "Lisbon" else None


@form.on_skip("loyalty_number")
def skipped(ctx: FormContext[World], reason: str) -> None:
    ctx.deps.run(ctx)


@form.on_complete(Trip)
def trip_known(ctx: FormContext[World], trip: Trip) -> Jump:
    ctx.deps.run(ctx)
    return Jump(Traveller)


@form.checkpoint("book", when=lambda state: state.complete, blocking=True)
def book(ctx: FormContext[World]) -> Patch:
    ctx.deps.run(ctx)
    return Patch({"reference": ctx.deps.book(ctx.idempotency_key)})


@form.on_complete()
def done(ctx: FormContext[World]) -> None:
    ctx.deps.run(ctx)


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.log: dict[str, tuple[Revision, ...]] = {}
        self.ended: Counter[str] = Counter()
        self.restart()
        self.attempt(self.runner.start("trip"))

    def attempt(self, operation: Coroutine[Any, Any, Any]) -> None:
        try:
            asyncio.run(operation)
        except (FormValidationError, FormBlockedError):
            pass
        except Died:
            self.restart()

    def restart(self) -> None:
        self.runner = FormRunner(
            FormRegistry(form), self.world.store, subject="caller", deps=self.world, new_id=lambda: "form_1"
        )

    def instance(self) -> Instance:
        instance = asyncio.run(self.runner.active_instance())
        assert instance is not None
        return instance

    @rule(data=st.data(), names=st.sets(fields, min_size=1))
    def fill(self, data: st.DataObject, names: set[str]) -> None:
        values = {name: data.draw(st.sampled_from(VALUES[name])) for name in sorted(names)}
        self.attempt(self.runner.fill(values))

    @rule()
    def say_yes(self) -> None:
        self.attempt(self.runner.fill(ALL))

    @rule()
    def skip(self) -> None:
        self.attempt(self.runner.skip("loyalty_number", "none"))

    @rule(field=fields)
    def retract(self, field: str) -> None:
        self.attempt(self.runner.retract(field))

    @rule(field=st.none() | fields)
    def undo(self, field: str | None) -> None:
        self.attempt(self.runner.undo(field))

    @rule(field=st.none() | fields)
    def redo(self, field: str | None) -> None:
        self.attempt(self.runner.redo(field))

    @rule(runs=st.integers(0, 4))
    def die_in_what_follows(self, runs: int) -> None:
        self.attempt(self.runner.retract("origin"))
        self.world.dies_in = runs
        self.attempt(self.runner.fill(ALL))

    @precondition(lambda self: self.instance().pending)
    @rule()
    def resume(self) -> None:
        self.attempt(self.runner.resume_hooks())

    @rule()
    def resolve(self) -> None:
        if self.instance().blocked_on:
            self.attempt(self.runner.resolve_checkpoint("book", ok=False))

    @invariant()
    def no_answer_is_lost(self) -> None:
        for field_id, entry in self.instance().entries.items():
            known = self.log.get(field_id, ())
            assert entry.revisions[: len(known)] == known
            self.log[field_id] = entry.revisions

    @invariant()
    def what_has_ended_is_not_run_again(self) -> None:
        for key, runs in self.ended.items():
            assert self.world.runs[key] == runs
        for key, dispatch in self.instance().dispatches.items():
            if dispatch.status is not DispatchStatus.RUNNING and not key.endswith(":resolved"):
                self.ended[key] = self.world.runs[key]

    @invariant()
    def status_and_answers_agree(self) -> None:
        instance = self.instance()
        view = asyncio.run(self.runner.inspect())
        assert (instance.status is InstanceStatus.AWAITING) is (instance.blocked_on is not None)
        assert instance.blocked_on is not None or view.complete is (instance.status is InstanceStatus.COMPLETE)
        if instance.blocked_on is not None:
            assert any("checkpoint:book" in batch.hooks for batch in instance.pending.values())

    def teardown(self) -> None:
        """Nothing is left undone once it is resumed often enough; what rose has ended, once."""
        self.world.dies_in = None
        self.attempt(self.runner.resume_hooks())
        instance = self.instance()
        assert not instance.pending and instance.blocked_on is None
        self.what_has_ended_is_not_run_again()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
