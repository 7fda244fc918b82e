from __future__ import annotations

import pytest

from agents.core.errors import ConflictError
from agents.core.messages import Message, Settlement
from agents.stores.memory import MemoryStore


async def test_messages_are_added_all_or_none_and_stay_as_they_are() -> None:
    store = MemoryStore("c1")
    first = Message(sender="user", text="a", id="1")
    await store.append_messages([first])
    for taken in ("1", "", "2"):
        with pytest.raises((ValueError, ConflictError), match="id of its own"):
            await store.append_messages([Message(sender="user", id="2"), Message(sender="agent", id=taken)])
    (await store.get_messages()).clear()
    assert await store.get_messages() == [first]
    assert store.identifier == "c1"


async def test_a_settlement_is_a_record_beside_the_message_and_the_latest_holds() -> None:
    store = MemoryStore()
    message = Message(sender="agent", text="one two three", id="1")
    await store.append_messages([message])
    await store.settle("1", "one", True)
    await store.settle("1", "one two", True)
    assert await store.get_settlements() == {"1": Settlement(message_id="1", heard="one two", interrupted=True)}
    assert await store.get_messages() == [message]
    with pytest.raises(KeyError):
        await store.settle("2", "one", True)
