from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import create_model

from agents.forms.definition import Form
from agents.forms.errors import FormDefinitionError
from agents.forms.evaluation import FieldStatus, evaluate
from agents.forms.field import ask
from agents.forms.state import FormState, When
from agents.forms.step import FormStep
from tests.agents.forms.scenes import TRIP, Scene
from tests.agents.forms.trip import booking

EMPTY, HELD, SKIPPED = FieldStatus.EMPTY, FieldStatus.HELD, FieldStatus.SKIPPED
INVALID, FILLED = FieldStatus.INVALID, FieldStatus.FILLED


class Party(FormStep):
    travellers: int = ask("How many", ge=1)
    children: int | None = ask("Children", when=lambda form: form.values.get("travellers", 0) > 1, ge=0)
    seats: str | None = ask("Child seats", when=lambda form: form.values.get("children", 0) > 0, skippable=True)
    note: str | None = ask("Note", default=None)


party = Form("party", version=1, steps=[Party], name="Party").build()


def test_a_value_for_a_later_step_is_taken_and_the_first_step_stays_open() -> None:
    scene = Scene(booking).start()
    scene.fill(full_name="Amina Odhiambo")
    assert scene.status("full_name") is FILLED
    assert scene.now.open_step is booking.steps[0]


def test_one_bad_value_does_not_concern_the_others() -> None:
    scene = Scene(booking).start()
    scene.fill(origin="Nairobi", travellers="two", destination="Lisbon")
    assert [scene.status(one) for one in ("origin", "travellers", "destination")] == [FILLED, INVALID, FILLED]
    assert scene.now.fields["travellers"].problems
    assert "travellers" not in scene.now.values


def test_an_early_answer_is_held_and_holds_once_its_gate_opens() -> None:
    scene = Scene(party).start(children=1)
    assert scene.status("children") is HELD
    assert "children" not in scene.now.values
    scene.fill(travellers=3)
    assert scene.status("children") is FILLED
    assert scene.now.values["children"] == 1


def test_a_revision_orphans_an_answer_and_reverting_it_brings_it_back_whole() -> None:
    scene = Scene(party).start(travellers=3, children=2, seats="two")
    scene.fill(travellers=1)
    assert [scene.status(one) for one in ("children", "seats")] == [HELD, HELD]
    scene.fill(travellers=3)
    assert scene.now.values == {"travellers": 3, "children": 2, "seats": "two"}


def test_only_required_questions_that_apply_count_for_completion() -> None:
    scene = Scene(party).start()
    seen = [scene.now.complete]
    for answer in ({"travellers": 1}, {"travellers": 2}, {"children": 0}):
        scene.fill(**answer)
        seen.append(scene.now.complete)
    assert seen == [False, True, False, True]


def test_a_step_is_complete_when_its_last_required_question_no_longer_applies() -> None:
    scene = Scene(party).start(travellers=2)
    assert not scene.now.step_complete(Party)
    scene.fill(travellers=1)
    assert scene.now.step_complete("party")


def test_a_step_of_optional_questions_is_complete_from_the_start() -> None:
    class Extras(FormStep):
        note: str | None = ask("Note", default=None)

    form = Form("f", version=1, steps=[Extras], name="F").build()
    assert Scene(form).now.complete


def test_a_skip_settles_a_question_unless_the_form_no_longer_permits_it() -> None:
    class Strict(FormStep, id="traveller", title="Lead traveller"):
        full_name: str = ask("Full name")
        loyalty_number: str = ask("Loyalty number")

    scene = Scene(booking).start()
    scene.skip("loyalty_number")
    assert scene.status("loyalty_number") is SKIPPED
    stricter = Form("trip-booking", version=1, steps=[Strict], name="Trip").build()
    state = evaluate(stricter, scene.instance).fields["loyalty_number"]
    assert state.status is INVALID and state.problems


def test_an_edited_definition_judges_old_answers_anew() -> None:
    class Few(FormStep):
        travellers: int = ask("How many", le=2)

    scene = Scene(party).start(travellers=3)
    state = evaluate(Form("party", version=1, steps=[Few], name="F").build(), scene.instance)
    assert state.fields["travellers"].status is INVALID


def test_a_condition_that_asks_for_itself_is_taken_for_true_and_completion_for_false() -> None:
    asked: list[bool] = []

    def note(form: FormState) -> bool:
        asked.append(form.complete)
        return True

    class Circle(FormStep):
        one: int | None = ask("One", when=lambda form: form.step_complete("circle") or True)
        two: int | None = ask("Two", when=note)

    form = Form("f", version=1, steps=[Circle], name="F").build()
    now = Scene(form).start().now
    assert now.fields["one"].applicable and now.fields["two"].applicable
    assert False in asked


def test_what_rests_on_a_guess_is_found_out_anew() -> None:
    class First(FormStep):
        one: int | None = ask("One", when=lambda form: not form.step_complete("second"))

    class Second(FormStep):
        two: int | None = ask("Two", when=lambda form: form.step_complete("first"))

    now = Scene(Form("f", version=1, steps=[First, Second], name="F")).now
    assert not now.fields["one"].applicable, "guessed to apply while the second step was looked at"
    assert now.fields["two"].applicable, "for the first step is complete without it"


