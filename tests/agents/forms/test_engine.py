from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agents.forms.definition import Form
from agents.forms.effects import Complete, Effect, Jump, Patch, Terminate
from agents.forms.engine import ROUNDS, abandon, as_seen_by, dispatch_key, migrate, resolve
from agents.forms.errors import FormDefinitionError, FormNotFoundError
from agents.forms.evaluation import FieldStatus, evaluate
from agents.forms.field import ask
from agents.forms.record import InstanceStatus
from agents.forms.step import FormStep
from tests.agents.forms.scenes import NOW, STAMP, TRIP, Scene
from tests.agents.forms.trip import booking


class One(FormStep):
    name: str = ask("Name")
    number: str | None = ask("Number", skippable=True)


class Two(FormStep):
    age: int = ask("Age", ge=0)
    school: str | None = ask("School", default=None, when=lambda form: form.values.get("age", 99) < 18)


def nothing(*_: Any) -> None:
    return None


def make(**more: Any) -> Form[None]:
    """Everything has an executor."""
    form = Form("f", version=more.pop("version", 1), steps=[One, Two], name="F", **more)
    for field in ("name", "number", "age", "school"):
        form.on_fill(field)(nothing)
    form.on_skip("number")(nothing)
    form.on_complete(One)(nothing)
    form.on_complete(Two)(nothing)
    form.checkpoint("minor", when=lambda state: state.values.get("age", 99) < 18)(nothing)
    form.checkpoint("all", when=lambda state: state.complete, blocking=True, wait_message="Wait.")(nothing)
    form.on_complete()(nothing)
    return form.build()


def test_an_answer_rises_once_and_not_again_when_it_is_said_again_or_changed() -> None:
    scene = Scene(make()).start(name="A")
    assert scene.taken() == ["field:name:1"]
    scene.fill(name="A")
    scene.fill(name="B")
    assert scene.taken() == []


def test_an_answer_that_becomes_valid_again_rises_under_another_occurrence() -> None:
    scene = Scene(make()).start(age=3)
    scene.fill(age="three")
    scene.taken()
    scene.fill(age=4)
    assert scene.taken() == ["field:age:2", "step:two:2", "checkpoint:minor:2"]


def test_hooks_of_one_commit_run_in_order() -> None:
    scene = Scene(make()).start(age=4)
    scene.skip("number")
    scene.taken()
    scene.fill(school="Elm", name="A")
    assert scene.taken() == [
        "field:name:1",
        "field:school:1",
        "step:one:1",
        "checkpoint:all:1",
        "form:1",
    ]


def test_a_skip_rises_before_the_step_and_the_form_it_completes() -> None:
    scene = Scene(make()).start(name="A", age=40)
    scene.taken()
    scene.skip("number")
    assert scene.taken() == ["skip:number:1", "step:one:1", "checkpoint:all:1", "form:1"]
    scene.skip("number", "still none")
    assert scene.taken() == []


def test_undoing_the_skip_that_completed_a_step_opens_it_again() -> None:
    scene = Scene(make()).start(name="A", age=40)
    scene.skip("number")
    scene.undo()
    assert not scene.now.complete and scene.standing() is InstanceStatus.ACTIVE
    scene.taken()
    scene.redo()
    assert scene.taken() == ["skip:number:2", "step:one:2", "checkpoint:all:2", "form:2"]


def test_a_first_answer_and_a_condition_that_is_always_true_rise_at_the_start() -> None:
    class Step(FormStep):
        name: str = ask("Name")

    form = Form("f", version=1, steps=[Step], name="F")
    form.checkpoint("always", when=lambda state: True)(nothing)
    scene = Scene(form.build()).start(name="A")
    assert scene.taken() == ["field:name:1", "step:step:1", "checkpoint:always:1", "form:1"]


def test_a_condition_that_becomes_false_is_silent_and_true_again_rises_again() -> None:
    scene = Scene(make()).start(age=4)
    scene.taken()
    scene.fill(age=40)
    assert scene.taken() == []
    scene.fill(age=5)
    assert scene.taken() == ["checkpoint:minor:2"]


