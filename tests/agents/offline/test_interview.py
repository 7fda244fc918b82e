"""The offline model fills in a form: one question at a time, in any order, with corrections, refusals and a yes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.concierge.agent import create
from agents.concierge.bookings import Booking, BookingDesk
from agents.core.abort import AbortSignal
from agents.core.errors import AbortError
from agents.core.events import EventType
from agents.offline.model import OfflineModel
from agents.stores.keeping import Keeping
from tests.agents.core.scenes import Diary

TODAY = date(2026, 6, 1)


class Caller:
    """Talks to the concierge, which thinks by rules."""

    def __init__(self, folder: Path, keeping: Keeping | None = None) -> None:
        self.keeping = keeping or Keeping.in_memory("c1")
        self.bookings = BookingDesk(folder / "bookings.db")
        self.diary = Diary()
        self.glove = create(
            OfflineModel(today=lambda: TODAY),
            now=lambda: datetime(2026, 6, 1, 9, tzinfo=UTC),
            keeping=self.keeping,
            bookings=self.bookings,
        )
        self.glove.add_subscriber(self.diary)

    async def say(self, *said: str) -> str:
        """Say things one after the other; what is answered to the last of them."""
        spoken = ""
        for text in said:
            before = len(self.diary.of("text_delta"))
            await self.glove.process_request(text)
            spoken = "".join(data["text"] for data in self.diary.of("text_delta")[before:])
        return spoken

    def writes(self) -> list[dict[str, Any]]:
        calls = self.diary.of("tool_use")
        return [call["input"] for call in calls if call["name"] in ("glove_form_fill", "glove_form_revise")]

    async def booked(self) -> Booking:
        (booking,) = await self.bookings.bookings()
        return booking


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


BEGINS = "I need flights from Nairobi to Lisbon on the second of November, two of us."
NAME = "Amina Odhiambo."
MAIL = "A, M, I, N, A, at, A, C, M, E, dot, C, O, M."
NONE = "I don't have one."


async def test_a_trip_is_booked_by_answering_one_question_after_the_other(caller: Caller) -> None:
    conversation = [
        ("I'd like to book a trip.", "All right. Where are you flying from?"),
        ("From Nairobi.", "Where would you like to fly to?"),
        ("To Lisbon, please.", "When do you want to leave?"),
        ("On the second of November.", "How many people are travelling?"),
        ("Two.", "What is the lead traveller's full name?"),
        (NAME, "Which e-mail address should the itinerary go to? Please spell it."),
        (MAIL, "Do you have a loyalty number?"),
    ]
    for said, answered in conversation:
        assert await caller.say(said) == answered
    read_back = await caller.say("G L one two three, four five six.")
    assert read_back == (
        "Let me read that back. Flying from Nairobi. Flying to Lisbon. Departure date: Monday, the second of November "
        "2026. Number of travellers: 2. Full name: Amina Odhiambo. E-mail for the itinerary: amina@acme.com. Loyalty "
        "number: GL123456. Is that right?"
    )
    assert await caller.bookings.bookings() == []
    done = await caller.say("Yes, that's right.")
    booking = await caller.booked()
    assert done == (
        f"Done. Booking reference: {booking.reference}. The itinerary is on its way to amina@acme.com. "
        "Still open: Seat preferences. Shall I leave that for later?"
    )
    assert booking.details.loyalty_number == "GL123456"


async def test_what_the_caller_volunteers_is_not_asked_again(caller: Caller) -> None:
    assert await caller.say(BEGINS) == "What is the lead traveller's full name?"
    assert caller.writes() == [
        {
            "values": {
                "origin": "Nairobi",
                "destination": "Lisbon",
                "depart_date": "2026-11-02",
                "travellers": 2,
            }
        }
    ]


async def test_an_answer_that_does_not_exist_is_skipped_with_its_reason(caller: Caller) -> None:
    assert "Is that right?" in await caller.say(BEGINS, NAME, MAIL, NONE)
    skip = caller.writes()[-1]
    assert (skip["action"], skip["field"], skip["reason"]) == (
        "skip",
        "loyalty_number",
        "The caller said: I don't have one.",
    )


async def test_what_is_needed_is_asked_again_when_it_is_declined(caller: Caller) -> None:
    said = await caller.say(BEGINS, NAME, "I'd rather not say.")
    assert said.startswith("I am afraid I need that. Which e-mail address")


async def test_what_was_not_understood_is_said_with_what_an_answer_looks_like(caller: Caller) -> None:
    said = await caller.say(BEGINS, NAME, "the usual one")
    assert said.startswith("Sorry, I did not get that. A whole address, such as joe@example.com. Which")


@pytest.mark.parametrize(
    "said", ["What do you mean by that?", "I am not sure yet", "It depends on what you have for us"]
)
async def test_a_sentence_that_is_no_name_is_not_taken_for_one(caller: Caller, said: str) -> None:
    asked = await caller.say("I'd like to book a trip.")
    answered = await caller.say(said)
    assert answered.startswith("Sorry, I did not get that.") and answered.endswith(asked.removeprefix("All right. "))
    assert caller.writes() == []


async def test_an_answer_is_corrected_before_anything_is_booked(caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE)
    assert await caller.say("No.") == "All right. What should I change?"
    assert "Flying to Porto." in await caller.say("Change the destination to Porto.") or "Porto" in str(caller.writes())
    await caller.say("Yes.")
    assert (await caller.booked()).details.destination == "Porto"


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ("Actually, make it three.", "travellers", 3),
        ("Change the date to the third of November.", "depart_date", "2026-11-03"),
        ("No, sorry, to Porto.", "destination", "Porto"),
        ("Wait, I meant from Mombasa.", "origin", "Mombasa"),
    ],
)
async def test_a_correction_finds_the_answer_it_is_about(said: str, field: str, value: Any, caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE, said)
    last = caller.writes()[-1]
    assert (last["field"], last["value"]) == (field, value)


async def test_a_number_that_corrects_nothing_changes_nothing(caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE)
    for said in ("I don't have one.", "One moment.", "Two.", "The first one."):
        await caller.say(said)
        assert [write for write in caller.writes() if write.get("action") == "set"] == []


async def test_a_correction_after_the_booking_changes_it_once_it_was_said_yes_to(caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE, "Yes.")
    assert "Number of travellers: 3." in await caller.say("Actually, make it three.")
    assert (await caller.booked()).details.travellers == 2
    await caller.say("Yes.")
    booking = await caller.booked()
    assert (booking.details.travellers, booking.version) == (3, 2)


async def test_an_undone_correction_brings_no_stale_yes_back(caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE, "Yes.", "Actually, make it three.", "Yes.")
    assert "Number of travellers: 2." in await caller.say("Can we go back, please?", "Go back.")
    assert (await caller.booked()).version == 2


async def test_going_back_asks_the_last_question_again(caller: Caller) -> None:
    assert await caller.say(BEGINS, NAME, "Go back.") == "What is the lead traveller's full name?"


async def test_what_was_left_open_is_put_off_when_the_caller_agrees_and_stays_listed(caller: Caller) -> None:
    await caller.say(BEGINS, NAME, MAIL, NONE, "Yes.")
    assert "noted for later" in await caller.say("Yes, please.")
    await caller.say("Goodbye.")
    told = await caller.glove.render_context()
    assert any("- aftercare/seats: Seat preferences — The caller said: Yes, please." in one.text for one in told)


async def test_the_conversation_goes_on_at_the_right_question_with_another_agent(tmp_path: Path) -> None:
    first = Caller(tmp_path)
    await first.say(BEGINS)
    second = Caller(tmp_path, first.keeping)
    assert await second.say(NAME) == "Which e-mail address should the itinerary go to? Please spell it."


async def test_a_yes_that_comes_before_the_read_back_is_heard_is_taken_and_not_joined_to_what_was_said_before(
    caller: Caller,
) -> None:
    await caller.say(BEGINS, NAME, MAIL)
    signal = AbortSignal()

    class Hasty:
        async def record(self, type: EventType, data: dict[str, Any]) -> None:
            if type == "text_delta":
                signal.abort("pressed before a word was heard")

    stop = caller.glove.add_subscriber(Hasty())
    with pytest.raises(AbortError):
        await caller.glove.process_request(NONE, signal)
    stop()
    assert "Done." in await caller.say("Yes.")
    assert (await caller.booked()).details.loyalty_number is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I want to fly from London to Lisbon.", "When do you want to leave?"),
        ("I'd like to travel to Paris.", "Where are you flying from?"),
        ("Can you help me book a flight?", "All right. Where are you flying from?"),
    ],
)
async def test_however_a_wish_to_travel_is_worded_it_begins_the_form(caller: Caller, said: str, asked: str) -> None:
    assert await caller.say(said) == asked


async def test_small_talk_begins_no_form(caller: Caller) -> None:
    assert await caller.say("Hello.") == "Hello. What can I do for you?"
    joke = await caller.say("Tell me a joke about elephants.")
    assert "no rule for that" in joke and "Book a flight" in joke
    assert (await caller.say("What can you do for me?")).startswith("I am a travel concierge")
    assert await caller.keeping.forms.find(subject="c1", limit=1) == []