def test_a_condition_that_raises_counts_as_true_on_reads_and_refuses_writes() -> None:
    def broken(form: FormState) -> bool:
        raise KeyError("origin")

    class Step(FormStep):
        one: int | None = ask("One", when=broken)

    form = Form("f", version=1, steps=[Step], name="F").build()
    scene = Scene(form)
    assert scene.now.fields["one"].applicable
    assert [defect.id for defect in scene.now.defects] == ["one"]
    with pytest.raises(FormDefinitionError, match="one") as refused:
        scene.start()
    assert refused.value.ids == ("one",)


def test_what_was_excluded_stays_so_in_one_evaluation_though_its_exclusion_would_open_its_gate() -> None:
    class Flip(FormStep):
        a: int | None = ask("A", when=lambda form: "b" not in form.values)
        b: int | None = ask("B", when=lambda form: "a" not in form.values)

    form = Form("f", version=1, steps=[Flip], name="F").build()
    scene = Scene(form).start(a=1, b=2)
    assert [scene.status("a"), scene.status("b")] == [HELD, HELD]


def test_a_step_s_condition_decides_the_order_of_asking_only() -> None:
    class Later(FormStep, when=lambda form: "name" in form.values):
        address: str = ask("Address")

    class Name(FormStep):
        name: str = ask("Name")

    class Last(FormStep, when=lambda form: False):
        end: str = ask("End")

    form = Form("f", version=1, steps=[Later, Name, Last], name="F").build()
    scene = Scene(form).start()
    assert scene.now.open_step is form.steps[1]
    scene.fill(address="Graz")
    assert scene.status("address") is FILLED
    scene.fill(name="A")
    assert scene.now.open_step is form.steps[2], "the first that is incomplete, when none that is open is"


def confirmed() -> Scene:
    scene = Scene(booking).start(**TRIP, full_name="Amina Odhiambo")
    scene.skip("loyalty_number")
    scene.fill(confirmed=True)
    return scene


def test_a_yes_counts_only_for_the_answers_it_was_given_for() -> None:
    scene = confirmed()
    seen = [scene.now.complete]
    for answer in ({"travellers": 3}, {"confirmed": True}):
        scene.fill(**answer)
        seen.append(scene.now.complete)
    assert seen == [True, False, True]


def test_undoing_a_correction_does_not_bring_back_a_stale_yes() -> None:
    scene = confirmed()
    scene.fill(travellers=3)
    scene.fill(confirmed=True)
    scene.undo("travellers")
    assert scene.now.values["travellers"] == 2
    assert scene.status("confirmed") is INVALID


def test_taking_back_a_later_yes_does_not_bring_back_an_older_one() -> None:
    scene = confirmed()
    scene.fill(travellers=3)
    scene.fill(confirmed=True)
    scene.undo("travellers")
    scene.undo("confirmed")
    assert scene.status("confirmed") is INVALID
    scene.redo("confirmed")
    scene.redo("travellers")
    assert scene.status("confirmed") is FILLED


def test_an_answer_corrected_and_corrected_back_is_the_answer_that_was_confirmed() -> None:
    scene = confirmed()
    scene.fill(travellers=3)
    scene.fill(travellers=2)
    assert scene.status("confirmed") is FILLED


@pytest.mark.parametrize(
    "change",
    [
        lambda scene: scene.fill(loyalty_number="GL123456"),
        lambda scene: scene.retract("origin"),
        lambda scene: scene.retract("loyalty_number"),
        lambda scene: scene.fill(travellers="three"),
        lambda scene: scene.undo("full_name"),
    ],
)
def test_whatever_changes_an_answer_makes_the_yes_stale(change: Any) -> None:
    scene = confirmed()
    change(scene)
    assert scene.status("confirmed") is INVALID


def test_a_yes_that_comes_with_answers_is_to_these() -> None:
    scene = Scene(booking).start()
    scene.fill(confirmed=True, loyalty_number="GL123456", **TRIP, full_name="Amina")
    assert scene.now.complete


def test_a_step_jumped_to_that_is_gone_is_no_step() -> None:
    scene = Scene(booking).start()
    scene.instance = replace(scene.instance, open_step="gone")
    assert scene.now.open_step is booking.steps[0] and not scene.revisiting()


def test_conditions_that_follow_from_each_other_settle_one_after_the_other() -> None:
    def after(field: str) -> When:
        return lambda form: field in form.values

    fields: dict[str, Any] = {"field_0": (int | None, ask("Field 0", when=lambda form: False))}
    for number in range(1, 30):
        fields[f"field_{number}"] = (int | None, ask(f"Field {number}", when=after(f"field_{number - 1}")))
    form = Form("f", version=1, steps=[create_model("Chain", __base__=FormStep, **fields)], name="F").build()
    scene = Scene(form).start(**{f"field_{number}": number for number in range(30)})
    assert {state.status for state in scene.now.fields.values()} == {HELD}
