"""The trip: what has to be achieved, and what has to be known for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from pydantic import StringConstraints, WithJsonSchema

from agents.concierge.bookings import Bookings, TripDetails
from agents.facts.record import Evidence, FactInput, FactSource, Verification
from agents.facts.store import FactStore
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Patch
from agents.forms.field import ask
from agents.forms.step import FormStep
from agents.goals.definition import Goal, GoalItem, define_goal_program
from agents.goals.runner import GoalRunner

__all__ = ["FORM_ID", "TRIP_GOALS", "Desk", "Traveller", "Trip", "trip_form"]

FORM_ID = "trip-booking"

TRIP_GOALS = define_goal_program(
    {
        "key": "trip",
        "goals": [
            Goal(
                key="plan",
                title="Plan the trip",
                objective="Know the route, the date, the party and who travels",
                items=(
                    GoalItem(key="route", label="Origin and destination"),
                    GoalItem(key="date", label="Departure date and party size"),
                    GoalItem(key="traveller", label="Lead traveller"),
                ),
            ).model_dump(),
            Goal(
                key="book",
                title="Book it",
                objective="Have a clear yes to the summary, then book",
                items=(
                    GoalItem(key="confirmed", label="Summary confirmed"),
                    GoalItem(key="booked", label="Booking made"),
                ),
            ).model_dump(),
            Goal(
                key="aftercare",
                title="Wrap up",
                objective="Send the itinerary, and settle what was left open",
                items=(
                    GoalItem(key="itinerary", label="Itinerary sent"),
                    GoalItem(key="seats", label="Seat preferences"),
                ),
            ).model_dump(),
        ],
    }
)
"""What the concierge has to achieve."""

EmailAddress = Annotated[
    str,
    StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$", max_length=254),
    WithJsonSchema({"type": "string", "format": "email"}),
]


class Trip(FormStep, title="Trip", preview="route, date, party size"):
    """Where to, when, and how many."""

    origin: str = ask("Flying from", "Where are you flying from?", min_length=2, max_length=60)
    destination: str = ask("Flying to", "Where would you like to fly to?", min_length=2, max_length=60)
    depart_date: date = ask("Departure date", "When do you want to leave?")
    travellers: int = ask("Number of travellers", "How many people are travelling?", ge=1, le=9)


class Traveller(FormStep, title="Lead traveller", preview="name, e-mail, loyalty number"):
    """Who travels, and the yes to all of it."""

    full_name: str = ask("Full name", "What is the lead traveller's full name?", min_length=2, max_length=100)
    email: EmailAddress = ask(
        "E-mail for the itinerary",
        "Which e-mail address should the itinerary go to? Please spell it.",
        hint="A whole address, such as joe@example.com.",
    )
    loyalty_number: str | None = ask(
        "Loyalty number",
        "Do you have a loyalty number?",
        hint="Two letters and six digits, such as GL123456.",
        pattern=r"^[A-Z]{2}\d{6}$",
        skippable=True,
    )
    confirmed: Literal[True] = ask(
        "Yes to the summary",
        "Read everything back and ask whether it is right.",
        confirms=True,
    )
    reference: str | None = ask(
        "Booking reference",
        hint="Set when the booking is made; never fill it yourself.",
        default=None,
        when=lambda form: form.checkpoint_fired("book"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the trip's executors need of a conversation."""

    goals: GoalRunner
    facts: FactStore
    bookings: Bookings


def trip_form() -> Form[Desk]:
    """Make the form: two steps, a yes, and a booking once for every state of things that somebody said yes to."""
    form = Form(
        FORM_ID,
        version=1,
        deps=Desk,
        steps=[Trip, Traveller],
        name="Trip booking",
        description="Book a flight for people who want to fly or travel: route, date, party size, lead traveller.",
        conduct=(
            "Ask for one thing at a time. Note whatever the caller volunteers, whichever step it belongs to. When only "
            "the yes is missing, read all answers back and ask whether they are right."
        ),
    )

    @form.on_complete(Trip)
    async def route_is_known(ctx: FormContext[Desk], trip: Trip) -> None:
        await ctx.deps.goals.update("plan", completed=["route", "date"], reason="The trip step of the form is complete")

    @form.on_complete(Traveller)
    async def traveller_is_known(ctx: FormContext[Desk], traveller: Traveller) -> None:
        await ctx.deps.goals.update(
            "plan", completed=["traveller"], reason="The traveller step of the form is complete"
        )

    @form.checkpoint(
        "book", when=lambda state: state.complete, blocking=True, wait_message="One moment, the trip is being booked."
    )
    async def book(ctx: FormContext[Desk]) -> Effect:
        desk = ctx.deps
        await desk.goals.update("book", completed=["confirmed"], reason="The caller said yes to the summary")
        trip, traveller = ctx.step(Trip), ctx.step(Traveller)
        booking = await desk.bookings.book(
            TripDetails(
                origin=trip.origin,
                destination=trip.destination,
                depart_date=trip.depart_date,
                travellers=trip.travellers,
                full_name=traveller.full_name,
                email=traveller.email,
                loyalty_number=traveller.loyalty_number,
            ),
            booking_key=ctx.instance_id,
            idempotency_key=ctx.idempotency_key,
        )
        await desk.facts.record(
            FactInput(
                text=f"Trip booked: {booking.reference}",
                value=booking.reference,
                source=FactSource(kind="tool", id=ctx.idempotency_key),
                verification=Verification.VERIFIED,
                evidence=Evidence(kind="action", key="trip.booked", result="success"),
            ),
            operation_id=ctx.idempotency_key,
        )
        await desk.goals.update("book", completed=["booked"], reason=f"Booking {booking.reference} was made")
        return Patch({"reference": booking.reference})

    return form
