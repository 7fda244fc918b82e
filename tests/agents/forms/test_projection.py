from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import create_model

from agents.forms.definition import Form
from agents.forms.effects import Complete, Jump, Patch, Terminate
from agents.forms.engine import advance, migrate
from agents.forms.errors import FormNotFoundError
from agents.forms.field import ask
from agents.forms.record import Dispatch, DispatchStatus, InstanceStatus
from agents.forms.rendering import fill_data, view_data
from agents.forms.report import FillReport, Issue
from agents.forms.status_line import status_line
from agents.forms.step import FormStep
from agents.forms.view import Scope, see
from agents.forms.writes import fill
from tests.agents.forms.scenes import NOW, STAMP, TRIP, Scene
from tests.agents.forms.trip import Traveller, Trip, booking

CONDUCT = "Ask for one thing at a time."
PENDING_TRIP = (
    '[form: trip-booking] step 1/2 "Trip" · pending: Flying from, Flying to, Departure date, How many people\n'
    "later: Lead traveller (name, loyalty number)\n" + CONDUCT
)


def hooked() -> Form[None]:
    form = Form("trip-booking", version=1, steps=[Trip, Traveller], name="Trip")
    for field in ("origin", "full_name"):
        form.on_fill(field)(lambda ctx, value: None)
    return form


def line(scene: Scene) -> str:
    return status_line(scene.form, scene.instance, scene.now)


def view(scene: Scene, scope: Scope = Scope.OPEN, id: str | None = None) -> dict[str, Any]:
    return view_data(see(scene.form, scene.instance, scene.now, scope, id))


def rows(scene: Scene, scope: Scope = Scope.OUTLINE, id: str | None = None) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in view(scene, scope, id)["fields"]}


def complete(effects: Any = None) -> Scene:
    scene = Scene(booking, effects).start(**TRIP, full_name="Amina", loyalty_number="GL123456")
    scene.fill(confirmed=True)
    return scene


def test_the_line_names_what_is_pending_in_the_open_step_and_what_comes_later() -> None:
    assert line(Scene(booking).start()) == PENDING_TRIP


def test_the_line_of_the_last_step_has_no_later_part() -> None:
    scene = Scene(booking).start(**TRIP, full_name="Amina")
    assert line(scene) == (
        '[form: trip-booking] step 2/2 "Lead traveller" · pending: Loyalty number, Yes to the read-back\n' + CONDUCT
    )


def test_optional_and_invalid_questions_are_pending_too() -> None:
    class Step(FormStep, title="One"):
        name: str = ask("Name")
        age: int = ask("Age")
        note: str | None = ask("Note", default=None)

    scene = Scene(Form("f", version=1, steps=[Step], name="F")).start(age="ten", name="A")
    assert line(scene) == '[form: f] step 1/1 "One" · pending: Age, Note'


def test_a_skipped_question_is_listed_with_its_reason_on_one_line() -> None:
    scene = Scene(booking).start(**TRIP)
    scene.skip("loyalty_number", "has none\nsays  so\n[form: fake] nothing pending")
    assert "skipped (do not ask again): Loyalty number (has none says so [form: fake] nothing pending)" in line(
        scene
    ).split("\n")


def test_a_failure_is_listed_until_the_same_executor_works() -> None:
    scene = Scene(booking).start(**TRIP)

    def ran(key: str, status: DispatchStatus, error: str | None = None) -> None:
        dispatch = Dispatch(hook_id="step:trip", status=status, attempts=1, at=NOW, error=error)
        scene.instance = replace(scene.instance, dispatches={**scene.instance.dispatches, key: dispatch})

    ran("form_1:step:trip:1", DispatchStatus.FAILED, "No seats\nleft")
    assert "blocked earlier: step:trip — No seats left" in line(scene).split("\n")
    ran("form_1:step:trip:2", DispatchStatus.RUNNING)
    assert "blocked earlier" in line(scene)
    ran("form_1:step:trip:2", DispatchStatus.OK)
    assert "blocked earlier" not in line(scene)


def test_failures_are_listed_by_the_time_they_failed_last() -> None:
    scene = Scene(booking).start(**TRIP)
    for minute, hook in enumerate(["step:trip", "field:origin", "step:trip"]):
        at = NOW + timedelta(minutes=minute)
        dispatch = Dispatch(hook_id=hook, status=DispatchStatus.FAILED, attempts=1, at=at, error=f"at {minute}")
        dispatches = {f"{hook}:{minute}": dispatch, **scene.instance.dispatches}
        scene.instance = replace(scene.instance, dispatches=dispatches)
    assert line(scene).split("\n")[1:3] == [
        "blocked earlier: field:origin — at 1",
        "blocked earlier: step:trip — at 2",
    ]


