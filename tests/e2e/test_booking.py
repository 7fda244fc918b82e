"""A trip booked by talking: recorded callers, the real engines, and the model that goes by rules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents.concierge.bookings import Booking
from tests.e2e import agents
from tests.e2e.stage import Call, Stage
from tests.fixtures.human import spelled

ADDRESS = "laura@acme.com"


@pytest.fixture(scope="module")
def call(stage: Stage, people: None) -> Call:
    return stage.call(
        "flights-for-two",
        "my-name-is-laura",
        spelled(ADDRESS),
        "i-do-not-have-one",
        "yes",
        "make-it-three",
        "take-that-back",
        "make-it-three",
        "yes-that-is-right",
        "take-that-back",
        "yes",
        "yes-please",
        agent="concierge_with_books",
    )


@pytest.fixture(scope="module")
def bookings(call: Call) -> list[Booking]:
    return asyncio.run(agents.books.bookings())


def fields(call: Call) -> dict[str, dict[str, Any]]:
    (form,) = call.report.forms
    return {field["id"]: field for field in form["fields"]}


def test_every_answer_is_one_turn(call: Call) -> None:
    assert len(call.turns) == 12, [turn.caller for turn in call.turns]


def test_the_form_is_complete_with_what_was_said(call: Call) -> None:
    assert call.report.forms[0]["complete"]
    found = fields(call)
    assert {name: found[name]["value"] for name in ("origin", "destination", "travellers", "full_name", "email")} == {
        "origin": "London",
        "destination": "Lisbon",
        "travellers": 3,
        "full_name": "Laura Miller",
        "email": ADDRESS,
    }
    assert found["depart_date"]["value"].endswith("-11-02")


def test_what_the_caller_does_not_have_is_skipped_with_the_reason(call: Call) -> None:
    skipped = fields(call)["loyalty_number"]
    assert (skipped["status"], skipped["skip_reason"]) == ("skipped", "The caller said: I don't have one.")


@pytest.mark.parametrize(("turn", "travellers"), [(3, 2), (5, 3), (7, 3), (9, 3)])
def test_the_read_back_has_every_value_and_comes_again_after_every_change(
    call: Call, turn: int, travellers: int
) -> None:
    said = call.turns[turn].agent
    parts = ("London", "Lisbon", "second of November", f"travellers: {travellers}.", "Laura Miller", ADDRESS)
    assert [part for part in parts if part not in said] == []
    assert said.endswith("Is that right?")


def test_a_correction_that_is_taken_back_leaves_what_was_agreed_and_books_nothing(call: Call) -> None:
    undone = call.turns[6]
    assert [tool.input for tool in undone.tools if tool.name == "glove_form_revise"] == [{"action": "undo"}]
    assert undone.agent.startswith("Done.")  # The yes was to these very values, and no later one was given.


def test_a_correction_amends_the_one_booking_after_another_yes(call: Call, bookings: list[Booking]) -> None:
    (booking,) = bookings
    assert (booking.version, booking.details.travellers) == (2, 3)
    assert booking.reference == fields(call)["reference"]["value"]
    confirmed = [
        place
        for place, turn in enumerate(call.turns)
        if any(tool.input.get("values") == {"confirmed": True} for tool in turn.tools)
    ]
    assert confirmed == [4, 8, 10], "a yes was taken that nobody gave, or one was not asked for"


def test_the_itinerary_is_sent_once(call: Call) -> None:
    assert [address for _, address in asyncio.run(agents.books.itineraries())] == [ADDRESS]


def test_what_was_put_off_is_still_listed(call: Call) -> None:
    goals = call.report.goals
    assert goals is not None
    assert [(one["goalKey"], one["itemKey"]) for one in goals["deferred"]] == [("aftercare", "seats")]


@pytest.mark.parametrize("turn", [4, 8, 10])
def test_a_yes_commits_early(call: Call, turn: int) -> None:
    latency = call.turns[turn].latency_ms
    assert latency.endpoint is not None
    assert latency.stt is not None
    assert latency.endpoint <= max(300, latency.stt) + 50
