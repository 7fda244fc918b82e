"""What every store keeps to, as checks that any adapter can be run through.

A check is a coroutine function that raises ``AssertionError``; its name is the sentence it checks. It gets a function
that opens the store of a conversation by identifier, in an empty place; opened twice, both are the same conversation::

    pytest.register_assert_rewrite("agents.stores.conformance")  # for messages that show the values

    @pytest.mark.parametrize("check", checks_for(MyStore), ids=lambda check: check.__name__)
    async def test_my_store(check, tmp_path):
        await check(lambda identifier: MyStore(tmp_path, identifier))

Checks of ``CONVERSATIONS`` get a whole :class:`Conversations` instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from agents.core.errors import ConflictError
from agents.core.messages import ContentPart, Message, Settlement, ToolCall, ToolResult, ToolResultData, Usage
from agents.core.store import (
    Conversations,
    InboxItem,
    Store,
    Task,
    Window,
    inbox_of,
    permissions_of,
    results_of,
    sub_agents_of,
    tasks_of,
    usage_of,
)

__all__ = ["CONVERSATIONS", "INBOX", "MESSAGES", "PERMISSIONS", "RESULTS", "SUB_AGENTS", "TASKS", "USAGE", "checks_for"]

Open: TypeAlias = Callable[[str], Store]
Check: TypeAlias = Callable[[Open], Awaitable[None]]

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


async def a_new_conversation_is_empty(opened: Open) -> None:
    store = opened("c")
    assert store.identifier == "c"
    assert await store.get_messages() == []
    assert await store.get_window() == Window()
    assert await store.get_settlements() == {}
    assert (await store.get_token_count(), await store.get_turn_count()) == (0, 0)
    assert await store.append_messages([]) == 0


async def messages_come_back_in_order_and_whole(opened: Open) -> None:
    call = ToolCall(id="c1", tool_name="look", input_args={"deep": [1, 2.5, None, {"": "ü"}]})
    data = ToolResultData(status="error", data={"n": 1}, message="no", render_data={"html": "<p>"}, summary="none")
    conversation = [
        Message(sender="user", text="Grüß Gott 👋\x00\u202e", id="1"),
        Message(sender="user", id="2", content=(ContentPart(type="image", media_type="image/png", data="aGk="),)),
        Message(sender="agent", text="Let me look.", id="3", tool_calls=(call,)),
        Message(
            sender="user",
            text="Results",
            id="4",
            tool_results=(ToolResult(tool_name="look", call_id="c1", result=data, duration_ms=1.5),),
        ),
        Message(sender="user", text="x" * 100_000, id="5", framework_context="inbox"),
    ]
    await opened("c").append_messages(conversation[:2])
    await opened("c").append_messages(conversation[2:])
    assert await opened("c").get_messages() == conversation
    assert (await opened("c").get_window()).messages == tuple(conversation)


async def whatever_a_model_writes_can_be_stored(opened: Open) -> None:
    store = opened("c")
    half = ToolCall(id="\x00\ud83d" + "i" * 10_000, tool_name="\ud83d", input_args="{\ud83d")
    await store.append_messages([Message(sender="agent", text="half a pair \ud83d", id="1", tool_calls=(half,))])
    (message,) = await store.get_messages()
    assert message.text.startswith("half a pair ") and len(message.tool_calls) == 1


async def conversations_do_not_mix(opened: Open) -> None:
    for name in ("a", "b"):
        await opened(name).append_messages([Message(sender="user", text=name, id="1")])
        await opened(name).increment_turn()
    await opened("a").settle("1", "heard in a", True)
    assert [message.text for message in await opened("a").get_messages()] == ["a"]
    assert [message.text for message in await opened("b").get_messages()] == ["b"]
    assert (await opened("b").get_window()).settlements == {}
    assert await opened("a").get_turn_count() == 1


async def messages_are_added_all_or_none(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([_said("1")])
    with _refused(ValueError):
        await store.append_messages([_said("2"), _said("")])
    with _refused(ConflictError):
        await store.append_messages([_said("2"), _said("1", "something else")])
    with _refused(ConflictError):
        await store.append_messages([_said("2"), _said("2", "something else")])
    assert await store.get_messages() == [_said("1")]


async def a_message_that_is_stored_is_not_stored_again(opened: Open) -> None:
    assert await opened("c").append_messages([_said("1"), _said("2")]) == 2
    assert await opened("c").append_messages([_said("1"), _said("2")]) == 2
    assert await opened("c").append_messages([_said("2"), _said("3"), _said("3")]) == 3
    assert await opened("c").get_messages() == [_said("1"), _said("2"), _said("3")]


async def an_id_taken_by_another_message_is_a_conflict_that_names_it(opened: Open) -> None:
    await opened("c").append_messages([_said("1")])
    with _refused(ConflictError) as refusals:
        await opened("c").append_messages([_said("1", "something else")])
    assert (refusals[0].conversation, refusals[0].message_id, refusals[0].found) == ("c", "1", 1)


async def the_version_rises_with_every_message_and_every_settlement(opened: Open) -> None:
    store = opened("c")
    versions = [await store.append_messages([_said("1"), _said("2")])]
    await store.settle("1", "Sa", True)
    versions.append((await store.get_window()).version)
    versions.append(await store.append_messages([_said("3")]))
    assert versions == sorted(set(versions)) and 0 not in versions
    await store.increment_turn()
    assert (await store.get_window()).version == versions[-1]


async def an_append_on_an_outdated_version_is_refused_and_says_what_it_found(opened: Open) -> None:
    mine, theirs = opened("c"), opened("c")
    read = (await mine.get_window()).version
    found = await theirs.append_messages([_said("theirs")], expected_version=read)
    with _refused(ConflictError) as refusals:
        await mine.append_messages([_said("mine")], expected_version=read)
    assert (refusals[0].conversation, refusals[0].expected, refusals[0].found) == ("c", read, found)
    assert await mine.append_messages([_said("mine")], expected_version=found) > found
    assert [message.id for message in await theirs.get_messages()] == ["theirs", "mine"]


async def repeating_an_append_that_arrived_succeeds_whatever_the_version_is(opened: Open) -> None:
    await opened("c").append_messages([_said("1")], expected_version=0)
    assert await opened("c").append_messages([_said("1")], expected_version=0) == 1


async def of_appends_on_one_version_exactly_one_succeeds(opened: Open) -> None:
    appends = [opened("c").append_messages([_said(str(number))], expected_version=0) for number in range(8)]
    outcomes = await asyncio.gather(*appends, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError"] * 7 + ["int"]
    assert len(await opened("c").get_messages()) == 1


async def appends_at_the_same_time_lose_nothing(opened: Open) -> None:
    await asyncio.gather(*(opened("c").append_messages([_said(f"{n}a"), _said(f"{n}b")]) for n in range(8)))
    ids = [message.id for message in await opened("c").get_messages()]
    assert sorted(ids) == sorted(f"{n}{letter}" for n in range(8) for letter in "ab")
    assert all(first[:-1] == second[:-1] for first, second in zip(ids[::2], ids[1::2], strict=True))


async def a_cancelled_append_happened_whole_or_not_at_all(opened: Open) -> None:
    for patience in range(12):
        store = opened(f"c{patience}")
        async with asyncio.TaskGroup() as group:
            append = group.create_task(store.append_messages([_said("1"), _said("2")]))
            for _ in range(patience):
                await asyncio.wait({append}, timeout=0)
            append.cancel()
        assert len(await store.get_messages()) in (0, 2)
        await store.append_messages([_said("1"), _said("2"), _said("3")])
        assert [message.id for message in await store.get_messages()] == ["1", "2", "3"]


async def what_a_reader_does_to_its_copy_changes_nothing(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([_said("1")])
    await store.settle("1", "Sa", True)
    (await store.get_messages()).clear()
    (await store.get_settlements()).clear()
    (await store.get_window()).settlements.clear()
    assert len(await store.get_messages()) == 1
    assert len(await store.get_settlements()) == len((await store.get_window()).settlements) == 1


async def the_window_begins_at_the_last_compaction(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([_said("1"), _said("2")])
    await store.settle("2", "Sa", True)
    assert len((await store.get_window()).messages) == 2
    await store.append_messages([_summary("3"), _said("4")])
    await store.settle("4", "Sai", True)
    for reader in (store, opened("c")):
        window = await reader.get_window()
        assert [message.id for message in window.messages] == ["3", "4"]
        assert set(window.settlements) == {"4"}
    await store.append_messages([_summary("5"), _said("6"), _summary("7")])
    assert [message.id for message in (await store.get_window()).messages] == ["7"]
    assert len(await store.get_messages()) == 7


async def a_window_shows_what_other_stores_of_the_conversation_wrote(opened: Open) -> None:
    mine, theirs = opened("c"), opened("c")
    await mine.append_messages([_said("1")])
    assert len((await theirs.get_window()).messages) == 1
    await mine.settle("1", "Sa", True)
    await mine.append_messages([_said("2")])
    await mine.settle("1", "Said", False)
    window = await theirs.get_window()
    assert [message.id for message in window.messages] == ["1", "2"]
    assert window.settlements == {"1": Settlement(message_id="1", heard="Said", interrupted=False)}
    assert window == await mine.get_window()


async def the_latest_settlement_holds_and_the_message_stays_whole(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([_said("1")])
    await store.settle("1", "Sa", True)
    await store.settle("1", "Said", True)
    assert await opened("c").get_settlements() == {"1": Settlement(message_id="1", heard="Said", interrupted=True)}
    assert await opened("c").get_messages() == [_said("1")]
    with _refused(KeyError):
        await store.settle("2", "Sa", True)


async def counters_add_up_and_are_reset_together(opened: Open) -> None:
    await opened("c").add_tokens(Usage(tokens_in=5, tokens_out=2))
    await opened("c").add_tokens(Usage(tokens_in=1, cache_read_input_tokens=1))
    await opened("c").increment_turn()
    await opened("c").increment_turn()
    assert (await opened("c").get_token_count(), await opened("c").get_turn_count()) == (8, 2)
    await opened("c").reset_counters()
    assert (await opened("c").get_token_count(), await opened("c").get_turn_count()) == (0, 0)


async def counts_at_the_same_time_all_count(opened: Open) -> None:
    await asyncio.gather(*(opened("c").add_tokens(Usage(tokens_in=1)) for _ in range(8)))
    assert await opened("c").get_token_count() == 8


async def consumption_is_exact_and_outlives_resets(opened: Open) -> None:
    assert await _part(usage_of(opened("c"))).get_token_consumption() == Usage()
    await opened("c").add_tokens(Usage(tokens_in=5, tokens_out=2))
    await opened("c").reset_counters()
    await opened("c").add_tokens(Usage(tokens_in=3, tokens_out=1, cache_read_input_tokens=2))
    await opened("c").add_tokens(Usage(tokens_in=1, cache_read_input_tokens=0))
    used = Usage(tokens_in=9, tokens_out=3, cache_read_input_tokens=2)
    assert await _part(usage_of(opened("c"))).get_token_consumption() == used


async def the_first_result_of_a_call_holds(opened: Open) -> None:
    store = _part(results_of(opened("c")))
    await opened("c").append_messages([_said("1"), _said("2")])
    await store.record_result("1", _result("call", "first"))
    await store.record_result("1", _result("call", "second"))
    await store.record_result("1", _result("other", "third"))
    again = _part(results_of(opened("c")))
    assert await again.get_results("1") == {"call": _result("call", "first"), "other": _result("other", "third")}
    assert await again.get_results("2") == await again.get_results("unknown") == {}
    await store.record_result("2", _result("call", "of another message"))
    assert await again.get_results("2") == {"call": _result("call", "of another message")}
    with _refused(KeyError):
        await store.record_result("3", _result("call", "nowhere"))


async def tasks_are_replaced_and_changed_one_by_one(opened: Open) -> None:
    store, again = _part(tasks_of(opened("c"))), _part(tasks_of(opened("c")))
    assert await store.get_tasks() == []
    first, second = (Task(id=name, content=f"do {name}", active_form=f"doing {name}") for name in ("b", "a"))
    await store.add_tasks([first])
    await store.add_tasks([first, second])
    assert await again.get_tasks() == [first, second]
    changed = await again.update_task("b", status="in_progress")
    assert changed == Task(id="b", content="do b", active_form="doing b", status="in_progress")
    assert await store.get_tasks() == [changed, second]
    with _refused(ValueError):
        await store.add_tasks([first, first])
    with _refused(KeyError):
        await store.update_task("c", status="completed")
    assert await again.get_tasks() == [changed, second]
    await store.add_tasks([])
    assert await again.get_tasks() == []


async def leave_for_one_input_is_none_for_another(opened: Open) -> None:
    store, again = _part(permissions_of(opened("c"))), _part(permissions_of(opened("c")))
    await store.set_permission("rm", "granted", {"path": "a", "force": True})
    await store.set_permission("rm", "denied", {"path": "b"})
    assert await again.get_permission("rm", {"force": True, "path": "a"}) == "granted"
    assert await again.get_permission("rm", {"path": "b"}) == "denied"
    assert await again.get_permission("rm", {"path": "a"}) == "unset"
    assert await again.get_permission("rm") == "unset"
    assert await again.get_permission("mv", {"path": "b"}) == "unset"
    await again.set_permission("rm", "unset", {"path": "b"})
    assert await store.get_permission("rm", {"path": "b"}) == "unset"


async def an_input_that_cannot_be_written_counts_as_none(opened: Open) -> None:
    store = _part(permissions_of(opened("c")))
    await store.set_permission("rm", "granted", object())
    assert await store.get_permission("rm", {1, 2}) == await store.get_permission("rm") == "granted"


async def the_inbox_keeps_requests_until_they_are_answered(opened: Open) -> None:
    store, world = _part(inbox_of(opened("c"))), _part(inbox_of(opened("c")))
    first = InboxItem(id="2", tag="stock", request="Is it back?", created_at=NOON, blocking=True)
    second = InboxItem(id="1", tag="post", request="Has it come?", created_at=NOON + timedelta(hours=1))
    for item in (first, second, first):
        await store.add_inbox_item(item)
    assert await world.get_inbox_items() == await world.get_inbox_items("pending") == [first, second]
    assert await store.get_resolved_inbox_items() == []
    answered = await world.update_inbox_item("1", status="resolved", response="Yes", resolved_at=NOON)
    assert (answered.response, answered.resolved_at, answered.request) == ("Yes", NOON, "Has it come?")
    assert await store.get_resolved_inbox_items() == [answered]
    await store.update_inbox_item("1", status="consumed")
    assert await world.get_resolved_inbox_items() == []
    assert [item.id for item in await world.get_inbox_items("consumed")] == ["1"]


async def an_inbox_item_that_makes_no_sense_is_refused(opened: Open) -> None:
    store = _part(inbox_of(opened("c")))
    item = InboxItem(id="1", tag="stock", request="Is it back?", created_at=NOON)
    await store.add_inbox_item(item)
    with _refused(ValueError):
        await store.add_inbox_item(InboxItem(id="1", tag="stock", request="Something else?", created_at=NOON))
    with _refused(ValueError):
        await store.add_inbox_item(InboxItem(id="2", tag="t", request="r", created_at=NOON.replace(tzinfo=None)))
    with _refused(ValueError):
        await store.update_inbox_item("1", resolved_at=NOON.replace(tzinfo=None))
    with _refused(KeyError):
        await store.update_inbox_item("3", status="resolved")
    assert await store.get_inbox_items() == [item]


async def a_durable_sub_agent_store_is_found_again_and_others_begin_anew(opened: Open) -> None:
    parent = _part(sub_agents_of(opened("c")))
    kept = await parent.create_sub_agent_store("researcher", durable=True)
    await kept.append_messages([_said("1")])
    again = await parent.create_sub_agent_store("researcher", durable=True)
    assert kept.identifier == again.identifier == "c__researcher"
    assert await again.get_messages() == [_said("1")]
    passing = [await parent.create_sub_agent_store("researcher") for _ in range(2)]
    await passing[0].append_messages([_said("1")])
    assert await passing[1].get_messages() == []
    assert len({store.identifier for store in passing}) == 2
    assert all(store.identifier.startswith("c__researcher") for store in passing)
    assert await opened("c").get_messages() == []


async def conversations_are_listed_latest_first(place: Conversations) -> None:
    place.open("never written to")
    for name in ("a", "b", "a", "c"):
        store = place.open(name)
        await store.append_messages([_said(str(len(await store.get_messages())))])
    await _part(sub_agents_of(store)).create_sub_agent_store("helper", durable=True)
    listed = await place.list_conversations()
    assert [(line.identifier, line.messages) for line in listed] == [("c", 1), ("a", 2), ("b", 1)]
    assert all(line.created_at <= line.updated_at and line.created_at.tzinfo is not None for line in listed)
    assert await place.list_conversations(limit=1) == listed[:1]
    assert await place.list_conversations(before=listed[0].updated_at) == listed[1:]


async def a_deleted_conversation_is_gone_with_its_sub_agents(place: Conversations) -> None:
    store = place.open("a")
    await store.append_messages([_said("1"), _said("2")])
    await store.settle("1", "Sa", True)
    await store.increment_turn()
    kept = await _part(sub_agents_of(store)).create_sub_agent_store("helper", durable=True)
    await kept.append_messages([_said("1")])
    await place.open("b").append_messages([_said("1")])
    assert await place.delete("a") and not await place.delete("a") and not await place.delete("unknown")
    assert [line.identifier for line in await place.list_conversations()] == ["b"]
    anew = place.open("a")
    assert await anew.get_window() == Window() and await anew.get_turn_count() == 0
    kept = await _part(sub_agents_of(anew)).create_sub_agent_store("helper", durable=True)
    assert await kept.get_messages() == []


async def a_conversation_that_begins_anew_is_not_taken_for_the_old_one(place: Conversations) -> None:
    await place.open("a").append_messages([_said("1"), _said("2")])
    await place.delete("a")
    store = place.open("a")
    assert await store.append_messages([_said("3")], expected_version=0) == 1
    assert [message.id for message in (await store.get_window()).messages] == ["3"]


async def a_conversation_without_a_name_is_refused(place: Conversations) -> None:
    with _refused(ValueError):
        place.open("")


MESSAGES: tuple[Check, ...] = (
    a_new_conversation_is_empty,
    messages_come_back_in_order_and_whole,
    whatever_a_model_writes_can_be_stored,
    conversations_do_not_mix,
    messages_are_added_all_or_none,
    a_message_that_is_stored_is_not_stored_again,
    an_id_taken_by_another_message_is_a_conflict_that_names_it,
    the_version_rises_with_every_message_and_every_settlement,
    an_append_on_an_outdated_version_is_refused_and_says_what_it_found,
    repeating_an_append_that_arrived_succeeds_whatever_the_version_is,
    of_appends_on_one_version_exactly_one_succeeds,
    appends_at_the_same_time_lose_nothing,
    a_cancelled_append_happened_whole_or_not_at_all,
    what_a_reader_does_to_its_copy_changes_nothing,
    the_window_begins_at_the_last_compaction,
    a_window_shows_what_other_stores_of_the_conversation_wrote,
    the_latest_settlement_holds_and_the_message_stays_whole,
    counters_add_up_and_are_reset_together,
    counts_at_the_same_time_all_count,
)
"""What every store keeps to."""

USAGE: tuple[Check, ...] = (consumption_is_exact_and_outlives_resets,)
RESULTS: tuple[Check, ...] = (the_first_result_of_a_call_holds,)
TASKS: tuple[Check, ...] = (tasks_are_replaced_and_changed_one_by_one,)
PERMISSIONS: tuple[Check, ...] = (
    leave_for_one_input_is_none_for_another,
    an_input_that_cannot_be_written_counts_as_none,
)
INBOX: tuple[Check, ...] = (
    the_inbox_keeps_requests_until_they_are_answered,
    an_inbox_item_that_makes_no_sense_is_refused,
)
SUB_AGENTS: tuple[Check, ...] = (a_durable_sub_agent_store_is_found_again_and_others_begin_anew,)

CONVERSATIONS: tuple[Callable[[Conversations], Awaitable[None]], ...] = (
    conversations_are_listed_latest_first,
    a_deleted_conversation_is_gone_with_its_sub_agents,
    a_conversation_that_begins_anew_is_not_taken_for_the_old_one,
    a_conversation_without_a_name_is_refused,
)
"""What a place with many conversations keeps to, whose stores have every group."""


def checks_for(store: object) -> tuple[Check, ...]:
    """Choose the checks for the groups a store has.

    Args:
        store: the store, or its class.
    """
    groups = (
        (usage_of, USAGE),
        (results_of, RESULTS),
        (tasks_of, TASKS),
        (permissions_of, PERMISSIONS),
        (inbox_of, INBOX),
        (sub_agents_of, SUB_AGENTS),
    )
    return MESSAGES + tuple(check for find, checks in groups if find(store) is not None for check in checks)


def _said(message_id: str, text: str = "Said") -> Message:
    return Message(sender="user", text=text, id=message_id)


def _summary(message_id: str) -> Message:
    return Message(sender="user", text="What was said so far.", id=message_id, is_compaction=True)


def _result(call_id: str, data: str) -> ToolResult:
    return ToolResult(tool_name="tool", call_id=call_id, result=ToolResultData(status="success", data=data))


def _part(group: Any) -> Any:
    assert group is not None, "the store lacks methods of this group"
    return group


@contextmanager
def _refused(*kinds: type[Exception]) -> Iterator[list[Any]]:
    """Expect one of these; the list holds it afterwards."""
    refusals: list[Any] = []
    try:
        yield refusals
    except kinds as refusal:
        refusals.append(refusal)
    assert refusals, f"nothing was refused; expected {' or '.join(kind.__name__ for kind in kinds)}"