def test_a_step_completes_again_under_another_key() -> None:
    scene = Scene(make()).start(age=40)
    scene.retract("age")
    scene.taken()
    scene.fill(age=41)
    assert scene.taken() == ["field:age:2", "step:two:2"]


def test_undo_back_into_force_is_an_edge() -> None:
    scene = Scene(make()).start(name="A")
    scene.retract("name")
    scene.taken()
    scene.undo()
    assert scene.taken() == ["field:name:2"]


def test_a_blocking_checkpoint_blocks_with_the_commit_that_it_rose_in() -> None:
    from agents.forms.engine import advance
    from agents.forms.writes import skip

    scene = Scene(make()).start(name="A", age=40)
    written = skip(scene.form, scene.instance, "number", "none", STAMP)
    outcome = advance(scene.form, scene.now, written.instance, at=NOW)
    assert (outcome.instance.status, outcome.instance.blocked_on) == (InstanceStatus.AWAITING, "all")
    assert outcome.batch_id is not None
    batch = outcome.instance.pending[outcome.batch_id]
    assert batch.hooks == ("skip:number", "step:one", "checkpoint:all", "form")
    assert dispatch_key(outcome.instance, batch, "checkpoint:all") == "form_1:checkpoint:all:1"
    seen = evaluate(scene.form, as_seen_by(outcome.instance, batch))
    assert seen.step_complete(One) and not seen.checkpoint_fired("all"), "counters are from before"


def test_after_its_batch_a_blocking_checkpoint_no_longer_blocks() -> None:
    scene = Scene(make()).start(name="A", age=40)
    scene.skip("number")
    assert (scene.instance.status, scene.instance.blocked_on) == (InstanceStatus.COMPLETE, None)
    assert scene.instance.completed_at == NOW and not scene.instance.pending


def test_a_patch_is_a_write_and_may_raise_more() -> None:
    scene = Scene(make(), {"field:name": [Patch({"age": 3, "unknown": 1})]}).start(name="A")
    assert scene.now.values["age"] == 3
    assert scene.taken() == ["field:name:1", "field:age:1", "step:two:1", "checkpoint:minor:1"]
    revision = scene.instance.entries["age"].in_force
    assert revision is not None and revision.effect_id == "b1:patch:age"


def test_a_patch_that_changes_nothing_is_no_write() -> None:
    scene = Scene(make(), {"field:name": [Patch({"name": "A"})]}).start(name="A")
    assert len(scene.instance.entries["name"].revisions) == 1


def test_patches_that_raise_patches_end_after_some_rounds() -> None:
    class Step(FormStep):
        on: bool = ask("On")

    form = Form("f", version=1, steps=[Step], name="F")
    form.checkpoint("on", when=lambda state: state.values.get("on") is True)(nothing)
    form.checkpoint("off", when=lambda state: state.values.get("on") is False)(nothing)
    effects = {"checkpoint:on": [Patch({"on": False})], "checkpoint:off": [Patch({"on": True})]}
    scene = Scene(form.build(), effects).start(on=True)
    assert len(scene.instance.entries["on"].revisions) == ROUNDS
    assert not scene.instance.pending


def test_a_jump_opens_a_step_and_the_last_one_wins() -> None:
    scene = Scene(make(), {"field:name": [Jump("nowhere"), Jump("two")]}).start(name="A")
    assert scene.now.open_step is scene.form.steps[1] and not scene.revisiting()


def test_a_jump_to_an_unknown_step_is_ignored() -> None:
    scene = Scene(make(), {"field:name": [Jump("nowhere")]}).start(name="A")
    assert scene.now.open_step is scene.form.steps[0]


def test_a_jump_back_to_a_finished_step_revisits_it_until_something_is_written_into_it() -> None:
    scene = Scene(make(), {"field:age": [Jump("one")]}).start(name="A", number="1")
    scene.fill(age=40)
    assert scene.now.open_step is scene.form.steps[0] and scene.revisiting()
    scene.fill(school="Elm")
    assert scene.revisiting(), "a write into another step does not leave it"
    scene.fill(name="B")
    assert not scene.revisiting() and scene.now.open_step is None


def test_a_patch_and_a_jump_both_apply() -> None:
    scene = Scene(make(), {"field:name": [Patch({"age": 40}), Jump("two")]}).start(name="A")
    assert scene.now.values["age"] == 40
    assert scene.now.open_step is scene.form.steps[1]


