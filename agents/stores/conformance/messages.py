"""What every store keeps to."""

from __future__ import annotations

import asyncio

from agents.core.errors import ConflictError
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import ContentPart, Message, Settlement, ToolCall, ToolResult, ToolResultData, Usage
from agents.core.store import Window
from agents.stores.conformance.ground import Check, Open, refused, said, summed_up

__all__ = ["MESSAGES"]


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
        Message(sender="agent", id="6", expected=ExpectedAnswer(kind="choice", choices=("phone", "e-mail"))),
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
    await store.append_messages([said("1")])
    with refused(ValueError):
        await store.append_messages([said("2"), said("")])
    with refused(ConflictError):
        await store.append_messages([said("2"), said("1", "something else")])
    with refused(ConflictError):
        await store.append_messages([said("2"), said("2", "something else")])
    assert await store.get_messages() == [said("1")]


async def a_message_that_is_stored_is_not_stored_again(opened: Open) -> None:
    assert await opened("c").append_messages([said("1"), said("2")]) == 2
    assert await opened("c").append_messages([said("1"), said("2")]) == 2
    assert await opened("c").append_messages([said("2"), said("3"), said("3")]) == 3
    assert await opened("c").get_messages() == [said("1"), said("2"), said("3")]


async def an_id_taken_by_another_message_is_a_conflict_that_names_it(opened: Open) -> None:
    await opened("c").append_messages([said("1")])
    with refused(ConflictError) as refusals:
        await opened("c").append_messages([said("1", "something else")])
    assert (refusals[0].conversation, refusals[0].message_id, refusals[0].found) == ("c", "1", 1)


async def the_version_rises_with_every_message_and_every_settlement(opened: Open) -> None:
    store = opened("c")
    versions = [await store.append_messages([said("1"), said("2")])]
    await store.settle("1", "Sa", True)
    versions.append((await store.get_window()).version)
    versions.append(await store.append_messages([said("3")]))
    assert versions == sorted(set(versions)) and 0 not in versions
    await store.increment_turn()
    assert (await store.get_window()).version == versions[-1]


async def an_append_on_an_outdated_version_is_refused_and_says_what_it_found(opened: Open) -> None:
    mine, theirs = opened("c"), opened("c")
    read = (await mine.get_window()).version
    found = await theirs.append_messages([said("theirs")], expected_version=read)
    with refused(ConflictError) as refusals:
        await mine.append_messages([said("mine")], expected_version=read)
    assert (refusals[0].conversation, refusals[0].expected, refusals[0].found) == ("c", read, found)
    assert await mine.append_messages([said("mine")], expected_version=found) > found
    assert [message.id for message in await theirs.get_messages()] == ["theirs", "mine"]


async def repeating_an_append_that_arrived_succeeds_whatever_the_version_is(opened: Open) -> None:
    await opened("c").append_messages([said("1")], expected_version=0)
    assert await opened("c").append_messages([said("1")], expected_version=0) == 1


