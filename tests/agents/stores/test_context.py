from __future__ import annotations

import asyncio
from contextlib import aclosing

from agents.context.notes import NewEntry
from agents.context.writer import ContextWriter
from agents.stores.sql.context import SqlContext
from agents.stores.sql.conversations import SqlConversations


async def test_notes_in_a_database_are_read_again_by_namespace(database_url: str) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as place:
        ann = ContextWriter(SqlContext(place.database, "ann"))
        entry = await ann.add(NewEntry(section="food", content='No "meat"\x00, ¿sí?'))
    async with aclosing(await SqlConversations.connect(database_url)) as place:
        assert await ContextWriter(SqlContext(place.database, "ann")).entries() == [entry]
        assert await ContextWriter(SqlContext(place.database, "bob")).entries() == []


async def test_of_notes_made_at_the_same_time_none_is_lost(database_url: str) -> None:
    async with (
        aclosing(await SqlConversations.connect(database_url)) as one,
        aclosing(await SqlConversations.connect(database_url)) as other,
    ):
        writers = [ContextWriter(SqlContext(place.database, "ann")) for place in (one, other)]
        await asyncio.gather(
            *(writers[number % 2].add(NewEntry(section="food", content=str(number))) for number in range(10))
        )
        assert sorted(int(entry.content) for entry in await writers[0].entries()) == list(range(10))