def test_completion_may_be_forced_and_lasts_until_answers_go_missing() -> None:
    scene = Scene(make(), {"field:name": [Complete()]}).start(name="A")
    assert scene.standing() is InstanceStatus.COMPLETE and not scene.now.complete
    scene.fill(number="1")
    assert scene.standing() is InstanceStatus.COMPLETE


def test_a_complete_form_whose_answers_become_incomplete_is_active_again() -> None:
    scene = Scene(make()).start(name="A", age=40, number="1")
    assert scene.standing() is InstanceStatus.COMPLETE
    scene.retract("age")
    assert scene.standing() is InstanceStatus.ACTIVE


def test_termination_wins_over_completion_and_no_patch_is_applied() -> None:
    effects: dict[str, list[Effect]] = {
        "form": [Complete()],
        "step:two": [Patch({"name": "B"})],
        "checkpoint:all": [Terminate("No.")],
    }
    scene = Scene(make(), effects).start(name="A", age=40, number="1")
    assert (scene.instance.status, scene.instance.closed_reason) == (InstanceStatus.ABANDONED, "No.")
    assert scene.now.values["name"] == "A"
    assert not scene.instance.pending and scene.instance.blocked_on is None


def test_an_answer_held_until_a_checkpoint_fires_rises_with_it() -> None:
    form = booking
    scene = Scene(form).start(**TRIP, full_name="Amina", reference="early")
    scene.skip("loyalty_number")
    assert scene.status("reference") is FieldStatus.HELD
    scene.taken()
    scene.fill(confirmed=True)
    assert scene.status("reference") is FieldStatus.FILLED
    assert scene.taken() == [
        "field:confirmed:1", "step:traveller:1", "checkpoint:book:1", "form:1", "field:reference:1",
    ]  # fmt: skip


def test_what_an_executor_writes_does_not_make_the_yes_stale_that_it_acted_on() -> None:
    scene = Scene(booking, {"checkpoint:book": [Patch({"reference": "GLV-1", "origin": "NAIROBI"})]})
    scene.start(**TRIP, full_name="Amina")
    scene.skip("loyalty_number")
    scene.fill(confirmed=True)
    assert scene.now.values["reference"] == "GLV-1" and scene.now.values["origin"] == "NAIROBI"
    assert scene.now.complete
    assert scene.taken().count("checkpoint:book:1") == 1


def test_an_amended_answer_confirmed_again_reaches_the_checkpoint_again() -> None:
    scene = Scene(booking, {"checkpoint:book": [Patch({"reference": "GLV-1"})]})
    scene.start(**TRIP, full_name="Amina", loyalty_number="GL123456", confirmed=True)
    first = scene.now.fingerprint
    scene.fill(travellers=3)
    scene.taken()
    scene.fill(confirmed=True)
    assert "checkpoint:book:2" in scene.taken()
    assert scene.now.fingerprint != first


# ------------------------------------------------------------------------------------------------ checkpoints, versions


def awaiting() -> Scene:
    from agents.forms.engine import advance
    from agents.forms.writes import skip

    scene = Scene(make()).start(name="A", age=40)
    written = skip(scene.form, scene.instance, "number", "none", STAMP)
    scene.instance = advance(scene.form, scene.now, written.instance, at=NOW).instance
    return scene


def settle(scene: Scene, checkpoint: str, *, ok: bool, error: str | None = None, **values: Any) -> None:
    from agents.forms.engine import advance

    resolved = resolve(scene.form, scene.instance, checkpoint, ok=ok, error=error, values=values, stamp=STAMP)
    scene.instance = advance(scene.form, scene.now, resolved, at=NOW).instance


def test_a_checkpoint_resolved_from_outside_unblocks_and_does_not_run_again() -> None:
    scene = awaiting()
    settle(scene, "all", ok=True, name="B")
    assert (scene.instance.status, scene.instance.blocked_on) == (InstanceStatus.COMPLETE, None)
    assert scene.now.values["name"] == "B"
    (batch,) = scene.instance.pending.values()
    assert batch.hooks == ("skip:number", "step:one", "form"), "what is not the checkpoint's still runs"
    assert scene.instance.dispatches["form_1:checkpoint:all:resolved"].status == "ok"


