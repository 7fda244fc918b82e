from __future__ import annotations

import signal
from collections import Counter
from contextlib import aclosing
from itertools import count
from pathlib import Path

from agents.stores.sql.conversations import SqlConversations
from tests.agents.stores.sql.booking import DONE, ROOMS, Moment, agent, die_in_a_request, processes


async def test_killed_before_any_commit_the_conversation_goes_on_and_nothing_is_done_or_stored_twice(
    database_url: str, tmp_path: Path
) -> None:
    await die_and_go_on(database_url, tmp_path, "before")


async def test_killed_right_after_any_commit_the_conversation_goes_on_as_well(
    database_url: str, tmp_path: Path
) -> None:
    await die_and_go_on(database_url, tmp_path, "after")


async def die_and_go_on(database_url: str, tmp_path: Path, moment: Moment) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        reached: list[tuple[int, int]] = []
        for nth in count(1):
            conversation, ledger = f"c{nth}", tmp_path / f"ledger{nth}"
            child = processes.Process(
                target=die_in_a_request, args=(database_url, conversation, ledger, moment, nth), daemon=True
            )
            child.start()
            child.join(30)
            assert child.exitcode in (0, -signal.SIGKILL), f"at commit {nth}"
            reached.append(await goes_on(conversations, conversation, ledger, whole=child.exitcode == 0))
            if child.exitcode == 0:
                break
    assert reached == sorted(reached)
    assert {(1, 0), (2, 0), (2, 1), (3, 2), (4, 2)} <= set(reached), "messages and results there at a death"


async def goes_on(conversations: SqlConversations, conversation: str, ledger: Path, *, whole: bool) -> tuple[int, int]:
    """Go on with a conversation whose process died, and look for what is lost or double.

    Returns:
        How many messages and results of tools had been stored.
    """
    store = conversations.open(conversation)
    before = await store.get_messages()
    recorded = {result.result.data for message in before for result in message.tool_results}
    for message in before:
        recorded |= {result.result.data for result in (await store.get_results(message.id)).values()}
    answer = await agent(store, ledger).process_request("Is it done?")
    assert answer.text == DONE
    after = await store.get_messages()
    assert after[: len(before)] == before
    assert max(Counter(message.id for message in after).values()) == 1
    assert [message.text for message in after if message.from_person].count("Is it done?") == 1
    lines = lines_of(ledger)
    booked = Counter(line.split()[0] for line in lines)
    assert set(booked) == set(ROOMS)
    for room in recorded:
        assert booked[room] == 1, "its result was recorded, and yet it was run again"
    assert len(set(lines)) == len(ROOMS), "a call that was lost is tried again under another idempotency key"
    assert not whole or len(lines) == len(ROOMS)
    return len(before), len(recorded)


def lines_of(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines()
