"""What stores keep to that have more than messages, group by group."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agents.core.messages import Usage
from agents.core.store import (
    InboxItem,
    Task,
    inbox_of,
    permissions_of,
    results_of,
    sub_agents_of,
    tasks_of,
    usage_of,
)
from agents.stores.conformance.ground import Check, Open, part, refused, result_of, said

__all__ = ["INBOX", "PERMISSIONS", "RESULTS", "SUB_AGENTS", "TASKS", "USAGE"]

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


async def consumption_is_exact_and_outlives_resets(opened: Open) -> None:
    assert await part(usage_of(opened("c"))).get_token_consumption() == Usage()
    await opened("c").add_tokens(Usage(tokens_in=5, tokens_out=2))
    await opened("c").reset_counters()
    await opened("c").add_tokens(Usage(tokens_in=3, tokens_out=1, cache_read_input_tokens=2))
    await opened("c").add_tokens(Usage(tokens_in=1, cache_read_input_tokens=0))
    used = Usage(tokens_in=9, tokens_out=3, cache_read_input_tokens=2)
    assert await part(usage_of(opened("c"))).get_token_consumption() == used


async def the_first_result_of_a_call_holds(opened: Open) -> None:
    store = part(results_of(opened("c")))
    await opened("c").append_messages([said("1"), said("2")])
    await store.record_result("1", result_of("call", "first"))
    await store.record_result("1", result_of("call", "second"))
    await store.record_result("1", result_of("other", "third"))
    again = part(results_of(opened("c")))
    assert await again.get_results("1") == {"call": result_of("call", "first"), "other": result_of("other", "third")}
    assert await again.get_results("2") == await again.get_results("unknown") == {}
    await store.record_result("2", result_of("call", "of another message"))
    assert await again.get_results("2") == {"call": result_of("call", "of another message")}
    with refused(KeyError):
        await store.record_result("3", result_of("call", "nowhere"))


async def tasks_are_replaced_and_changed_one_by_one(opened: Open) -> None:
    store, again = part(tasks_of(opened("c"))), part(tasks_of(opened("c")))
    assert await store.get_tasks() == []
    first, second = (Task(id=name, content=f"do {name}", active_form=f"doing {name}") for name in ("b", "a"))
    await store.add_tasks([first])
    await store.add_tasks([first, second])
    assert await again.get_tasks() == [first, second]
    changed = await again.update_task("b", status="in_progress")
    assert changed == Task(id="b", content="do b", active_form="doing b", status="in_progress")
    assert await store.get_tasks() == [changed, second]
    with refused(ValueError):
        await store.add_tasks([first, first])
    with refused(KeyError):
        await store.update_task("c", status="completed")
    assert await again.get_tasks() == [changed, second]
    await store.add_tasks([])
    assert await again.get_tasks() == []


async def leave_for_one_input_is_none_for_another(opened: Open) -> None:
    store, again = part(permissions_of(opened("c"))), part(permissions_of(opened("c")))
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
    store = part(permissions_of(opened("c")))
    await store.set_permission("rm", "granted", object())
    assert await store.get_permission("rm", {1, 2}) == await store.get_permission("rm") == "granted"


async def the_inbox_keeps_requests_until_they_are_answered(opened: Open) -> None:
    store, world = part(inbox_of(opened("c"))), part(inbox_of(opened("c")))
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
    store = part(inbox_of(opened("c")))
    item = InboxItem(id="1", tag="stock", request="Is it back?", created_at=NOON)
    await store.add_inbox_item(item)
    with refused(ValueError):
        await store.add_inbox_item(InboxItem(id="1", tag="stock", request="Something else?", created_at=NOON))
    with refused(ValueError):
        await store.add_inbox_item(InboxItem(id="2", tag="t", request="r", created_at=NOON.replace(tzinfo=None)))
    with refused(ValueError):
        await store.update_inbox_item("1", resolved_at=NOON.replace(tzinfo=None))
    with refused(KeyError):
        await store.update_inbox_item("3", status="resolved")
    assert await store.get_inbox_items() == [item]


async def a_durable_sub_agent_store_is_found_again_and_others_begin_anew(opened: Open) -> None:
    parent = part(sub_agents_of(opened("c")))
    kept = await parent.create_sub_agent_store("researcher", durable=True)
    await kept.append_messages([said("1")])
    again = await parent.create_sub_agent_store("researcher", durable=True)
    assert kept.identifier == again.identifier == "c__researcher"
    assert await again.get_messages() == [said("1")]
    passing = [await parent.create_sub_agent_store("researcher") for _ in range(2)]
    await passing[0].append_messages([said("1")])
    assert await passing[1].get_messages() == []
    assert len({store.identifier for store in passing}) == 2
    assert all(store.identifier.startswith("c__researcher") for store in passing)
    assert await opened("c").get_messages() == []


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