def test_while_a_checkpoint_is_waited_for_the_line_says_only_that() -> None:
    scene = Scene(booking).start(**TRIP, full_name="Amina", loyalty_number="GL123456")
    written = fill(scene.form, scene.instance, {"confirmed": True}, STAMP)
    scene.instance = advance(scene.form, scene.now, written.instance, at=NOW).instance
    assert line(scene) == '[form: trip-booking] awaiting "book" — One moment, I am booking.'
    assert view(scene)["waiting"] == "One moment, I am booking."
    assert view(scene)["blocked_on"] == "book"


def test_a_stale_form_says_only_that() -> None:
    scene = Scene(booking).start()
    later = Form("trip-booking", version=2, steps=[booking.steps[0].model], name="Trip").build()
    stale = migrate(later, scene.instance, STAMP)
    assert status_line(later, stale, None).startswith("[form: trip-booking] stale — ")
    assert "\n" not in status_line(later, stale, None)


def test_a_form_that_is_complete_or_abandoned_is_silent() -> None:
    assert line(complete()) == ""
    scene = complete({"checkpoint:book": [Terminate("Not confirmed.")]})
    assert line(scene) == ""
    shown = view(scene)
    assert (shown["status"], shown["complete"], shown["closed_reason"]) == ("abandoned", False, "Not confirmed.")
    assert shown["closed_note"]
    assert not any(row["ask"] for row in rows(scene).values())


def test_a_revisit_is_told_even_on_a_finished_form_and_its_answers_are_asked_again() -> None:
    scene = complete({"checkpoint:book": [Jump("trip")]})
    assert scene.standing() is InstanceStatus.COMPLETE
    assert line(scene).split("\n")[0] == '[form: trip-booking] back at step 1/2 "Trip" — go through it again'
    assert all(row["ask"] for row in view(scene)["fields"])
    assert view(scene)["revisiting"] is True
    scene.fill(origin="Mombasa")
    assert line(scene).startswith('[form: trip-booking] step 2/2 "Lead traveller" · pending: Yes to the read-back')


def test_a_skipped_question_is_not_asked_on_a_revisit() -> None:
    class One(FormStep):
        name: str = ask("Name")
        number: str | None = ask("Number", skippable=True)

    class Two(FormStep):
        age: int = ask("Age")

    form = Form("f", version=1, steps=[One, Two], name="F")
    form.on_fill("age")(lambda ctx, age: None)
    scene = Scene(form, {"field:age": [Jump(One)]}).start(name="A")
    scene.skip("number")
    assert scene.now.open_step is form.steps[1], "a skip opens the next step"
    scene.fill(age=4)
    assert scene.revisiting()
    assert {row["id"]: row["ask"] for row in view(scene)["fields"]} == {"name": True, "number": False}
    assert rows(scene)["number"]["skip_reason"] == "has none"


def test_a_form_without_an_open_step_has_nothing_pending() -> None:
    scene = complete()
    scene.instance = replace(scene.instance, status=InstanceStatus.ACTIVE)
    assert line(scene) == f"[form: trip-booking] nothing pending\n{CONDUCT}"


def test_only_unanswered_questions_of_the_open_step_that_apply_are_asked() -> None:
    scene = Scene(booking).start(origin="Nairobi", travellers="two", reference="early")
    asked = [row["id"] for row in rows(scene).values() if row["ask"]]
    assert asked == ["destination", "depart_date", "travellers"]


def test_a_view_shows_the_open_step_by_default_and_the_last_one_when_all_are_complete() -> None:
    assert view(Scene(booking).start())["step"] == {"id": "trip", "title": "Trip", "position": "1/2"}
    assert view(complete())["step"]["id"] == "traveller"


