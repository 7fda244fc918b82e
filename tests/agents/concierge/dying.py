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


def die_while_booking(folder: Path, conversation: str, words: str, nth: int) -> None:
    """Say something to the concierge, and be killed just before the n-th commit; that it answered is written down."""

    async def talk() -> None:
        async with aclosing(await SqlKeeper.connect(url_in(folder))) as keeper:
            glove = concierge(keeper.open(conversation), desk_in(folder))
            kill_at("before", nth)
            await glove.process_request(words)
            (folder / "answered").touch()

    asyncio.run(talk())


def url_in(folder: Path) -> str:
    """Where the conversation is kept."""
    return f"sqlite:///{folder}/kept.db"


def desk_in(folder: Path) -> BookingDesk:
    """The bookings service, which outlives its callers."""
    return BookingDesk(folder / "books.db")
