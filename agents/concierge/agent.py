"""The concierge, put together: goals, a form, facts, and one tool that exists only after the booking."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agents.concierge.bookings import BookingDesk, Bookings
from agents.concierge.trip import TRIP_GOALS, Desk, trip_form
from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.model import Model
from agents.core.selection import ToolSelection
from agents.core.tools import Tool, ToolContext
from agents.facts.mount import use_facts
from agents.facts.record import FactScope
from agents.facts.store import FactStore
from agents.forms.mount import use_form_runner
from agents.forms.runner import FormRunner
from agents.goals.mount import use_goal_runner
from agents.goals.record import GoalScope
from agents.goals.runner import GoalRunner
from agents.goals.status import GoalStatus, ProgramStatus
from agents.stores.keeping import Keeping

__all__ = ["SYSTEM_PROMPT", "create"]

SYSTEM_PROMPT = (
    "You are a travel concierge on the phone. What you write is spoken aloud: short plain sentences, no lists, no "
    "markup. Work through the goals in order. Collect what the booking needs with the form trip-booking, and begin it "
    "as soon as somebody wants to travel. Record with record_fact what may matter later. Never say that something was "
    "booked or sent unless a tool result says so."
)

ABOUT = (
    "I am a travel concierge, and I book flights. Tell me where you are flying from and where to, on which day, and "
    "how many of you are travelling, all at once or one after the other. Then I ask who travels, and where the "
    "itinerary should go. I read everything back before I book, and you can change your mind at any time, even "
    "afterwards. You can interrupt me whenever you like, and I will stop and listen."
)

BOOKS = Path(tempfile.gettempdir()) / "glove-voice" / "bookings.db"
"""Where the example's bookings service keeps its books when nobody names a place."""


class Nothing(BaseModel):
    """No input."""


def create(
    model: Model,
    *,
    now: Callable[[], datetime],
    keeping: Keeping | None = None,
    bookings: Bookings | None = None,
) -> Glove:
    """Make the concierge for one conversation.

    Args:
        model: who talks.
        now: the local time.
        keeping: where the conversation is kept, and what goes with it; in memory by default.
        bookings: the service that books; the example's own by default.
    """
    kept = keeping or Keeping.in_memory()
    desk = bookings or BookingDesk(BOOKS)
    glove = Glove(
        model=model,
        store=kept.store,
        system_prompt=SYSTEM_PROMPT,
        framework_tools=ToolSelection(allow=()),  # The goals are the list.
    )
    subject = kept.conversation
    facts = use_facts(glove, FactStore(kept.facts, FactScope(subject=subject, context="trip"), now=now))
    goals = use_goal_runner(
        glove,
        kept.goals,
        scope=GoalScope(subject=subject, key="trip"),
        tools=ToolSelection(deny=("start",)),  # What is to be achieved, the host says.
        configure=lambda glove, status: _offer_itinerary(glove, status, itinerary),
        now=now,
    ).runner
    forms = use_form_runner(
        glove, trip_form(), store=kept.forms, deps=Desk(goals=goals, facts=facts, bookings=desk), now=now
    ).runner
    itinerary = send_itinerary(goals, forms, desk)
    glove.fold(describe_concierge())

    async def begin(_signal: AbortSignal) -> None:
        if await goals.status() is None:
            await goals.start(TRIP_GOALS, "The conversation begins")

    glove.add_preparation(begin)
    return glove


def describe_concierge() -> Tool:
    """Make the tool that says what the concierge can do."""

    def do(_: Nothing, ctx: ToolContext) -> dict[str, str]:
        return {"say": ABOUT}

    return Tool(
        name="describe_concierge",
        description="Say at length what you can do for the caller.",
        input=Nothing,
        do=do,
        examples=("what can you do", "what can you do for me", "who are you"),
    )


def send_itinerary(goals: GoalRunner, forms: FormRunner, bookings: Bookings) -> Tool:
    """Make the tool that sends the itinerary of what was booked."""

    async def do(_: Nothing, ctx: ToolContext) -> Any:
        # What was checked and booked, not what a model may believe.
        reference = (await forms.values()).get("reference")
        if reference is None:
            return ToolResultData(status="error", message="nothing is booked yet")
        address = await bookings.send_itinerary(reference, idempotency_key=ctx.idempotency_key)
        await goals.update("aftercare", completed=["itinerary"], reason=f"Itinerary sent to {address}")
        return {"say": f"The itinerary is on its way to {address}."}

    return Tool(
        name="send_itinerary",
        description="Send the itinerary of the trip that was booked to the lead traveller.",
        input=Nothing,
        do=do,
        unabortable=True,
        examples=("send me the itinerary", "can you e-mail me the itinerary"),
    )


def _offer_itinerary(glove: Glove, status: ProgramStatus | None, tool: Tool) -> None:
    book = None if status is None else status.goal("book")
    booked = book is not None and book.status is GoalStatus.COMPLETED
    glove.replace_tools([tool.name], [tool] if booked else [])
