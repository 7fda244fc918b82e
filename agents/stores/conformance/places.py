"""What a place with many conversations keeps to, whose stores have every group."""

from __future__ import annotations

from agents.core.store import Conversations, Window, sub_agents_of
from agents.stores.conformance.ground import PlaceCheck, part, refused, said

__all__ = ["CONVERSATIONS"]


async def conversations_are_listed_latest_first(place: Conversations) -> None:
    place.open("never written to")
    for name in ("a", "b", "a", "c"):
        store = place.open(name)
        await store.append_messages([said(str(len(await store.get_messages())))])
    await part(sub_agents_of(store)).create_sub_agent_store("helper", durable=True)
    listed = await place.list_conversations()
    assert [(line.identifier, line.messages) for line in listed] == [("c", 1), ("a", 2), ("b", 1)]
    assert all(line.created_at <= line.updated_at and line.created_at.tzinfo is not None for line in listed)
    assert await place.list_conversations(limit=1) == listed[:1]
    assert await place.list_conversations(before=listed[0].updated_at) == listed[1:]


async def asking_for_a_conversation_does_not_begin_it(place: Conversations) -> None:
    assert not await place.has("a")
    store = place.open("a")
    assert not await place.has("a")
    await store.append_messages([said("1")])
    await part(sub_agents_of(store)).create_sub_agent_store("helper", durable=True)
    assert await place.has("a") and not await place.has("a__helper")
    await place.delete("a")
    assert not await place.has("a")


async def a_deleted_conversation_is_gone_with_its_sub_agents(place: Conversations) -> None:
    store = place.open("a")
    await store.append_messages([said("1"), said("2")])
    await store.settle("1", "Sa", True)
    await store.increment_turn()
    kept = await part(sub_agents_of(store)).create_sub_agent_store("helper", durable=True)
    await kept.append_messages([said("1")])
    await place.open("b").append_messages([said("1")])
    assert await place.delete("a") and not await place.delete("a") and not await place.delete("unknown")
    assert [line.identifier for line in await place.list_conversations()] == ["b"]
    anew = place.open("a")
    assert await anew.get_window() == Window() and await anew.get_turn_count() == 0
    kept = await part(sub_agents_of(anew)).create_sub_agent_store("helper", durable=True)
    assert await kept.get_messages() == []


async def a_conversation_that_begins_anew_is_not_taken_for_the_old_one(place: Conversations) -> None:
    await place.open("a").append_messages([said("1"), said("2")])
    await place.delete("a")
    store = place.open("a")
    assert await store.append_messages([said("3")], expected_version=0) == 1
    assert [message.id for message in (await store.get_window()).messages] == ["3"]


async def a_conversation_without_a_name_is_refused(place: Conversations) -> None:
    with refused(ValueError):
        place.open("")


CONVERSATIONS: tuple[PlaceCheck, ...] = (
    conversations_are_listed_latest_first,
    asking_for_a_conversation_does_not_begin_it,
    a_deleted_conversation_is_gone_with_its_sub_agents,
    a_conversation_that_begins_anew_is_not_taken_for_the_old_one,
    a_conversation_without_a_name_is_refused,
)
