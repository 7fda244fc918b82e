from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agents.forms.errors import FormNotFoundError, FormValidationError
from agents.forms.evaluation import FieldStatus
from agents.forms.record import Instance
from agents.forms.writes import next_redo, next_undo
from tests.agents.forms.scenes import Scene
from tests.agents.forms.trip import booking


def revisions(scene: Scene, field: str) -> list[str | None]:
    return [revision.written for revision in scene.instance.entries[field].revisions]


def test_unknown_names_are_told_and_the_rest_is_written() -> None:
    written = Scene(booking).start().fill(origin="Nairobi", destinaton="Lisbon", zzz=1)
    assert written.touched == ("origin",)
    assert written.unknown == (("destinaton", ("destination",)), ("zzz", ()))


def test_names_and_labels_in_any_spelling_land_and_are_told() -> None:
    written = Scene(booking).start().fill(**{"departDate": "2026-11-02", "How many people?": 2})
    assert written.touched == ("depart_date", "travellers")
    assert written.aliased == (("departDate", "depart_date"), ("How many people?", "travellers"))


def test_a_revision_keeps_its_predecessor() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.fill(origin="Mombasa")
    assert revisions(scene, "origin") == ['"Nairobi"', '"Mombasa"']


def test_a_withdrawal_empties_and_keeps_what_was_said() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.retract("origin")
    assert scene.status("origin") is FieldStatus.EMPTY
    assert revisions(scene, "origin") == ['"Nairobi"', None]
    with pytest.raises(FormValidationError, match="no answer"):
        scene.retract("origin")


def test_a_withdrawn_held_answer_keeps_its_history() -> None:
    scene = Scene(booking).start(reference="early")
    scene.retract("reference")
    assert [one.retracted for one in scene.instance.entries["reference"].revisions] == [False, True]


def test_undo_and_redo_of_one_field() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.fill(origin="Mombasa")
    scene.undo("origin")
    assert scene.now.values["origin"] == "Nairobi"
    scene.undo("Flying from")
    assert scene.status("origin") is FieldStatus.EMPTY
    scene.redo("origin")
    scene.redo("origin")
    assert scene.now.values["origin"] == "Mombasa"


def test_undo_without_a_field_takes_the_answer_given_last_and_redo_the_oldest_undone() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.fill(destination="Lisbon")
    scene.fill(origin="Mombasa")
    assert [scene.undo().touched for _ in range(3)] == [("origin",), ("destination",), ("origin",)]
    assert [scene.redo().touched for _ in range(3)] == [("origin",), ("destination",), ("origin",)]


def test_undo_of_a_withdrawal_restores_and_redo_withdraws_again() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.retract("origin")
    scene.undo()
    assert scene.now.values["origin"] == "Nairobi"
    scene.redo()
    assert "origin" not in scene.now.values


def test_a_write_after_an_undo_appends_and_truncates_nothing() -> None:
    scene = Scene(booking).start(origin="Nairobi")
    scene.fill(origin="Mombasa")
    scene.undo()
    scene.fill(origin="Kisumu")
    assert revisions(scene, "origin") == ['"Nairobi"', '"Mombasa"', '"Kisumu"']
    with pytest.raises(FormValidationError, match="nothing to redo"):
        scene.redo()
    scene.undo()
    assert scene.now.values["origin"] == "Mombasa"


@pytest.mark.parametrize("field", [None, "origin"])
def test_there_may_be_nothing_to_undo_or_redo(field: str | None) -> None:
    scene = Scene(booking).start()
    for move in (scene.undo, scene.redo):
        with pytest.raises(FormValidationError, match="nothing to"):
            move(field)


def test_a_skip_has_to_be_permitted_and_has_a_reason() -> None:
    scene = Scene(booking).start()
    with pytest.raises(FormValidationError, match="may not be skipped"):
        scene.skip("origin")
    with pytest.raises(FormValidationError, match="reason"):
        scene.skip("loyalty_number", "  ")
    with pytest.raises(FormNotFoundError, match="loyalty_number"):
        scene.skip("loyalty_numbr")
    assert not scene.instance.entries


def test_a_skip_is_replaced_withdrawn_undone_and_redone_like_an_answer() -> None:
    scene = Scene(booking).start()
    scene.skip("loyalty_number")
    scene.fill(loyalty_number="GL123456")
    assert scene.now.values["loyalty_number"] == "GL123456"
    scene.undo()
    assert scene.status("loyalty_number") is FieldStatus.SKIPPED
    scene.undo()
    assert scene.status("loyalty_number") is FieldStatus.EMPTY
    scene.redo()
    scene.retract("loyalty_number")
    assert scene.status("loyalty_number") is FieldStatus.EMPTY


