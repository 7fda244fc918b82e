"""The form of the design, as its author writes it; held to strict types by the checks of the whole tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Patch
from agents.forms.field import ask
from agents.forms.step import FormStep


class Trip(FormStep, title="Trip", preview="route, date, party size"):
    origin: str = ask("Flying from", min_length=2)
    destination: str = ask("Flying to", min_length=2)
    depart_date: date = ask("Departure date")
    travellers: int = ask("How many people", ge=1, le=9)


class Traveller(FormStep, title="Lead traveller", preview="name, loyalty number"):
    full_name: str = ask("Full name", min_length=2)
    loyalty_number: str | None = ask("Loyalty number", pattern=r"^[A-Z]{2}\d{6}$", skippable=True)
    confirmed: Literal[True] = ask("Yes to the read-back", confirms=True)
    reference: str | None = ask("Booking reference", default=None, when=lambda form: form.checkpoint_fired("book"))


@dataclass
class Goals:
    done: list[str] = field(default_factory=list[str])

    async def update(self, goal: str, *, completed: list[str], reason: str) -> None:
        self.done += completed


@dataclass
class Bookings:
    made: dict[str, tuple[Trip, Traveller]] = field(default_factory=dict[str, tuple[Trip, Traveller]])

    async def book(self, trip: Trip, traveller: Traveller, *, idempotency_key: str) -> str:
        self.made.setdefault(idempotency_key, (trip, traveller))
        return f"GLV-{len(self.made)}"


@dataclass
class Desk:
    goals: Goals = field(default_factory=Goals)
    bookings: Bookings = field(default_factory=Bookings)


booking = Form(
    "trip-booking",
    version=1,
    deps=Desk,
    steps=[Trip, Traveller],
    name="Trip booking",
    conduct="Ask for one thing at a time.",
)


@booking.on_complete(Trip)
async def route_is_known(ctx: FormContext[Desk], trip: Trip) -> None:
    await ctx.deps.goals.update("plan", completed=["route", "date"], reason="The trip step is complete")


@booking.checkpoint("book", when=lambda form: form.complete, blocking=True, wait_message="One moment, I am booking.")
async def book(ctx: FormContext[Desk]) -> Effect:
    reference = await ctx.deps.bookings.book(ctx.step(Trip), ctx.step(Traveller), idempotency_key=ctx.idempotency_key)
    return Patch({"reference": reference})
