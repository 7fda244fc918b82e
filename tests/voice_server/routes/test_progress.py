"""Goals and forms of a conversation, as clients are told of them, ask for them and write to them."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from agents.concierge.agent import create
from agents.concierge.bookings import BookingDesk
from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.forms.adapter import MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.field import ask
from agents.forms.mount import use_form_runner
from agents.forms.step import FormStep
from agents.offline.model import OfflineModel
from tests.voice_server.chat.visitor import visiting

ROUTE = "I need flights from Nairobi to Lisbon on the second of November, two of us."
FORM = "/api/conversations/ann/forms"


class Concierge:
    """Makes concierges, all with the same books."""

    def __init__(self, folder: Path) -> None:
        self.desk = BookingDesk(folder / "bookings.db")

    def make(self) -> Glove:
        model = OfflineModel(today=lambda: date(2026, 6, 1))
        return create(model, now=lambda: datetime(2026, 6, 1, tzinfo=UTC), bookings=self.desk).build()


@pytest.fixture
def concierge(tmp_path: Path) -> Concierge:
    return Concierge(tmp_path)


class Loan(FormStep, title="Loan"):
    amount: int = ask("Amount", "How much?")


def lender(decided: asyncio.Event) -> Glove:
    """An agent with a form that waits for somebody's decision."""
    form: Form[None] = Form("loan", version=1, steps=[Loan], name="Loan")

    @form.checkpoint("decide", when=lambda state: state.complete, blocking=True, wait_message="Somebody looks at it.")
    async def decide(ctx: FormContext[None]) -> None:
        await decided.wait()

    glove = Glove(model=OfflineModel())
    runner = use_form_runner(glove, form, store=MemoryForms()).runner

    async def begin(_: AbortSignal) -> None:
        if not await runner.list():
            await runner.start("loan")

    glove.add_preparation(begin)
    return glove.build()


async def test_a_trip_is_booked_by_words_and_answers_from_a_page_and_every_change_is_told(concierge: Concierge) -> None:
    async with visiting(concierge.make) as visitor:
        told = await visitor.say(ROUTE, conversation="ann")
        forms = [message.data["forms"][0] for message in told if message.type == "forms"]
        goals = [message.data for message in told if message.type == "goals"]
        assert told[-1].type == "ended"
        values = {field["id"]: field["value"] for field in forms[-1]["fields"]}
        assert values["origin"] == "Nairobi" and values["depart_date"] == "2026-11-02" and values["travellers"] == 2
        assert (forms[-1]["asked"], forms[-1]["complete"]) == ("full_name", False)
        assert goals[-1]["active_goal"] == "plan"
        assert [item["disposition"] for item in goals[-1]["goals"][0]["items"]] == ["done", "done", "pending"]
        assert (await visitor.ask("GET", FORM))[1]["forms"] == [forms[-1]]
        assert (await visitor.ask("GET", "/api/conversations/ann/goals"))[1] == goals[-1]

        answers = {"full_name": "Ann Lee", "E-mail for the itinerary": "ann@example.com", "loyalty": "?"}
        status, taken = await visitor.ask("POST", f"{FORM}/answers", {"values": answers})
        assert (status, taken["captured"]) == (200, ["full_name", "email"])
        assert taken["unknown"] == [{"field": "loyalty", "did_you_mean": ["loyalty_number"]}]
        assert taken["forms"]["forms"][0]["asked"] == "loyalty_number"

        told = await visitor.say("I don't have one.", conversation="ann")
        form = [message.data["forms"][0] for message in told if message.type == "forms"][-1]
        (asked,) = [field for field in form["fields"] if field["id"] == form["asked"]]
        assert asked["confirms"]
        told = await visitor.say("Yes.", conversation="ann")
        form = [message.data["forms"][0] for message in told if message.type == "forms"][-1]
        assert form["complete"] and form["asked"] is None
        assert len(await concierge.desk.bookings()) == 1


async def test_answers_that_do_not_fit_are_refused_with_what_is_wrong_with_each(concierge: Concierge) -> None:
    async with visiting(concierge.make) as visitor:
        await visitor.say(ROUTE, conversation="ann")
        status, refused = await visitor.ask("POST", f"{FORM}/answers", {"values": {"travellers": 40, "hat": "red"}})
        assert (status, refused["code"]) == (422, "form_validation_failed")
        assert [each["field"] for each in refused["details"]["rejected"]] == ["travellers"]
        assert [each["field"] for each in refused["details"]["unknown"]] == ["hat"]
        status, refused = await visitor.ask("POST", f"{FORM}/checkpoints/book", {"ok": True})
        assert (status, refused["code"]) == (409, "not_awaited")
        status, refused = await visitor.ask("POST", f"{FORM}/answers", {"values": {"hat": 1}, "instance": "other"})
        assert (status, refused["code"]) == (404, "not_found")


async def test_a_checkpoint_that_is_waited_for_is_settled_from_outside_and_nothing_is_written_meanwhile() -> None:
    decided = asyncio.Event()
    async with visiting(lambda: lender(decided)) as visitor:
        await visitor.say("Hello.", conversation="ann")
        async with visitor.following("ann") as stream:
            answering = asyncio.create_task(visitor.ask("POST", f"{FORM}/answers", {"values": {"amount": 500}}))
            told = await stream.until(lambda it: it.type == "forms" and it.data["forms"][0]["blocked_on"] is not None)
            waiting = told.data["forms"][0]
            assert (waiting["blocked_on"], waiting["waiting"]) == ("decide", "Somebody looks at it.")
            status, refused = await visitor.ask("POST", f"{FORM}/answers", {"values": {"amount": 700}})
            assert (status, refused["code"], refused["details"]["checkpoint"]) == (409, "form_blocked", "decide")
            body = {"ok": False, "error": "too much"}
            status, shown = await visitor.ask("POST", f"{FORM}/checkpoints/decide", body)
            assert (status, shown["forms"][0]["blocked_on"]) == (200, None)
            assert shown["forms"][0]["failures"] == [{"hook": "checkpoint:decide", "message": "too much"}]
            status, refused = await visitor.ask("POST", f"{FORM}/checkpoints/decide", {"ok": True})
            assert (status, refused["code"]) == (409, "not_awaited")
            decided.set()
            assert (await answering)[0] == 200


async def test_without_a_conversation_a_form_or_goals_there_is_nothing_to_see_or_to_write() -> None:
    async with visiting(lambda: Glove(model=OfflineModel()).build()) as visitor:
        for path in ("goals", "forms", "context"):
            status, refused = await visitor.ask("GET", f"/api/conversations/nobody/{path}")
            assert (status, refused["code"]) == (404, "not_found")
        told = await visitor.say("Hello.", conversation="ann")
        assert not {message.type for message in told} & {"goals", "forms"}
        assert (await visitor.ask("GET", FORM))[1] == {"forms": []}
        assert (await visitor.ask("GET", "/api/conversations/ann/goals"))[1]["program"] is None
        assert (await visitor.ask("GET", "/api/conversations/ann/context"))[1] == {"entries": []}
        status, refused = await visitor.ask("POST", f"{FORM}/answers", {"values": {"name": "Ann"}})
        assert (status, refused["message"]) == (404, "the agent has no forms")
