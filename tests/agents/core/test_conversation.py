"""Somebody else writes to the same conversation: another process, as a rule."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any

import pytest

from agents.core.compaction import Compaction
from agents.core.conversation import TRIES
from agents.core.expectation import ExpectedAnswer
from agents.core.glove import Glove
from agents.core.messages import Message, Usage
from agents.core.results import STILL_RUNNING
from agents.core.store import Store
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Anything, Diary, echo, outline, talking

CALL = ScriptedCall(name="echo", input={"word": "x"})


def somebody(store: Store, text: str = "Hello from elsewhere", **options: Any) -> Callable[[], Awaitable[object]]:
    """Somebody else, who adds a message."""
    numbers = count(1)

    async def write() -> None:
        message = Message(sender="user", text=text, id=f"{text} {next(numbers)}", **options)
        await store.append_messages([message])

    return write


def watched(*responses: Any, store: Store, **options: Any) -> tuple[Glove, ScriptedModel, Diary]:
    glove, model = talking(*responses, store=store, **options)
    diary = Diary()
    glove.add_subscriber(diary)
    return glove, model, diary


async def test_a_reply_that_was_overtaken_is_kept_once_and_reported_and_the_next_call_is_shown_both() -> None:
    store = MemoryStore("c")
    glove, model, diary = watched(["It is ", somebody(store), "nine."], "Yes.", store=store)
    await glove.process_request("What time is it?")
    stored = ["user: What time is it?", "user: Hello from elsewhere", "agent: It is nine."]
    assert outline(await store.get_messages()) == stored
    (conflict,) = diary.of("conflict")
    assert (conflict["conversation"], conflict["expected"], conflict["found"]) == ("c", 1, 2)
    assert outline(conflict["messages"]) == ["user: Hello from elsewhere"]
    assert conflict["notice"].startswith(
        "somebody else has added 1 message(s) to conversation 'c' while the model answered; nothing is lost"
    )
    await glove.process_request("Thanks")
    assert outline(model.requests[1].messages) == [*stored, "user: Thanks"]
    assert len(diary.of("conflict")) == 1


async def test_calls_that_were_overtaken_do_not_run_and_the_model_decides_again_on_what_is_there() -> None:
    store = MemoryStore()
    ran: list[str] = []
    tool = Tool(name="echo", description="Runs.", input=Anything, do=lambda given, ctx: ran.append(given.word))
    glove, model, diary = watched([CALL, somebody(store, "Do not")], "Then I will not.", store=store, tools=(tool,))
    assert (await glove.process_request("Do it")).text == "Then I will not."
    assert ran == []
    assert outline(model.requests[1].messages) == [
        "user: Do it",
        "user: Do not",
        "agent:  +echo",
        "results echo=aborted",
    ]
    (told,) = diary.of("tool_use_result")
    assert (told["result"].status, "somebody else" in told["result"].message) == ("aborted", True)
    assert len(diary.of("conflict")) == 1


async def test_once_reconsidered_calls_run_however_busy_the_conversation_is() -> None:
    store = MemoryStore()
    other = somebody(store)
    glove, _, diary = watched([CALL, other], [CALL, other], "Done.", store=store, tools=(echo(),))
    assert (await glove.process_request("Do it")).text == "Done."
    assert [told["result"].status for told in diary.of("tool_use_result")] == ["aborted", "success"]
    assert len(diary.of("conflict")) == 2


async def test_results_are_kept_and_shown_behind_their_calls_whoever_wrote_while_tools_ran() -> None:
    store = MemoryStore()
    other = somebody(store)

    async def do(given: Anything, ctx: ToolContext) -> str:
        await other()
        return "booked"

    tool = Tool(name="book", description="Books.", input=Anything, do=do)
    glove, model, diary = watched([ScriptedCall(name="book")], "Booked.", store=store, tools=(tool,))
    assert (await glove.process_request("Book it")).text == "Booked."
    assert outline(model.requests[1].messages) == [
        "user: Book it",
        "agent:  +book",
        "results book=success",
        "user: Hello from elsewhere",
    ]
    (conflict,) = diary.of("conflict")
    assert "while tools ran" in conflict["notice"]


async def test_a_result_whose_call_somebody_has_summed_up_is_still_told() -> None:
    store = MemoryStore()

    async def do(given: Anything, ctx: ToolContext) -> str:
        await somebody(store, "All so far.", is_compaction=True)()
        return "booked"

    tool = Tool(name="book", description="Books.", input=Anything, do=do)
    glove, model, _ = watched([ScriptedCall(name="book", id="c1")], "Booked.", store=store, tools=(tool,))
    await glove.process_request("Book it")
    first, told = model.requests[1].messages
    assert first.text == "All so far."
    assert told.text == 'The call of book that was running (c1) has ended: success.\nResult: "booked"'


async def test_what_the_same_agent_adds_meanwhile_is_no_conflict() -> None:
    store = MemoryStore()
    glove, _, diary = watched(store=store, tools=(echo(),))

    async def narrate() -> None:
        await glove.record("One moment.", interrupted=False)

    glove.model = ScriptedModel([[narrate, "Yes. ", CALL], "Done."])
    await glove.process_request("Go")
    assert diary.of("conflict") == []
    assert [told["result"].status for told in diary.of("tool_use_result")] == ["success"]


async def test_a_summary_that_does_not_know_of_everything_is_given_up_for_the_next_opportunity() -> None:
    store = MemoryStore()
    glove, _, diary = watched(store=store, compaction=Compaction(instructions="Sum up.", context_limit=10))
    usage = Usage(tokens_in=8, tokens_out=2)
    glove.model = model = ScriptedModel(
        ["One.", ["All ", somebody(store), "agreed."], "Two.", "All agreed, and more.", "Three."], usage=usage
    )
    for said in ("a", "b", "c"):
        await glove.process_request(said)
    assert [data["summary_message"] is None for data in diary.of("compaction_end")] == [True, False]
    assert "user: Hello from elsewhere" in outline(model.requests[2].messages)
    assert "user: Hello from elsewhere" in outline(model.requests[3].messages)
    assert len(diary.of("conflict")) == 1
    assert (await store.get_token_consumption()).tokens_out == 5 * 2


async def test_a_conversation_that_is_never_at_rest_is_added_to_all_the_same() -> None:
    class Busy(MemoryStore):
        tries = 0

        async def append_messages(
            self, messages: Sequence[Message], *, expected_version: int | None = None, usage: Usage | None = None
        ) -> int:
            if expected_version is not None:
                self.tries += 1
                await somebody(self, f"Busy {self.tries}")()
            return await super().append_messages(messages, expected_version=expected_version, usage=usage)

    store = Busy()
    glove, model, diary = watched("Yes.", "Well.", store=store)
    assert (await glove.process_request("Hello")).text == "Yes."
    assert store.tries == 1 + TRIES, "the words are tried once: they are right in any case"
    assert outline(await store.get_messages())[-1] == "agent: Yes."
    (conflict,) = diary.of("conflict")
    assert len(conflict["messages"]) == TRIES
    await glove.process_request("And?")
    assert len(model.requests[1].messages) == 3 + store.tries - TRIES


# ------------------------------------------------------------------------------------- what is remembered of it


def asking(kind: Any = "digits") -> Tool:
    async def do(given: Anything, ctx: ToolContext) -> str:
        ctx.expect(kind, length=9)
        return "asked"

    return Tool(name="ask", description="Asks.", input=Anything, do=do)


async def left_waiting(store: Store) -> Glove:
    glove, _ = talking([ScriptedCall(name="ask")], "Which number?", store=store, tools=(asking(),))
    await glove.process_request("Go")
    return glove


async def recalled(store: Store) -> ExpectedAnswer | None:
    """What another process finds."""
    glove, _ = talking(store=store)
    assert glove.expectation is None
    assert await glove.recall() == glove.expectation
    return glove.expectation


async def test_what_the_latest_reply_asked_for_is_kept_with_the_conversation() -> None:
    store = MemoryStore()
    assert await recalled(store) is None
    glove = await left_waiting(store)
    assert await recalled(store) == glove.expectation == ExpectedAnswer(kind="digits", length=9)
    glove.model = ScriptedModel(["It is nine."])
    await glove.process_request("What time is it?")
    assert await recalled(store) is None


async def test_words_said_without_the_model_and_a_summary_leave_the_question_open() -> None:
    store = MemoryStore()
    glove = await left_waiting(store)
    await glove.record("Please hold the line.")
    assert await recalled(store) == glove.expectation is not None
    glove.compaction = Compaction(instructions="Sum up.")
    glove.model = ScriptedModel(["All so far."])
    await glove.force_compaction()
    assert len((await store.get_window()).messages) == 1
    assert await recalled(store) == glove.expectation is not None


async def test_a_tool_that_goes_on_behind_the_conversation_leaves_the_earlier_question_answered() -> None:
    store = MemoryStore()
    glove = await left_waiting(store)
    go_on = asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> str:
        await go_on.wait()
        return "found"

    glove.fold(Tool(name="search", description="Searches.", input=Anything, do=do))
    glove.model = ScriptedModel([[ScriptedCall(name="search", id="s")], "Found it."])
    request = glove.begin("Two seven nine")
    running = asyncio.ensure_future(request.run())
    for _ in range(9):
        await asyncio.sleep(0)
    request.make_way()
    await running
    assert STILL_RUNNING in str(await store.get_messages())
    assert await recalled(store) is None
    go_on.set()
    await glove.errands.drain()


@pytest.mark.parametrize("heard", ["", "Which"])
async def test_a_reply_that_was_cut_short_leaves_open_what_was_asked_before(heard: str) -> None:
    store = MemoryStore()
    glove = await left_waiting(store)
    begun = asyncio.Event()

    async def begin() -> None:
        begun.set()
        await asyncio.Event().wait()

    glove.model = ScriptedModel([["Which day ", begin]])
    request = glove.begin("Two seven")
    running = asyncio.ensure_future(request.run())
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await request.settle(heard, interrupted=True)
    assert await recalled(store) == ExpectedAnswer(kind="digits", length=9)
