from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime

from sqlalchemy import func, select

from agents.concierge.agent import create
from agents.concierge.bookings import BookingDesk
from agents.context.notes import NewEntry
from agents.context.writer import ContextWriter
from agents.facts.record import FactInput, FactScope, FactSource
from agents.facts.store import FactStore
from agents.goals.record import GoalScope
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.keeping import Keeping, MemoryKeeper, SqlKeeper
from agents.stores.sql.schema import TABLES, conversations, schema_version


async def _live(keeping: Keeping) -> None:
    """Leave something behind everywhere."""
    start = ScriptedCall(name="glove_form_start", input={"form": "trip-booking", "values": {"origin": "Nairobi"}})
    glove = create(
        ScriptedModel([[start], "Where to?"]),
        now=lambda: datetime(2026, 6, 1, tzinfo=UTC),
        keeping=keeping,
        bookings=BookingDesk.__new__(BookingDesk),
    )
    await glove.process_request("From Nairobi")
    facts = FactStore(keeping.facts, FactScope(subject=keeping.conversation, context="trip"))
    await facts.record(FactInput(text="A fact.", source=FactSource(kind="person", id="p")), operation_id="op1")
    await ContextWriter(keeping.context).add(NewEntry(section="food", content="No meat."))


async def _kept(keeping: Keeping) -> list[bool]:
    scope = FactScope(subject=keeping.conversation, context="trip")
    return [
        bool(await keeping.store.get_messages()),
        bool(await keeping.forms.find(subject=keeping.conversation, limit=1)),
        await keeping.goals.get(GoalScope(subject=keeping.conversation, key="trip")) is not None,
        bool((await keeping.facts.read(scope)).facts),
        bool(await keeping.context.read()),
    ]


async def test_what_goes_with_a_conversation_in_a_database_is_found_again_and_deleted_with_it(
    database_url: str,
) -> None:
    names = ("ann", "ann%", 'ann","x', "annabel")
    async with aclosing(await SqlKeeper.connect(database_url)) as keeper:
        for name in names:
            await _live(keeper.open(name))
            assert await _kept(keeper.open(name)) == [True] * 5
        assert await keeper.delete("ann")
        assert not await keeper.delete("ann")
        assert await _kept(keeper.open("ann")) == [False] * 5
        for name in names[1:]:
            assert await _kept(keeper.open(name)) == [True] * 5
            await keeper.delete(name)
        left = {
            table.name: (await keeper.conversations.database.read(select(func.count()).select_from(table)))[0][0]
            for table in TABLES.sorted_tables
            if table not in (schema_version, conversations)
        }
        assert set(left.values()) == {0}, left


async def test_what_goes_with_a_conversation_in_memory_is_forgotten_with_it() -> None:
    keeper = MemoryKeeper(keep=2)
    await _live(keeper.open("ann"))
    assert await _kept(keeper.open("ann")) == [True] * 5
    assert await keeper.delete("ann")
    assert await _kept(keeper.open("ann")) == [False] * 5
    await _live(keeper.open("bob"))
    keeper.open("cy")
    keeper.open("di")
    assert await _kept(keeper.open("bob")) == [False] * 5
