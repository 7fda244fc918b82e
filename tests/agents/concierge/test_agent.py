"""The guide's conversation, event by event, with a scripted model, on everything a conversation is kept in."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.concierge.agent import create
from agents.concierge.bookings import Booking, BookingDesk, TripDetails
from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.goals.record import GoalScope
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from agents.stores.keeping import Keeping
from tests.agents.core.scenes import Diary


def now() -> datetime:
    return datetime(2026, 6, 1, 9, tzinfo=UTC)


def call(name: str, **given: Any) -> ScriptedCall:
    return ScriptedCall(name=name, input=given)


SEED = {
    "origin": "Nairobi",
    "destination": "Lisbon",
    "depart_date": "2026-11-02",
    "travellers": 2,
    "full_name": "Amina Odhiambo",
}
BOOKED: list[ScriptedResponse] = [
    [
        call("record_fact", fact="Both travellers prefer aisle seats"),
        call("glove_form_start", form="trip-booking", values=SEED),
    ],
    "Which e-mail address, and do you have a loyalty number?",
    [
        call("glove_form_fill", values={"email": "amina@example.com"}),
        call("glove_form_revise", action="skip", field="loyalty_number", reason="Has none"),
    ],
    "Nairobi to Lisbon on the second of November, two people, for Amina Odhiambo. Is that right?",
    [call("glove_form_fill", values={"confirmed": True})],
]
DEFER = call("glove_goal_update", goalKey="aftercare", deferred=["seats"], ifVersion=5, reason="At check-in; aisle")
TRIP_WORDS = [
    "From Nairobi to Lisbon on 2 November, two of us. I'm Amina Odhiambo.",
    "amina@example.com, and no.",
    "Yes.",
]


class Talk:
    """A conversation with the concierge."""

    def __init__(
        self,
        script: list[ScriptedResponse],
        folder: Path,
        keeping: Keeping | None = None,
        bookings: BookingDesk | None = None,
    ) -> None:
        self.model = ScriptedModel(script)
        self.keeping = keeping or Keeping.in_memory("c1")
        self.bookings = bookings or BookingDesk(folder / "bookings.db")
        self.glove: Glove = create(self.model, now=now, keeping=self.keeping, bookings=self.bookings)
        self.diary = Diary()
        self.glove.add_subscriber(self.diary)

    async def say(self, *words: str) -> str:
        reply = ""
        for text in words:
            reply = (await self.glove.process_request(text)).text
        return reply

    def seen(self, request: int) -> list[str]:
        """The heads of what a model call was shown of goals and form."""
        texts = [message.text for message in self.model.requests[request].messages]
        heads = [text.splitlines()[0] for text in texts if text.startswith(("GOALS", "[form"))]
        return [head.split(" · ")[0] for head in heads]

    def offered(self, request: int) -> bool:
        """Whether a model call could send the itinerary."""
        return any(tool.name == "send_itinerary" for tool in self.model.requests[request].tools)

    def results(self) -> list[tuple[str, str]]:
        return [(data["name"], data["result"].status) for data in self.diary.of("tool_use_result")]

    def data(self, name: str) -> list[Any]:
        return [data["result"].data for data in self.diary.of("tool_use_result") if data["name"] == name]

    async def version(self) -> int:
        entry = await self.keeping.goals.get(GoalScope(subject="c1", key="trip"))
        assert entry is not None
        return entry.version


async def test_a_trip_is_booked_step_by_step_as_in_the_guide(tmp_path: Path) -> None:
    talk = Talk([*BOOKED, [DEFER, call("send_itinerary")], "You are booked."], tmp_path)
    assert await talk.say(*TRIP_WORDS) == "You are booked."
    assert [talk.seen(request) for request in range(len(talk.model.requests))] == [
        ["GOALS — trip (version 1; active)"],
        ["GOALS — trip (version 2; active)", '[form: trip-booking] step 2/2 "Lead traveller"'],
        ["GOALS — trip (version 2; active)", '[form: trip-booking] step 2/2 "Lead traveller"'],
        ["GOALS — trip (version 2; active)", '[form: trip-booking] step 2/2 "Lead traveller"'],
        ["GOALS — trip (version 2; active)", '[form: trip-booking] step 2/2 "Lead traveller"'],
        ["GOALS — trip (version 5; active)"],
        ["GOALS — trip (version 7; completed)"],
    ]
    assert [talk.offered(request) for request in range(len(talk.model.requests))] == [False] * 5 + [True] * 2
    assert {status for _, status in talk.results()} == {"success"}


async def test_the_booking_is_made_once_and_its_reference_can_be_read(tmp_path: Path) -> None:
    talk = Talk([*BOOKED, "You are booked."], tmp_path)
    await talk.say(*TRIP_WORDS)
    (booking,) = await talk.bookings.bookings()
    assert (booking.details.origin, booking.details.travellers, booking.version) == ("Nairobi", 2, 1)
    filled = {field["id"]: field.get("value") for field in talk.data("glove_form_fill")[-1]["fields"]}
    assert filled["reference"] == booking.reference


async def test_what_was_deferred_is_listed_after_everything_is_done(tmp_path: Path) -> None:
    talk = Talk([*BOOKED, [DEFER, call("send_itinerary")], "You are booked.", "Goodbye."], tmp_path)
    await talk.say(*TRIP_WORDS, "Bye")
    shown = next(message.text for message in talk.model.requests[-1].messages if message.text.startswith("GOALS"))
    assert "- aftercare/seats: Seat preferences — At check-in; aisle" in shown
    (booking,) = await talk.bookings.bookings()
    assert await talk.bookings.itineraries() == [(booking.reference, "amina@example.com")]


async def test_the_last_two_calls_the_other_way_round_end_in_the_documented_conflict(tmp_path: Path) -> None:
    talk = Talk([*BOOKED, [call("send_itinerary"), DEFER], "You are booked."], tmp_path)
    await talk.say(*TRIP_WORDS)
    assert talk.results()[-2:] == [("send_itinerary", "success"), ("glove_goal_update", "error")]
    message = talk.diary.of("tool_use_result")[-1]["result"].message
    assert message == "Goal version conflict: expected 5, found 6. Read status and retry."


CORRECTED: list[ScriptedResponse] = [
    "You are booked.",
    [call("glove_form_revise", action="set", field="travellers", value=3, reason="One more")],
    "Three people then. Is that right?",
]


async def test_a_correction_after_the_booking_asks_for_the_yes_again_and_changes_the_booking(tmp_path: Path) -> None:
    script = [*BOOKED, *CORRECTED, [call("glove_form_fill", values={"confirmed": True})], "Changed."]
    talk = Talk(script, tmp_path)
    await talk.say(*TRIP_WORDS, "Actually, make it three.")
    assert [one.details.travellers for one in await talk.bookings.bookings()] == [2]
    assert talk.data("glove_form_revise")[-1]["complete"] is False
    await talk.say("Yes.")
    (booking,) = await talk.bookings.bookings()
    assert (booking.details.travellers, booking.version) == (3, 2)


async def test_undoing_a_correction_brings_no_stale_yes_back(tmp_path: Path) -> None:
    script = [
        *BOOKED,
        *CORRECTED,
        [call("glove_form_fill", values={"confirmed": True})],
        "Changed.",
        [call("glove_form_revise", action="undo", field="travellers")],
        "Two people then. Is that right?",
    ]
    talk = Talk(script, tmp_path)
    await talk.say(*TRIP_WORDS, "Actually, make it three.", "Yes.", "No, undo that.")
    fields = {field["id"]: field for field in talk.data("glove_form_revise")[-1]["fields"]}
    assert talk.data("glove_form_revise")[-1]["complete"] is False
    assert "confirmed" not in fields or fields["confirmed"]["status"] != "filled"
    (booking,) = await talk.bookings.bookings()
    assert (booking.details.travellers, booking.version) == (3, 2)


async def test_taking_a_yes_back_brings_no_older_one_back_to_life(tmp_path: Path) -> None:
    script = [
        *BOOKED,
        *CORRECTED,
        [call("glove_form_fill", values={"confirmed": True})],
        "Changed.",
        [call("glove_form_revise", action="undo"), call("glove_form_revise", action="undo")],
        "Two people then. Is that right?",
        [call("glove_form_fill", values={"confirmed": True})],
        "Changed back.",
    ]
    talk = Talk(script, tmp_path)
    await talk.say(*TRIP_WORDS, "Actually, make it three.", "Yes.", "No, undo all that.")
    assert talk.data("glove_form_revise")[-1]["complete"] is False
    assert (await talk.bookings.bookings())[0].details.travellers == 3
    await talk.say("Yes.")
    (booking,) = await talk.bookings.bookings()
    assert booking.details.travellers == 2


async def test_a_conversation_goes_on_in_another_process_where_it_stopped(tmp_path: Path) -> None:
    first = Talk(BOOKED[:2], tmp_path)
    await first.say(TRIP_WORDS[0])
    second = Talk([*BOOKED[2:], "You are booked."], tmp_path, first.keeping)
    await second.say(*TRIP_WORDS[1:])
    assert len(await second.bookings.bookings()) == 1
    assert await second.version() == 5


@pytest.mark.parametrize("field", ["reference", "confirmed"])
async def test_a_model_that_fills_in_what_is_not_its_to_fill_books_nothing(field: str, tmp_path: Path) -> None:
    values = {"confirmed": True, "reference": "GLV-FAKED"}
    script: list[ScriptedResponse] = [
        [call("glove_form_start", form="trip-booking", values={**SEED, field: values[field]})],
        "Which e-mail address?",
    ]
    talk = Talk(script, tmp_path)
    await talk.say(TRIP_WORDS[0])
    assert await talk.bookings.bookings() == []


async def test_a_voice_knows_what_sort_of_answer_every_question_wants(tmp_path: Path) -> None:
    asked = [
        ({}, None),
        ({"origin": "Nairobi", "destination": "Lisbon"}, "date"),
        ({"depart_date": "2026-11-02"}, "number"),
        ({"travellers": 2}, None),
        ({"full_name": "Amina Odhiambo"}, "spelling"),
        ({"email": "amina@example.com"}, None),
        ({"loyalty_number": "GL123456"}, "yes_no"),
    ]
    script: list[ScriptedResponse] = [[call("glove_form_start", form="trip-booking")], "Where from?"]
    for values, _ in asked[1:]:
        script += [[call("glove_form_fill", values=values)], "And next?"]
    talk = Talk(script, tmp_path)
    for _, kind in asked:
        await talk.say("Something.")
        expected = talk.glove.expectation
        assert (None if expected is None else expected.kind) == kind


class _SlowDesk(BookingDesk):
    """Takes its time to book."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def book(self, details: TripDetails, *, booking_key: str, idempotency_key: str) -> Booking:
        self.asked.set()
        await self.go.wait()
        return await super().book(details, booking_key=booking_key, idempotency_key=idempotency_key)


