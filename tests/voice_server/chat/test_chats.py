"""Chats on virtual time: who is waited for and how long, how many there are, and what is left of them."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.core.errors import AnswerError, ModelError
from agents.core.glove import Glove
from agents.core.messages import ContentPart
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from agents.stores.keeping import MemoryKeeper
from pipelines.clock import VirtualClock
from tests.agents.core.scenes import Anything, echo, hanging, talking
from voice_server.chat.answer import Answer
from voice_server.chat.chat import FOLLOWING, FORSAKEN_S, WAITING, Chat, CrowdedError, SlotAnsweredError
from voice_server.chat.chats import IDLE, NUMBERS, BusyError, Chats
from voice_server.clients.stream import EventStream, Follower
from voice_server.conversations import Conversations
from voice_server.settings import load_settings


class Lounge:
    """Chats with agents that a function makes, in a group of their own."""

    def __init__(self, clock: VirtualClock, make: Callable[[], Glove], group: asyncio.TaskGroup) -> None:
        self.conversations = Conversations(
            MemoryKeeper(keep=100), ScriptedModel(), lambda _model, kept, _wanted: make().rebuild(kept.store)
        )
        self.chats = Chats(load_settings(model="offline"), self.conversations, clock, group)
        self.clock = clock

    async def say(self, text: str, conversation: str = "ann") -> list[dict[str, Any]]:
        """Say something and read to the end."""
        chat = await self.chats.open(conversation)
        _, follower = chat.say(text, text)
        return await read(chat, follower)


async def read(chat: Chat, follower: Follower) -> list[dict[str, Any]]:
    """Read what a follower is told, to its end."""
    told = [json.loads(event.text) async for event in follower]
    chat.leave(follower)
    return told


def data(events: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["type"] == type]


def text(events: list[dict[str, Any]]) -> str:
    return "".join(piece["text"] for piece in data(events, "text"))


def play(make: Callable[[], Glove], story: Callable[[Lounge], Awaitable[None]]) -> None:
    """Run a story to its end on virtual time; nothing of it may be left."""
    clock = VirtualClock()

    @asynccontextmanager
    async def lounging() -> AsyncIterator[Lounge]:
        async with asyncio.TaskGroup() as group:
            lounge = Lounge(clock, make, group)
            yield lounge
            await lounge.chats.drain(0.0)
            await lounge.conversations.aclose()
            assert len(lounge.chats) == 0

    async def run() -> None:
        async with lounging() as lounge:
            await story(lounge)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    clock.run(run())


def answering(*responses: ScriptedResponse, tools: tuple[Tool, ...] = ()) -> Callable[[], Glove]:
    return lambda: talking(*responses, tools=tools)[0]


# ------------------------------------------------------------------------------------------------------- what is told


def test_every_piece_of_text_is_told_and_then_the_whole_of_it_with_its_message() -> None:
    async def story(lounge: Lounge) -> None:
        events = await lounge.say("Hello.")
        assert [event["type"] for event in events] == ["turn", "text", "text", "spoken", "ended"]
        assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
        (spoken,) = data(events, "spoken")
        assert (spoken["text"], spoken["heard"], spoken["interrupted"]) == ("Good day.", "Good day.", False)
        store = await lounge.conversations.read("ann")
        assert store is not None and spoken["message"] == (await store.get_messages())[-1].id

    play(answering(["Good ", "day."]), story)


def test_words_before_a_tool_and_what_the_tool_gave_for_the_screen_are_told() -> None:
    def seats(given: Anything, ctx: ToolContext) -> Any:
        return {"status": "success", "free": 2}

    tool = Tool(name="seats", description="", input=Anything, do=seats)

    async def story(lounge: Lounge) -> None:
        events = await lounge.say("Any seats?")
        assert [event["type"] for event in events] == [
            "turn", "text", "tool", "spoken", "tool", "text", "spoken", "ended",
        ]  # fmt: skip
        begun, ended = data(events, "tool")
        assert (begun["status"], begun["input"], ended["status"]) == ("running", {"word": "x"}, "success")

    play(answering(["Let me see.", ScriptedCall(name="seats", input={"word": "x"})], "Two.", tools=(tool,)), story)


def test_a_model_that_fails_is_told_with_its_reason_and_what_was_written_stays() -> None:
    failure = ModelError("scripted", "it is asleep")

    async def story(lounge: Lounge) -> None:
        events = await lounge.say("Hello.")
        assert data(events, "error") == [{"code": "model", "message": str(failure), "turn": 0}]
        assert data(events, "spoken")[0]["interrupted"] is True
        assert data(events, "ended") == [{"reason": "failed", "turn": 0}]
        store = await lounge.conversations.read("ann")
        assert store is not None
        assert [message.text for message in await store.get_messages()] == ["Hello.", "Good "]
        assert text(await lounge.say("Again.")) == "Good day."

    play(answering(["Good ", failure], "Good day."), story)


def test_an_agent_that_raises_something_else_quotes_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def story(lounge: Lounge) -> None:
        (error,) = data(await lounge.say("Hello."), "error")
        assert error["code"] == "internal" and "secret" not in error["message"] and "KeyError" in error["message"]

    play(answering([KeyError("secret")]), story)
    assert "an answer failed: KeyError, at scripted.py:" in caplog.text and "secret" not in caplog.text


def test_halves_of_characters_do_not_end_an_answer() -> None:
    async def story(lounge: Lounge) -> None:
        events = await lounge.say("Hello.")
        assert data(events, "ended")[0]["reason"] == "answered"
        assert data(events, "tool")[0]["input"] == {}

    calls = ScriptedCall(name="echo", input={"word": "\ud83d"})
    play(answering(["Hi \ud83d", calls], "So.", tools=(echo(),)), story)


def test_what_a_call_in_the_same_conversation_does_is_not_told_in_the_chat() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        async with lounge.conversations.join("ann") as conversation:
            await conversation.agent.process_request("By voice.")
        assert chat.stream.seq == 0
        assert text(await lounge.say("In writing.")) == "Two."

    play(answering("One.", "Two."), story)


# ------------------------------------------------------------------------------------------------ several messages


def test_a_second_message_is_answered_after_the_first() -> None:
    gate = asyncio.Event()

    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, first = chat.say("One?", "One?")
        _, second = chat.say("Two?", "Two?")
        watching = chat.follow(None)
        gate.set()
        told = await read(chat, second)
        assert data(await read(chat, first), "ended") == [{"reason": "answered", "turn": 0}]
        assert [event["turn"] for event in data(told, "ended")] == [0, 1]
        chat.leave(watching)

    play(answering([gate.wait, "One."], "Two."), story)


def test_no_more_messages_than_a_few_wait() -> None:
    gate = asyncio.Event()

    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        followers = [chat.say("?", "?")[1] for _ in range(WAITING)]
        with pytest.raises(CrowdedError, match="8 messages wait"):
            chat.say("?", "?")
        gate.set()
        for follower in followers:
            await read(chat, follower)
        assert text(await lounge.say("?")) == "."

    play(answering([gate.wait, "."], *["."] * WAITING), story)


def slow(clock_s: float = 60.0, **options: Any) -> Tool:
    async def do(given: Anything, ctx: ToolContext) -> str:
        await asyncio.sleep(clock_s)
        return "found"

    return Tool(name="search", description="", input=Anything, do=do, **options)


def test_a_slow_tool_holds_nobody_and_its_result_is_told_on_the_first_stream() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, first = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        began = lounge.clock.now()
        second = await lounge.say("Meanwhile?")
        assert lounge.clock.now() - began < 1
        assert text(second) == "Meanwhile."
        told = await read(chat, first)
        spoken = data(told, "spoken")
        assert [(event["turn"], event["kind"], event["text"]) for event in spoken] == [
            (1, "reply", "Meanwhile."),
            (0, "tool_result", "Found it."),
        ]
        tools = [(event["turn"], event["status"]) for event in data(told, "tool")]
        assert tools == [(0, "running"), (0, "success")]
        assert data(told, "ended") == [{"reason": "answered", "turn": 1}, {"reason": "answered", "turn": 0}]

    play(answering([ScriptedCall(name="search")], "Meanwhile.", "Found it.", tools=(slow(),)), story)


def test_a_late_result_whose_telling_fails_is_an_error_and_the_answer_ends() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, first = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        await lounge.say("Meanwhile?")
        told = await read(chat, first)
        assert data(told, "error")[0]["code"] == "model"
        assert data(told, "ended")[-1] == {"reason": "answered", "turn": 0}

    failure = ModelError("scripted", "it is asleep")
    play(answering([ScriptedCall(name="search")], "Meanwhile.", [failure], tools=(slow(),)), story)


def test_a_call_in_the_conversation_tells_late_results_itself() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, first = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        await lounge.say("Meanwhile?")
        waiting = []
        async with lounge.conversations.join("ann") as conversation:
            conversation.agent.errands.on_result = lambda: waiting.append(conversation.agent.errands.untold)
            told = await read(chat, first)
            assert waiting == [True]
            assert "tool_result" not in {event["kind"] for event in data(told, "spoken")}
            assert data(told, "ended")[-1]["turn"] == 0

    play(answering([ScriptedCall(name="search")], "Meanwhile.", tools=(slow(),)), story)


# ------------------------------------------------------------------------------------------------------------- aborts


def test_what_was_written_before_an_abort_stays_and_is_marked() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, follower = chat.say("Tell me.", "Tell me.")
        await asyncio.sleep(1)
        assert chat.abort() == 1
        told = await read(chat, follower)
        assert data(told, "spoken")[0]["interrupted"] and data(told, "ended") == [{"reason": "aborted", "turn": 0}]
        store = await lounge.conversations.read("ann")
        assert store is not None
        *_, cut = await store.get_messages()
        assert cut.text == "Once " and (await store.get_settlements())[cut.id].interrupted
        assert text(await lounge.say("Go on.")) == "upon a time."

    play(answering(["Once ", asyncio.Event().wait], "upon a time."), story)


def test_an_abort_stops_a_tool_that_may_be_stopped_and_waits_for_one_that_may_not() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, follower = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        chat.abort()
        told = await read(chat, follower)
        assert [event["status"] for event in data(told, "tool")] == ["running", "aborted"]
        assert lounge.clock.now() < 2
        _, follower = chat.say("Book.", "Book.")
        await asyncio.sleep(1)
        chat.abort()
        told = await read(chat, follower)
        assert [event["status"] for event in data(told, "tool")] == ["running", "success"]
        assert lounge.clock.now() > 60

    book = Tool(name="book", description="", input=Anything, do=slow().do, unabortable=True)
    play(answering([ScriptedCall(name="search")], [ScriptedCall(name="book")], tools=(slow(), book)), story)


def test_an_abort_stops_slow_tools_too_and_nobody_is_told_of_their_ends() -> None:
    hangs, _, ended = hanging()

    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, first = chat.say("Hang.", "Hang.")
        await asyncio.sleep(1)
        await lounge.say("Meanwhile?")
        assert chat.open_calls
        chat.abort()
        told = await read(chat, first)
        assert ended == ["cancelled"] and not chat.open_calls
        assert data(told, "tool")[-1]["status"] == "aborted"

    play(answering([ScriptedCall(name="hang")], "Meanwhile.", tools=(hangs,)), story)


def test_a_call_that_was_announced_and_never_run_is_told_as_aborted() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, follower = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        chat.abort()
        assert [event["status"] for event in data(await read(chat, follower), "tool")] == ["running", "aborted"]

    play(answering([ScriptedCall(name="search"), asyncio.Event().wait], tools=(slow(),)), story)


# --------------------------------------------------------------------------------------------------------- the screen


def choosing() -> Tool:
    async def do(given: Anything, ctx: ToolContext) -> str:
        assert ctx.display is not None
        return f"{await ctx.display.push_and_wait('number', {'ask': 'How many?'}, answer=int, strategy='stay')}"

    return Tool(name="choose", description="", input=Anything, do=do)


def test_a_slot_is_shown_answered_and_not_answered_twice() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        chat.have_screen()
        chat.have_screen()
        _, follower = chat.say("Choose.", "Choose.")
        await asyncio.sleep(1)
        (slot,) = chat.slots
        with pytest.raises(AnswerError, match="integer"):
            chat.resolve(slot.id, "many")
        with pytest.raises(KeyError):
            chat.resolve("slot_7", 1)
        chat.resolve(slot.id, 2)
        with pytest.raises(SlotAnsweredError):
            chat.resolve(slot.id, 3)
        chat.reject(slot.id, "seen")
        told = await read(chat, follower)
        shown = [[slot["state"] for slot in event["slots"]] for event in data(told, "slots")]
        assert shown == [["waiting"], ["answered"], []]
        assert text(told) == "Two."

    play(answering([ScriptedCall(name="choose")], "Two.", tools=(choosing(),)), story)


def test_who_left_is_waited_for_a_while_then_the_screen_goes_away_and_the_answer_ends() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        chat.have_screen()
        _, follower = chat.say("Choose.", "Choose.")
        await asyncio.sleep(1)
        chat.leave(follower)
        await asyncio.sleep(FORSAKEN_S - 1)
        assert chat.slots
        await asyncio.sleep(2)
        assert not chat.slots
        assert lounge.chats.find("ann") is None
        store = await lounge.conversations.read("ann")
        assert store is not None
        assert "the screen went away" in str(await store.get_messages())

    play(answering([ScriptedCall(name="choose")], "Well.", tools=(choosing(),)), story)


def test_who_comes_back_in_time_finds_the_slot_still_there() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        chat.have_screen()
        _, follower = chat.say("Choose.", "Choose.")
        await asyncio.sleep(1)
        chat.leave(follower)
        await asyncio.sleep(FORSAKEN_S - 1)
        follower = chat.follow(chat.stream.seq)
        await asyncio.sleep(FORSAKEN_S)
        chat.resolve(chat.slots[0].id, 2)
        await asyncio.sleep(1)
        chat.leave(follower)
        assert text(await read(chat, follower)) == "Two."

    play(answering([ScriptedCall(name="choose")], "Two.", tools=(choosing(),)), story)


# ------------------------------------------------------------------------------------------- how many, and for how long


def test_a_chat_nobody_follows_ends_after_a_while_and_its_numbers_are_not_used_again() -> None:
    async def story(lounge: Lounge) -> None:
        last = (await lounge.say("One?"))[-1]["seq"]
        await asyncio.sleep(FORSAKEN_S - 1)
        assert lounge.chats.find("ann") is not None
        await asyncio.sleep(2)
        assert lounge.chats.find("ann") is None
        chat = await lounge.chats.open("ann")
        assert chat.stream.seq > last and chat.stream.seq % NUMBERS == 0
        assert chat.stream.missed(last) and chat.stream.missed(0)
        assert text(await lounge.say("Two?")) == "Two."

    play(answering("One.", "Two."), story)


def test_a_chat_that_was_opened_and_not_used_ends_too() -> None:
    async def story(lounge: Lounge) -> None:
        await lounge.chats.open("ann")
        await asyncio.sleep(FORSAKEN_S + 1)
        assert len(lounge.chats) == 0

    play(answering(), story)


def test_the_chat_left_longest_ago_makes_room_and_those_in_use_do_not() -> None:
    async def story(lounge: Lounge) -> None:
        follower = (await lounge.chats.open("followed")).follow(None)
        for number in range(IDLE + 5):
            await lounge.say("?", f"c{number}")
            await asyncio.sleep(1)
            if number == IDLE - 1:
                await lounge.say("?", "c0")
                await asyncio.sleep(1)
        left = {chat.id for chat in lounge.chats}
        assert "followed" in left and "c0" in left and "c1" not in left
        assert len(left) == IDLE + 1
        (await lounge.chats.open("followed")).leave(follower)

    play(answering(".", "."), story)


def test_many_that_end_at_once_leave_no_more_chats_than_others() -> None:
    async def story(lounge: Lounge) -> None:
        chats = [await lounge.chats.open(f"c{number}") for number in range(IDLE)]
        followers = [(chat, chat.follow(None)) for chat in chats]
        for number in range(IDLE):
            chat = await lounge.chats.open(f"d{number}")
            followers.append((chat, chat.follow(None)))
        assert len(lounge.chats) == 2 * IDLE
        for chat, follower in followers:
            chat.leave(follower)
        assert {chat.id for chat in lounge.chats} == {f"d{number}" for number in range(IDLE)}

    play(answering(), story)


def test_more_chats_in_use_than_are_taken_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice_server.chat.chats.LIMIT", 2)

    async def story(lounge: Lounge) -> None:
        followers = [(chat, chat.follow(None)) for chat in [await lounge.chats.open(name) for name in "ab"]]
        with pytest.raises(BusyError, match="there are 2 chats"):
            await lounge.chats.open("c")
        for chat, follower in followers:
            chat.leave(follower)
        assert text(await lounge.say("?", "c")) == "."

    play(answering("."), story)


def test_more_followers_than_are_taken_are_refused() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        followers = [chat.follow(None) for _ in range(FOLLOWING)]
        with pytest.raises(CrowdedError, match="32 connections"):
            chat.follow(None)
        with pytest.raises(CrowdedError):
            chat.say("?", "?")
        for follower in followers:
            chat.leave(follower)

    play(answering(), story)


# ---------------------------------------------------------------------------------------------------------- the drain


def test_a_drain_lets_answers_end_and_then_everybody_go() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        quiet = await lounge.chats.open("bob")
        followers = [(quiet, quiet.follow(None)), (chat, chat.follow(None))]
        _, answered = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        await lounge.chats.drain(100)
        assert lounge.clock.now() == pytest.approx(60, abs=2)
        told = await read(chat, answered)
        assert text(told) == "Found it." and data(told, "ended")[0]["reason"] == "answered"
        for where, follower in followers:
            assert data(await read(where, follower), "ended")[-1] == {"reason": "draining", "turn": None}
        with pytest.raises(BusyError, match="going away"):
            await lounge.chats.open("carl")

    play(answering([ScriptedCall(name="search")], "Found it.", tools=(slow(),)), story)


def test_a_drain_stops_answers_that_take_too_long() -> None:
    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, answered = chat.say("Search.", "Search.")
        await asyncio.sleep(1)
        await lounge.chats.drain(10)
        assert lounge.clock.now() == pytest.approx(11, abs=1)
        assert data(await read(chat, answered), "ended") == [{"reason": "aborted", "turn": 0}]

    play(answering([ScriptedCall(name="search")], tools=(slow(),)), story)


# -------------------------------------------------------------------------------------------------- what is left of it


def test_nothing_is_left_of_two_hundred_chats() -> None:
    """Objects are counted while the same number of agents rests, before and after."""
    kinds = (Chat, Answer, EventStream, Follower, asyncio.Task, Glove)

    def count() -> list[int]:
        gc.collect()
        objects = gc.get_objects()
        return [sum(isinstance(found, kind) for found in objects) for kind in kinds]

    async def story(lounge: Lounge) -> None:
        async def visit(number: int) -> None:
            assert text(await lounge.say("Search.", f"c{number}")) == "Found it."

        for number in range(100):
            await visit(number)
        await asyncio.sleep(FORSAKEN_S + 1)
        before = count()
        async with asyncio.TaskGroup() as group:
            for number in range(100, 300):
                group.create_task(visit(number))
        await asyncio.sleep(FORSAKEN_S + 1)
        assert count() == before
        assert before[:4] == [0, 0, 0, 0]

    play(answering([ScriptedCall(name="search")], "Found it.", tools=(slow(),)), story)


def test_pictures_reach_the_model_and_the_history() -> None:
    parts = [
        ContentPart(type="text", text="What is it?"),
        ContentPart(type="image", media_type="image/png", data="AA=="),
    ]
    seen: list[ScriptedModel] = []

    def make() -> Glove:
        glove, model = talking("A dot.")
        seen.append(model)
        return glove

    async def story(lounge: Lounge) -> None:
        chat = await lounge.chats.open("ann")
        _, follower = chat.say(parts, "What is it?")
        assert text(await read(chat, follower)) == "A dot."
        assert seen[0].requests[0].messages[-1].content[0].data == "AA=="

    play(make, story)
