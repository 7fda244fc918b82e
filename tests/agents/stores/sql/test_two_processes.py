"""Two processes, one conversation: nothing is lost, and who was overtaken says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from agents.core.messages import Message
from agents.models.openai_wire import write_messages
from agents.stores.sql.conversations import SqlConversations
from tests.agents.models.completions_server import complaints
from tests.agents.stores.sql.booking import (
    DONE,
    ROOMS,
    Careful,
    Where,
    agent,
    append_in_turn,
    overtake,
    processes,
    talk,
)


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


async def test_words_that_were_overtaken_are_kept_behind_what_the_other_process_said(
    database_url: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        await agent(conversations.open("shared"), ledger).process_request("Book both rooms.")
    messages = await overtaken(database_url, "response", ledger, during="while the model answered")
    assert [message.text for message in messages[-4:]] == [
        "From a: book both rooms.",
        "From b: book both rooms.",
        DONE,
        DONE,
    ]
    assert len(booked_in(ledger)) == len(ROOMS)


async def test_calls_that_were_overtaken_are_not_run_and_what_the_other_process_did_is_not_done_again(
    database_url: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    messages = await overtaken(database_url, "response", ledger, during="while the model answered")
    assert sorted(line.split()[0] for line in booked_in(ledger)) == sorted(ROOMS)
    statuses = [[result.result.status for result in message.tool_results] for message in messages]
    assert [round for round in statuses if round] == [["success", "success"], ["aborted", "aborted"]]


async def test_results_are_kept_although_the_other_process_wrote_while_a_tool_ran(
    database_url: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    messages = await overtaken(database_url, "tool", ledger, during="while tools ran")
    statuses = [result.result.status for message in messages for result in message.tool_results]
    assert statuses == ["success"] * 4
    # The other process took the calls under way for lost and made them again: whoever honours the keys books once.
    assert len(booked_in(ledger)) == 4 and len(set(booked_in(ledger))) == len(ROOMS)


async def overtaken(url: str, where: Where, ledger: Path, *, during: str) -> list[Message]:
    """Have ``b`` hold a request in the middle of one of ``a``'s; only ``a`` is told of a conflict, and once."""
    run_two(overtake, url, where, ledger)
    async with aclosing(await SqlConversations.connect(url)) as conversations:
        assert await conversations.open("notes of b").get_messages() == []
        (note,) = await conversations.open("notes of a").get_messages()
        assert "somebody else has added" in note.text and during in note.text
        store = conversations.open("shared")
        messages = await store.get_messages()
        assert max(Counter(message.id for message in messages).values()) == 1
        glove = agent(store, ledger)
        assert (await glove.process_request("Is it done?")).text == DONE
        assert isinstance(glove.model, Careful)
        wire = write_messages(glove.model.requests[-1])
        assert complaints({"stream": True, "stream_options": {"include_usage": True}, "messages": wire}) == []
        said = [message["content"] for message in wire if message["role"] == "user"]
        assert {"From a: book both rooms.", "From b: book both rooms."} <= set(said)
        return messages


def booked_in(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines()


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