async def test_who_says_yes_and_hangs_up_is_booked(tmp_path: Path) -> None:
    desk = _SlowDesk(tmp_path / "bookings.db")
    talk = Talk(BOOKED, tmp_path, bookings=desk)
    await talk.say(*TRIP_WORDS[:2])
    signal = AbortSignal()
    yes = asyncio.create_task(talk.glove.process_request(TRIP_WORDS[2], signal))
    await desk.asked.wait()
    signal.abort("hung up")
    ending = asyncio.create_task(talk.glove.aclose())
    desk.go.set()
    await asyncio.gather(yes, ending, return_exceptions=True)
    assert [booking.version for booking in await desk.bookings()] == [1]
    assert await talk.version() == 5


async def test_who_looks_on_sees_the_goals_and_the_form_fill_up(tmp_path: Path) -> None:
    talk = Talk([*BOOKED, "You are booked."], tmp_path)
    changes: list[str] = []
    talk.glove.progress.add_listener(changes.append)
    assert await talk.glove.progress.read("goals") is None
    assert await talk.glove.progress.read("forms") == []
    await talk.say(*TRIP_WORDS)
    goals, (form,) = await talk.glove.progress.read("goals"), await talk.glove.progress.read("forms")
    assert (goals["version"], goals["activeGoal"], form["form"], form["complete"]) == (
        5,
        "aftercare",
        "trip-booking",
        True,
    )
    assert (changes.count("goals"), changes.count("forms") >= 4) == (5, True)
