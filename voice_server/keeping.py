"""Where a call's conversation is kept.

Above: ``turn``. Below: the stores of ``agents``; what they do is charged to the call's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from agents.stores.keeping import Keeping, SqlKeeper
from pipelines.clock import Clock, held
from pipelines.leased import Leased
from voice_server.settings import MEMORY

__all__ = ["STORE_HOLDER", "check_database", "kept_conversation"]

STORE_HOLDER = "store"
"""By this name a store's leases are held."""


def check_database(database: str) -> str:
    """Find out whether a database can be used, before anything that takes long; a new one is set up.

    Not to be called on a loop.

    Returns:
        Where it is, without a password.

    Raises:
        ConfigurationError: it is no URL, or its driver is not installed.
        StoreError: it cannot be reached, or is newer than this program, or damaged.
    """
    if database == MEMORY:
        return MEMORY

    async def check() -> str:
        from agents.stores.sql.database import Database

        async with aclosing(await Database.connect(database)) as found:
            return found.place

    return asyncio.run(check())


@asynccontextmanager
async def kept_conversation(database: str, identifier: str, clock: Clock) -> AsyncIterator[Keeping]:
    """Open a conversation, and close its database afterwards.

    Args:
        database: the setting.
        identifier: which conversation.
        clock: the call's.

    Yields:
        Where it is kept; in memory it ends with this.
    """
    if database == MEMORY:
        yield Keeping.in_memory(identifier)
        return
    async with held(clock, STORE_HOLDER):
        keeper = await SqlKeeper.connect(database)
    try:
        keeping = keeper.open(identifier).each(lambda part: Leased(part, clock, STORE_HOLDER))
        await keeping.store.get_window()  # What was said before is read while nobody waits for it.
        yield keeping
    finally:
        async with held(clock, STORE_HOLDER):
            await keeper.aclose()
