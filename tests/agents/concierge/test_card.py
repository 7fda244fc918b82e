"""The guide's own version: a card on the screen confirms, inside the checkpoint that books."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal

from agents.concierge.trip import TRIP_GOALS
from agents.core.selection import ToolSelection
from agents.display import DisplayManager, Slot
from agents.facts.adapter import MemoryFacts
from agents.facts.record import Evidence, FactInput, FactScope, FactSource, Verification
from agents.facts.store import FactStore
from agents.forms.adapter import MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Patch, Terminate
from agents.forms.field import ask
from agents.forms.mount import use_form_runner
from agents.forms.step import FormStep
from agents.goals.adapter import MemoryGoals
from agents.goals.mount import use_goal_runner
from agents.goals.record import GoalScope
from agents.goals.runner import GoalRunner
from agents.models.scripted import ScriptedResponse
from tests.agents.concierge.test_agent import SEED, TRIP_WORDS, call
from tests.agents.core.scenes import Diary, talking


class Trip(FormStep, title="Trip", preview="route, date, party size"):
    origin: str = ask("Flying from", min_length=2)
    destination: str = ask("Flying to", min_length=2)
    depart_date: date = ask("Departure date")
    travellers: int = ask("Number of travellers", ge=1, le=9)


class Traveller(FormStep, title="Lead traveller", preview="name, email, loyalty number"):
    full_name: str = ask("Full name", min_length=2)
    email: str = ask("Email for the itinerary", min_length=3)
    loyalty_number: str | None = ask("Loyalty number", pattern=r"^[A-Z]{2}\d{6}$", skippable=True)
    reference: str | None = ask("Booking reference", default=None, when=lambda form: form.checkpoint_fired("book"))


@dataclass
class Desk:
    goals: GoalRunner
    facts: FactStore
    booked: dict[str, str] = field(default_factory=dict[str, str])


def _form() -> Form[Desk]:
    form = Form("trip-booking", version=1, deps=Desk, steps=[Trip, Traveller], name="Trip booking")

    @form.on_complete(Trip)
    async def route(ctx: FormContext[Desk], trip: Trip) -> None:
        await ctx.deps.goals.update("plan", completed=["route", "date"], reason="The trip step is complete")

    @form.on_complete(Traveller)
    async def traveller(ctx: FormContext[Desk], traveller: Traveller) -> None:
        await ctx.deps.goals.update("plan", completed=["traveller"], reason="The traveller step is complete")

    @form.checkpoint(
        "book", when=lambda state: state.complete, blocking=True, wait_message="Waiting for the card to be confirmed."
    )
    async def book(ctx: FormContext[Desk]) -> Effect:
        if ctx.display is None:
            return Terminate("There is no screen to confirm on. Nothing was booked.")
        answer: Literal["confirm", "cancel"] = await ctx.display.push_and_wait(
            "confirm_trip", {"full_name": ctx.values["full_name"]}
        )
        if answer != "confirm":
            return Terminate("Not confirmed on the card. Nothing was booked.")
        await ctx.deps.goals.update("book", completed=["confirmed"], reason="Confirm was pressed on the card")
        reference = ctx.deps.booked.setdefault(ctx.idempotency_key, f"GLV-{len(ctx.deps.booked) + 1}")
        await ctx.deps.facts.record(
            FactInput(
                text=f"Flight booked: {reference}",
                source=FactSource(kind="tool", id=ctx.idempotency_key),
                verification=Verification.VERIFIED,
                evidence=Evidence(kind="action", key="trip.booked", result="success"),
            ),
            operation_id=ctx.idempotency_key,
        )
        await ctx.deps.goals.update("book", completed=["booked"], reason=f"Booking {reference} placed")
        return Patch({"reference": reference})

    return form


SCRIPT: list[ScriptedResponse] = [
    [call("glove_form_start", form="trip-booking", values=SEED)],
    "Which address, and do you have a loyalty number?",
    [
        call("glove_form_fill", values={"email": "amina@example.com"}),
        call("glove_form_revise", action="skip", field="loyalty_number", reason="Has none"),
    ],
    "Done.",
]


class Booth:
    """Somebody in front of a screen, or in front of none."""

    def __init__(self, *, presses: str | None) -> None:
        self.glove, self.model = talking(*SCRIPT)
        self.diary = Diary()
        self.glove.add_subscriber(self.diary)
        scope = GoalScope(subject="c1", key="trip")
        now = lambda: datetime(2026, 6, 1, tzinfo=UTC)  # noqa: E731 - as short as it is said
        self.goals = use_goal_runner(
            self.glove, MemoryGoals(), scope=scope, tools=ToolSelection(deny=("start",)), now=now
        ).runner
        facts = FactStore(MemoryFacts(), FactScope(subject="c1", context="trip"), now=now)
        self.desk = Desk(goals=self.goals, facts=facts)
        self.forms = use_form_runner(self.glove, _form(), store=MemoryForms(), deps=self.desk, subject="c1").runner
        self.cards: list[Slot] = []
        self.lines: list[str] = []
        if presses is not None:
            self._show(presses)

    def _show(self, presses: str) -> None:
        screen = DisplayManager()

        def look(slots: tuple[Slot, ...]) -> None:
            for slot in slots:
                if slot.renderer == "confirm_trip" and slot not in self.cards:
                    self.cards.append(slot)
                    screen.resolve(slot.id, presses)

        screen.add_listener(look)
        self.glove.display = screen

    async def hold(self) -> None:
        await self.goals.start(TRIP_GOALS, "The conversation begins")
        for words in TRIP_WORDS[:2]:
            await self.glove.process_request(words)

    async def versions(self) -> int:
        status = await self.goals.status()
        assert status is not None
        return status.version

    def last(self) -> Any:
        return self.diary.of("tool_use_result")[-1]["result"].data


async def test_the_card_is_shown_when_the_last_answer_is_there_and_confirm_books() -> None:
    booth = Booth(presses="confirm")
    await booth.hold()
    assert [card.input["full_name"] for card in booth.cards] == ["Amina Odhiambo"]
    assert list(booth.desk.booked.values()) == ["GLV-1"]
    assert await booth.versions() == 5
    assert {row["id"]: row.get("value") for row in booth.last()["fields"]}["reference"] == "GLV-1"
    (key,) = booth.desk.booked
    assert key.endswith(":checkpoint:book:1")


async def test_cancel_closes_the_form_and_books_nothing() -> None:
    booth = Booth(presses="cancel")
    await booth.hold()
    assert booth.desk.booked == {}
    assert booth.last()["status"] == "abandoned"
    assert booth.last()["closed_reason"] == "Not confirmed on the card. Nothing was booked."


async def test_where_nobody_has_a_screen_the_card_is_refused_with_a_reason() -> None:
    booth = Booth(presses=None)
    await booth.hold()
    assert booth.desk.booked == {}
    assert "no screen" in booth.last()["closed_reason"]
