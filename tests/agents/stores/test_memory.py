"""What the conformance suite cannot ask of every store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agents.core.messages import Message
from agents.stores.memory import MemoryConversations, MemoryStore


async def test_a_conversation_is_dated_by_the_time_it_is_given() -> None:
    moments = iter([datetime(2026, 3, 3, 12, tzinfo=UTC) + timedelta(minutes=n) for n in range(3)])
    place = MemoryConversations(now=lambda: next(moments))
    for number in range(3):
        await place.open("c").append_messages([Message(sender="user", id=str(number))])
    (line,) = await place.list_conversations()
    assert line.updated_at - line.created_at == timedelta(minutes=2)


async def test_opened_twice_it_is_the_same_store() -> None:
    place = MemoryConversations()
    assert place.open("c") is place.open("c") is not place.open("d")


async def test_a_window_is_not_touched_by_what_is_appended_later() -> None:
    store = MemoryStore()
    await store.append_messages([Message(sender="user", id="1")])
    window = await store.get_window()
    await store.append_messages([Message(sender="user", id="2")])
    await store.settle("1", "", True)
    assert (len(window.messages), window.settlements, window.version) == (1, {}, 1)