@pytest.mark.parametrize(("error", "told"), [("Over budget", "Over budget"), (None, "the checkpoint was rejected")])
def test_a_checkpoint_rejected_from_outside_is_a_failure(error: str | None, told: str) -> None:
    scene = awaiting()
    settle(scene, "all", ok=False, error=error)
    dispatch = scene.instance.dispatches["form_1:checkpoint:all:resolved"]
    assert (dispatch.status, dispatch.error, dispatch.hook_id) == ("failed", told, "checkpoint:all")
    assert scene.instance.blocked_on is None


def test_resolving_another_checkpoint_does_not_unblock_and_an_unknown_one_is_refused() -> None:
    scene = awaiting()
    settle(scene, "minor", ok=True)
    assert scene.standing() is InstanceStatus.AWAITING
    with pytest.raises(FormNotFoundError, match="minor"):
        settle(scene, "unknown", ok=True)


def test_abandoning_closes_and_drops_what_was_to_run() -> None:
    closed = abandon(awaiting().instance, "The caller left.", at=NOW)
    assert (closed.status, closed.closed_reason, closed.blocked_on) == (
        InstanceStatus.ABANDONED,
        "The caller left.",
        None,
    )
    assert not closed.pending


def test_an_instance_of_another_version_is_stale_unless_the_form_takes_it_over() -> None:
    scene = Scene(make()).start(name="A", age=40)
    assert migrate(make(version=2), scene.instance, STAMP).status is InstanceStatus.STALE


def test_migration_takes_raw_answers_and_appends_what_changed() -> None:
    given: list[tuple[Mapping[str, Any], int]] = []

    def take_over(old: Mapping[str, Any], version: int) -> Mapping[str, Any]:
        given.append((old, version))
        return {"name": old["name"], "age": int(old["age"]), "gone": 1}

    scene = Scene(make()).start(name="A", age="40")
    scene.skip("number")
    form = make(version=2, migrate=take_over)
    moved = migrate(form, migrate(make(version=3), scene.instance, STAMP), STAMP)
    assert given == [({"name": "A", "age": "40"}, 1)]
    assert (moved.form_version, moved.status) == (2, InstanceStatus.ACTIVE)
    assert [len(moved.entries[one].revisions) for one in ("name", "age", "number")] == [1, 2, 1]
    assert evaluate(form, moved).values == {"name": "A", "age": 40}


def test_a_stale_instance_is_taken_up_again_when_the_form_is_back_at_its_version() -> None:
    scene = Scene(make()).start(name="A", age=40, number="1")
    stale = migrate(make(version=2), scene.instance, STAMP)
    assert migrate(make(), stale, STAMP).status is InstanceStatus.COMPLETE
    scene.retract("age")
    stale = migrate(make(version=2), scene.instance, STAMP)
    assert migrate(make(), stale, STAMP).status is InstanceStatus.ACTIVE


def test_a_complete_instance_that_lacks_an_answer_in_the_new_version_is_active() -> None:
    scene = Scene(make()).start(name="A", age=40, number="1")
    lost = make(version=2, migrate=lambda old, version: {"age": "forty"})
    assert migrate(lost, scene.instance, STAMP).status is InstanceStatus.ACTIVE
    kept = make(version=2, migrate=lambda old, version: old)
    assert migrate(kept, scene.instance, STAMP).status is InstanceStatus.COMPLETE


def test_an_instance_that_waits_for_a_checkpoint_still_does_in_the_new_version() -> None:
    moved = migrate(make(version=2, migrate=lambda old, version: old), awaiting().instance, STAMP)
    assert (moved.status, moved.blocked_on) == (InstanceStatus.AWAITING, "all")


def test_a_migration_that_raises_is_the_form_s_mistake() -> None:
    scene = Scene(make()).start(name="A")

    def broken(old: Mapping[str, Any], version: int) -> Mapping[str, Any]:
        raise KeyError("x")

    with pytest.raises(FormDefinitionError, match="KeyError"):
        migrate(make(version=2, migrate=broken), scene.instance, STAMP)