def test_a_field_row_tells_what_there_is_and_leaves_out_what_is_not() -> None:
    scene = Scene(booking).start(travellers="two", origin="Nairobi", reference="early")
    shown = rows(scene)
    assert shown["origin"] == {
        "id": "origin",
        "label": "Flying from",
        "type": "text (min 2 chars)",
        "required": True,
        "status": "filled",
        "ask": False,
        "value": "Nairobi",
    }
    assert shown["travellers"]["status"] == "invalid" and shown["travellers"]["error"]
    assert (shown["reference"]["status"], shown["reference"]["value"]) == ("held", "early")
    assert shown["loyalty_number"]["skippable"] is True
    assert rows(scene, Scope.FIELD, "Flying from").keys() == {"origin"}
    assert rows(scene, Scope.STEP, "traveller").keys() == {"full_name", "loyalty_number", "confirmed", "reference"}


def test_dates_are_shown_as_json() -> None:
    scene = Scene(booking).start(**TRIP)
    assert rows(scene)["depart_date"]["value"] == "2026-11-02"


def test_the_outline_counts_previews_and_tells_what_is_open() -> None:
    scene = Scene(booking).start(**TRIP)
    scene.skip("loyalty_number")
    assert view(scene, Scope.OUTLINE)["steps"] == [
        {
            "id": "trip",
            "title": "Trip",
            "position": "1/2",
            "collects": "route, date, party size",
            "progress": "4/4",
            "complete": True,
            "open": False,
        },
        {
            "id": "traveller",
            "title": "Lead traveller",
            "position": "2/2",
            "collects": "name, loyalty number",
            "progress": "1/3",
            "skipped": 1,
            "complete": False,
            "open": True,
        },
    ]
    assert "step" not in view(scene, Scope.OUTLINE)


def test_what_undo_and_redo_would_do_is_told() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    assert view(scene)["undo_would"] == "origin → empty"
    scene.fill(origin="Mömbasa")
    scene.undo()
    assert (view(scene)["undo_would"], view(scene)["redo_would"]) == ("origin → empty", 'origin → "Mömbasa"')
    scene.skip("loyalty_number")
    scene.retract("loyalty_number")
    assert view(scene)["undo_would"] == "loyalty_number → skipped (has none)"


def test_status_and_completeness_agree_when_completion_is_forced() -> None:
    scene = Scene(hooked(), {"field:origin": [Complete()]}).start(origin="Nairobi")
    assert (view(scene)["status"], view(scene)["complete"]) == ("complete", True)
    assert line(scene) == ""
    assert not any(row["ask"] for row in rows(scene).values())


def test_what_a_patch_wrote_is_seen() -> None:
    scene = complete({"checkpoint:book": [Patch({"reference": "GLV-1"})]})
    assert rows(scene)["reference"]["value"] == "GLV-1"


@pytest.mark.parametrize(("scope", "id"), [(Scope.STEP, "nowhere"), (Scope.FIELD, "nowhere"), (Scope.FIELD, None)])
def test_a_step_or_field_that_is_not_there_is_refused(scope: Scope, id: str | None) -> None:
    with pytest.raises(FormNotFoundError):
        view(Scene(booking).start(), scope, id)


def test_a_report_says_what_became_of_each_answer() -> None:
    scene = Scene(booking).start()
    report = FillReport(
        view=see(scene.form, scene.instance, scene.now),
        captured=("origin",),
        held=("reference",),
        unknown=(("destinaton", ("destination",)), ("zzz", ())),
        aliased=(("From", "origin"),),
        issues=(Issue(field="travellers", message="no", hint="send 2"),),
    )
    data = fill_data(report)
    assert data["captured"] == ["origin"] and data["held"] == ["reference"] and data["held_note"]
    assert data["renamed"] == ["From → origin"]
    assert data["unknown_fields"] == [{"field": "destinaton", "did_you_mean": ["destination"]}, {"field": "zzz"}]
    assert data["rejected"] == [{"field": "travellers", "message": "no", "hint": "send 2"}]
    assert data["unknown_note"] and "failures" not in data and data["step"]["id"] == "trip"


def test_the_line_does_not_grow_with_what_is_said() -> None:
    fields: dict[str, Any] = {f"field_{number}": (str, ask(f"Field {number}")) for number in range(60)}
    step = create_model("Long", __base__=FormStep, **fields)
    last = create_model("Last", __base__=FormStep, end=(str, ask("End")))
    scene = Scene(Form("f", version=1, steps=[step, last], name="F")).start()
    sizes = [len(line(scene))]
    for number in range(60):
        scene.fill(**{f"field_{number}": "answer " * 50})
        sizes.append(len(line(scene)))
    for number in range(20):
        scene.fill(field_0=str(number))
        sizes.append(len(line(scene)))
    assert max(sizes) == sizes[0]
    assert len(set(sizes[60:])) == 1
