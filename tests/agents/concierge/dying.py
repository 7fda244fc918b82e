"""The concierge in a process that is killed at a commit, for tests that go on with what it left behind."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, date, datetime
from pathlib import Path

from agents.concierge.agent import create
from agents.concierge.bookings import BookingDesk
from agents.core.glove import Glove
from agents.offline.model import OfflineModel
from agents.stores.keeping import Keeping, SqlKeeper
from tests.agents.stores.sql.booking import kill_at

ANSWERS = {
    "origin": "From Nairobi.",
    "destination": "To Lisbon.",
    "depart_date": "On the second of November.",
    "travellers": "Two.",
    "full_name": "Amina Odhiambo.",
    "email": "A, M, I, N, A, at, A, C, M, E, dot, C, O, M.",
    "loyalty_number": "I don't have one.",
    "confirmed": "Yes.",
}
BEGINS = "I need flights from Nairobi to Lisbon on the second of November, two of us."
SAID = (BEGINS, ANSWERS["full_name"], ANSWERS["email"], ANSWERS["loyalty_number"], ANSWERS["confirmed"])


def concierge(keeping: Keeping, desk: BookingDesk, *, minute: int = 0) -> Glove:
    """The concierge, which thinks by rules and lives in June. A minute later, who died is known to be dead."""
    model = OfflineModel(today=lambda: date(2026, 6, 1))
    return create(model, now=lambda: datetime(2026, 6, 1, 9, minute, tzinfo=UTC), keeping=keeping, bookings=desk)


def die_while_booking(url: str, conversation: str, books: Path, heard: Path, nth: int) -> None:
    """Book a trip, and be killed just before the n-th commit; what was answered is written down."""

    async def talk() -> None:
        async with aclosing(await SqlKeeper.connect(url)) as keeper:
            glove = concierge(keeper.open(conversation), BookingDesk(books))
            kill_at("before", nth)
            for words in SAID:
                await glove.process_request(words)
                with heard.open("a") as file:
                    file.write(f"{words}\n")

    asyncio.run(talk())
