"""What the fork server of the tests does once, so that its children need not: the concierge books a trip, in memory."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from pathlib import Path

from agents.concierge.bookings import BookingDesk
from agents.stores.keeping import Keeping
from tests.agents.concierge.dying import SAID, concierge


async def _talk(folder: str) -> None:
    glove = concierge(Keeping.in_memory(), BookingDesk(Path(folder) / "books.db"))
    for words in SAID:
        await glove.process_request(words)


with tempfile.TemporaryDirectory() as _folder:
    asyncio.run(_talk(_folder))
# What is there by now is the children's as well: none of them is to look through it, and copy it thereby.
gc.collect()
gc.freeze()
