from __future__ import annotations

import time
from contextlib import aclosing
from statistics import median

from sqlalchemy import Engine, event, text

from agents.core.messages import Message
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.store import SqlStore

LONG = 10_000
RECENT = 20


async def fill(store: SqlStore) -> None:
    """A conversation with a compaction near its end, and what was heard of every agent message."""
    messages = [
        Message(
            sender="agent" if number % 2 else "user",
            text=f"Something that was said, number {number}.",
            id=f"m{number}",
            is_compaction=number == LONG - RECENT,
        )
        for number in range(LONG)
    ]
    await store.append_messages(messages)
    for message in messages[-RECENT:]:
        await store.settle(message.id, "Something", True)


async def test_a_long_compacted_conversation_opens_fast_and_only_its_window_is_read(database_url: str) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        await fill(conversations.open("long"))
    opening = []
    for _ in range(5):
        began = time.process_time()
        async with aclosing(await SqlConversations.connect(database_url)) as conversations:
            window = await conversations.open("long").get_window()
            opening.append(time.process_time() - began)
            assert len(window.messages) == len(window.settlements) == RECENT
    assert median(opening) < 0.05


async def test_a_turn_in_a_long_conversation_costs_no_more_than_in_a_short_one(sqlite_url: str) -> None:
    async with aclosing(await SqlConversations.connect(sqlite_url)) as conversations:
        short, long = conversations.open("short"), conversations.open("long")
        await fill(long)
        for number in range(RECENT):
            await short.append_messages([Message(sender="user", text="Short", id=f"m{number}")])
        costs: dict[str, list[float]] = {"short": [], "long": []}
        for number in range(30):
            for name, store in (("short", short), ("long", long)):
                began = time.process_time()
                await store.append_messages([Message(sender="user", text="More", id=f"n{number}")])
                await store.get_window()
                await store.settle(f"n{number}", "Mo", True)
                costs[name].append(time.process_time() - began)
    assert median(costs["long"]) < 1.5 * median(costs["short"])


async def test_nothing_is_found_by_looking_through_a_table(sqlite_url: str) -> None:
    """Every query of a turn goes by an index."""
    seen: list[str] = []
    async with aclosing(await SqlConversations.connect(sqlite_url)) as conversations:
        store = conversations.open("c")
        await store.append_messages([Message(sender="user", id="1")])

        @event.listens_for(Engine, "before_cursor_execute")
        def note(connection: object, cursor: object, statement: str, *_: object) -> None:
            seen.append(statement)

        try:
            await store.append_messages([Message(sender="user", id="2")])
            await store.settle("2", "", True)
            await store.get_window()
            await store.get_results("2")
            await store.get_permission("tool")
            await store.get_inbox_items("resolved")
            await store.get_tasks()
            await conversations.list_conversations()
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        selects = [statement for statement in seen if statement.startswith(("SELECT", "UPDATE"))]
        assert len(selects) > 8
        for statement in selects:
            plan = await conversations.database.read(text("EXPLAIN QUERY PLAN " + statement.replace("?", "1")))
            lines = [row.detail for row in plan if row.detail.startswith("SCAN") and "USING INDEX" not in row.detail]
            assert not lines, statement
