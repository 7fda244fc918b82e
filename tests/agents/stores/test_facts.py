from __future__ import annotations

import asyncio
from contextlib import aclosing

from agents.facts.record import FactInput, FactScope, FactSource, FactState
from agents.facts.store import FactStore
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.facts import SqlFacts

_SCOPE = FactScope(subject="ann" * 400, context="trip ¿qué?")


def _fact(text: str) -> FactInput:
    return FactInput(text=text, source=FactSource(kind="tool", id="t\x00"), value=[text, None, {"\x00": 1}])


async def test_facts_in_a_database_are_read_again_whole(database_url: str) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as place:
        store = FactStore(SqlFacts(place.database), _SCOPE)
        first = await store.record(_fact("One."), operation_id="\x00")
        second = await store.record(_fact("Two."), operation_id="2", supersedes=first.ref)
    async with aclosing(await SqlConversations.connect(database_url)) as place:
        store = FactStore(SqlFacts(place.database), _SCOPE)
        assert await store.facts(history=True) == [first, second]
        assert await store.record(_fact("One."), operation_id="\x00") == first
        other = FactStore(SqlFacts(place.database), _SCOPE.model_copy(update={"context": "hotel"}))
        assert await other.inspect() == FactState()


async def test_a_state_is_saved_only_over_the_one_before(database_url: str) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as place:
        kept = SqlFacts(place.database)
        assert await kept.save(_SCOPE, FactState(version=1))
        assert not await kept.save(_SCOPE, FactState(version=1))
        assert not await kept.save(_SCOPE, FactState(version=3))
        assert await kept.save(_SCOPE, FactState(version=2))
        assert (await kept.read(_SCOPE)).version == 2


async def test_of_facts_recorded_over_two_connections_at_once_none_is_lost(database_url: str) -> None:
    async with (
        aclosing(await SqlConversations.connect(database_url)) as one,
        aclosing(await SqlConversations.connect(database_url)) as other,
    ):
        stores = [FactStore(SqlFacts(place.database), _SCOPE) for place in (one, other)]
        await asyncio.gather(
            *(stores[number % 2].record(_fact(str(number)), operation_id=str(number)) for number in range(4))
        )
        assert sorted(fact.text for fact in await stores[0].facts()) == ["0", "1", "2", "3"]