async def of_appends_on_one_version_exactly_one_succeeds(opened: Open) -> None:
    appends = [opened("c").append_messages([said(str(number))], expected_version=0) for number in range(8)]
    outcomes = await asyncio.gather(*appends, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError"] * 7 + ["int"]
    assert len(await opened("c").get_messages()) == 1


async def appends_at_the_same_time_lose_nothing(opened: Open) -> None:
    await asyncio.gather(*(opened("c").append_messages([said(f"{n}a"), said(f"{n}b")]) for n in range(8)))
    ids = [message.id for message in await opened("c").get_messages()]
    assert sorted(ids) == sorted(f"{n}{letter}" for n in range(8) for letter in "ab")
    assert all(first[:-1] == second[:-1] for first, second in zip(ids[::2], ids[1::2], strict=True))


async def a_cancelled_append_happened_whole_or_not_at_all(opened: Open) -> None:
    for patience in range(12):
        store = opened(f"c{patience}")
        async with asyncio.TaskGroup() as group:
            append = group.create_task(store.append_messages([said("1"), said("2")]))
            for _ in range(patience):
                await asyncio.wait({append}, timeout=0)
            append.cancel()
        assert len(await store.get_messages()) in (0, 2)
        await store.append_messages([said("1"), said("2"), said("3")])
        assert [message.id for message in await store.get_messages()] == ["1", "2", "3"]


async def what_a_reader_does_to_its_copy_changes_nothing(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([said("1")])
    await store.settle("1", "Sa", True)
    (await store.get_messages()).clear()
    (await store.get_settlements()).clear()
    (await store.get_window()).settlements.clear()
    assert len(await store.get_messages()) == 1
    assert len(await store.get_settlements()) == len((await store.get_window()).settlements) == 1


async def the_window_begins_at_the_last_compaction(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([said("1"), said("2")])
    await store.settle("2", "Sa", True)
    assert len((await store.get_window()).messages) == 2
    await store.append_messages([summed_up("3"), said("4")])
    await store.settle("4", "Sai", True)
    for reader in (store, opened("c")):
        window = await reader.get_window()
        assert [message.id for message in window.messages] == ["3", "4"]
        assert set(window.settlements) == {"4"}
    await store.append_messages([summed_up("5"), said("6"), summed_up("7")])
    assert [message.id for message in (await store.get_window()).messages] == ["7"]
    assert len(await store.get_messages()) == 7


async def a_window_shows_what_other_stores_of_the_conversation_wrote(opened: Open) -> None:
    mine, theirs = opened("c"), opened("c")
    await mine.append_messages([said("1")])
    assert len((await theirs.get_window()).messages) == 1
    await mine.settle("1", "Sa", True)
    await mine.append_messages([said("2")])
    await mine.settle("1", "Said", False)
    window = await theirs.get_window()
    assert [message.id for message in window.messages] == ["1", "2"]
    assert window.settlements == {"1": Settlement(message_id="1", heard="Said", interrupted=False)}
    assert window == await mine.get_window()


async def the_latest_settlement_holds_and_the_message_stays_whole(opened: Open) -> None:
    store = opened("c")
    await store.append_messages([said("1")])
    await store.settle("1", "Sa", True)
    await store.settle("1", "Said", True)
    assert await opened("c").get_settlements() == {"1": Settlement(message_id="1", heard="Said", interrupted=True)}
    assert await opened("c").get_messages() == [said("1")]
    with refused(KeyError):
        await store.settle("2", "Sa", True)


async def counters_add_up_and_are_reset_together(opened: Open) -> None:
    await opened("c").add_tokens(Usage(tokens_in=5, tokens_out=2))
    await opened("c").add_tokens(Usage(tokens_in=1, cache_read_input_tokens=1))
    await opened("c").increment_turn()
    await opened("c").increment_turn()
    assert (await opened("c").get_token_count(), await opened("c").get_turn_count()) == (8, 2)
    await opened("c").reset_counters()
    assert (await opened("c").get_token_count(), await opened("c").get_turn_count()) == (0, 0)


async def what_a_response_used_is_counted_with_it_and_only_once(opened: Open) -> None:
    used = Usage(tokens_in=5, tokens_out=2)
    for _ in range(2):
        await opened("c").append_messages([said("1")], usage=used)
    await opened("c").append_messages([said("2")])
    with refused(ConflictError):
        await opened("c").append_messages([said("3")], expected_version=0, usage=used)
    assert (await opened("c").get_token_count(), await opened("c").get_turn_count()) == (7, 1)


async def counts_at_the_same_time_all_count(opened: Open) -> None:
    await asyncio.gather(*(opened("c").add_tokens(Usage(tokens_in=1)) for _ in range(8)))
    assert await opened("c").get_token_count() == 8


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
    what_a_response_used_is_counted_with_it_and_only_once,
    counts_at_the_same_time_all_count,
)
