from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from itertools import count
from pathlib import Path

from agents.stores.sql.conversations import SqlConversations
from tests.agents.stores.sql.booking import DONE, ROOMS, Moment, agent, append_in_turn, die_in_a_request, talk

# Children are forked from a server that has imported everything: a fresh interpreter for each would take minutes.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.agents.stores.sql.booking"])


async def test_killed_before_any_commit_the_conversation_goes_on_and_nothing_is_done_or_stored_twice(
    database_url: str, tmp_path: Path
) -> None:
    await die_and_go_on(database_url, tmp_path, "before")


async def test_killed_right_after_any_commit_the_conversation_goes_on_as_well(sqlite_url: str, tmp_path: Path) -> None:
    await die_and_go_on(sqlite_url, tmp_path, "after")


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


async def test_two_processes_on_one_conversation_lose_no_message_and_are_told_of_conflicts(database_url: str) -> None:
    rounds = 6
    run_two(append_in_turn, database_url, rounds)
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        messages = await conversations.open("shared").get_messages()
        for name in ("a", "b"):
            mine = [message.id for message in messages if message.text == f"From {name}"]
            assert mine == [f"{name}{number}" for number in range(rounds)]
        assert len(messages) == 2 * rounds
        notes = [
            note.text for name in ("a", "b") for note in await conversations.open(f"notes of {name}").get_messages()
        ]
        assert sorted(notes) == sorted(f"shared {2 * n} {2 * n + 1}" for n in range(rounds))


async def test_two_processes_may_hold_requests_in_one_conversation(database_url: str, tmp_path: Path) -> None:
    run_two(talk, database_url, 3, tmp_path / "ledger")
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        store = conversations.open("shared")
        messages = await store.get_messages()
        said = [message.text for message in messages if message.from_person]
        assert Counter(said) == Counter(f"{name} {number}" for name in "ab" for number in range(3))
        assert max(Counter(message.id for message in messages).values()) == 1
        responses = [message for message in messages if message.sender == "agent"]
        assert len([message for message in responses if message.text == DONE]) == 6
        assert await store.get_turn_count() == len(responses)
        assert (await store.get_token_consumption()).tokens_out == len(responses)


async def test_two_processes_may_set_up_one_database_at_once(database_url: str) -> None:
    run_two(append_in_turn, database_url, 1)


def run_two(target: Callable[..., None], url: str, *args: object) -> None:
    together = processes.Barrier(2)
    children = [processes.Process(target=target, args=(url, name, *args, together), daemon=True) for name in ("a", "b")]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