def test_dates_of_the_host_become_json() -> None:
    scene = Scene(booking).start(depart_date=date(2026, 11, 2))
    assert scene.now.values["depart_date"] == date(2026, 11, 2)


@pytest.mark.parametrize("junk", [math.nan, math.inf, "\ud83d", {"a": [1]}, [], None, "", "x" * 5_000])
def test_junk_is_stored_as_an_invalid_answer(junk: Any) -> None:
    scene = Scene(booking).start()
    scene.fill(travellers=junk, origin="Nairobi")
    assert (scene.status("travellers"), scene.status("origin")) == (FieldStatus.INVALID, FieldStatus.FILLED)


@pytest.mark.parametrize("junk", [object(), "x" * 30_000, {1: {2, 3}, "a": object()}])
def test_what_is_no_json_or_too_long_is_not_stored(junk: Any) -> None:
    written = Scene(booking).start().fill(origin=junk, destination="Lisbon")
    assert (written.refused, written.touched) == (("origin",), ("destination",))


def test_a_write_of_too_many_answers_is_refused() -> None:
    with pytest.raises(FormValidationError, match="201"):
        Scene(booking).start().fill(**{f"x{number}": 1 for number in range(201)})


JSON_LEAVES = st.none() | st.booleans() | st.floats() | st.text(max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=20), st.recursive(JSON_LEAVES, st.lists, max_leaves=4), max_size=4))
def test_no_patch_breaks_a_form(patch: dict[str, Any]) -> None:
    scene = Scene(booking).start()
    scene.fill(**{"origin": "Nairobi", **{name: value for name, value in patch.items() if name != "origin"}})
    assert scene.now.values["origin"] == "Nairobi"


VALUES: dict[str, list[Any]] = {
    "origin": ["Nairobi", "N", 5],
    "travellers": [1, 2, "3", 99],
    "loyalty_number": ["GL123456", "no"],
    "confirmed": [True, "yes"],
    "reference": ["early"],
}
FIELDS = sorted(VALUES)
fields = st.sampled_from(FIELDS)


class Operations(RuleBasedStateMachine):
    """Whatever is done, in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene(booking).start()
        self.log: dict[str, tuple[Any, ...]] = {}

    def attempt(self, operation: Any, *given: Any, **values: Any) -> None:
        before = self.scene.instance
        try:
            operation(*given, **values)
        except FormValidationError:
            assert self.scene.instance is before

    @rule(data=st.data(), names=st.sets(fields, min_size=1))
    def fill(self, data: st.DataObject, names: set[str]) -> None:
        self.scene.fill(**{name: data.draw(st.sampled_from(VALUES[name])) for name in names})

    @rule(field=fields)
    def skip(self, field: str) -> None:
        self.attempt(self.scene.skip, field)

    @rule(field=fields)
    def retract(self, field: str) -> None:
        self.attempt(self.scene.retract, field)

    @rule(field=st.none() | fields)
    def undo(self, field: str | None) -> None:
        self.attempt(self.scene.undo, field)

    @rule(field=st.none() | fields)
    def redo(self, field: str | None) -> None:
        self.attempt(self.scene.redo, field)

    @invariant()
    def no_answer_is_lost(self) -> None:
        for field, entry in self.scene.instance.entries.items():
            before = self.log.get(field, ())
            assert entry.revisions[: len(before)] == before
            assert -1 <= entry.cursor < len(entry.revisions)
            self.log[field] = entry.revisions

    @invariant()
    def revisions_are_numbered_without_gaps(self) -> None:
        numbers = [one.seq for entry in self.scene.instance.entries.values() for one in entry.revisions]
        assert sorted(numbers) == list(range(1, self.scene.instance.revision_seq + 1))

    @invariant()
    def undoing_everything_gives_the_start_and_redoing_it_what_was(self) -> None:
        before = self.scene.instance
        undone = Scene(booking)
        undone.instance = before
        steps = 0
        while next_undo(booking, undone.instance) is not None:
            undone.undo()
            steps += 1
        assert undone.now.values == {}
        assert all(state.status is FieldStatus.EMPTY for state in undone.now.fields.values())
        assert _written(undone.instance) == _written(before)
        while next_redo(booking, undone.instance) is not None:
            undone.redo()
        assert all(entry.cursor == len(entry.revisions) - 1 for entry in undone.instance.entries.values())


def _written(instance: Instance) -> dict[str, Any]:
    return {field: entry.revisions for field, entry in instance.entries.items()}


TestOperations = Operations.TestCase
TestOperations.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
