"""What is kept of conversations, as a person sees it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.core.glove import Glove
from agents.core.messages import Message, ToolCall, ToolResult, ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel
from tests.agents.core.scenes import Anything, asking, talking
from tests.voice_server.chat.visitor import Visitor, visiting
from voice_server.chat.chats import Chats


def _seats() -> Glove:
    def do(given: Anything, ctx: ToolContext) -> ToolResultData:
        return ToolResultData(status="success", data={"secret": 1}, render_data={"map": [1, 2]})

    tool = Tool(name="seats", description="", input=Anything, do=do)
    glove, _ = talking(["Let me see.", ScriptedCall(name="seats", input={"word": "x"})], "Two.", tools=(tool,))
    glove.add_context_provider(lambda signal: "It rains.")
    return glove


async def test_history_is_words_and_tools_with_what_they_gave_for_the_screen_and_nothing_of_the_framework() -> None:
    async with visiting(_seats) as visitor:
        image = {"media_type": "image/png", "data": "AA==", "name": "plan.png"}
        events = await visitor.say("Any seats?", conversation="ann", images=[image])
        status, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert status == 200
        attachment = {"type": "image", "media_type": "image/png", "name": "plan.png"}
        said = {"sender": "user", "message": "m1", "text": "Any seats?", "attachments": [attachment]}
        tool = {
            "sender": "tool",
            "message": "m2",
            "call_id": "call_1",
            "name": "seats",
            "input": {"word": "x"},
            "status": "success",
            "error": None,
            "render_data": {"map": [1, 2]},
        }
        assert shown["entries"] == [said, _agent("m2", "Let me see."), tool, _agent("m4", "Two.")]
        assert "rains" not in str(shown) and "secret" not in str(shown)
        assert [e.data["message"] for e in events if e.type == "spoken"] == ["m2", "m4"]
        assert shown["seq"] == int(events[-1].last_event_id)


def _agent(message: str, text: str) -> dict[str, Any]:
    return {"sender": "agent", "message": message, "text": text, "heard": None, "interrupted": False}


async def test_a_long_conversation_is_shown_in_parts() -> None:
    async with visiting(lambda: talking(*[f"{number}." for number in range(5)])[0]) as visitor:
        for _ in range(5):
            await visitor.say("?", conversation="ann")
        texts: list[str] = []
        place: Any = ""
        while place is not None:
            _, shown = await visitor.ask("GET", f"/api/conversations/ann?limit=3{place and f'&before={place}'}")
            texts = [entry["text"] for entry in shown["entries"]] + texts
            assert len(shown["entries"]) <= 3
            place = shown["before"]
        assert texts == [text for number in range(5) for text in ("?", f"{number}.")]


async def test_conversations_are_listed_the_latest_first_a_page_at_a_time() -> None:
    async with visiting(lambda: talking(".")[0]) as visitor:
        for number in range(5):
            await visitor.say("?", conversation=f"c{number}")
        found: list[str] = []
        before: str | None = ""
        while before is not None:
            response = await visitor.http.get(
                "/api/conversations", params={"limit": 2, **({"before": before} if before else {})}
            )
            page = response.json()
            found += [line["id"] for line in page["conversations"]]
            before = page["before"]
        assert found == ["c4", "c3", "c2", "c1", "c0"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1000",
        "limit=ten",
        "before=yesterday",
        "before=2026-01-01T00:00:00",
        "before=0.5",
        "before=2026-01-01",
    ],
)
async def test_a_page_that_is_none_is_refused(query: str) -> None:
    async with visiting() as visitor:
        status, problem = await visitor.ask("GET", f"/api/conversations?{query}")
        assert status == 422 and problem["message"]


async def test_a_deleted_conversation_is_gone_and_one_that_is_in_use_is_not_deleted(tmp_path: Path) -> None:
    gate = asyncio.Event()
    make = lambda: Glove(model=ScriptedModel([[gate.wait, "One."]]))  # noqa: E731
    async with visiting(make, database=tmp_path / "chats.db") as visitor:
        async with visitor.saying("?", conversation="ann") as stream:
            await stream.until_type("turn")
            status, problem = await visitor.ask("DELETE", "/api/conversations/ann")
            assert (status, problem["code"]) == (409, "occupied")
            gate.set()
            await stream.rest()
        assert await visitor.ask("DELETE", "/api/conversations/ann") == (204, None)
        for method, path in (
            ("GET", "/api/conversations/ann"),
            ("DELETE", "/api/conversations/ann"),
            ("GET", "/api/chat/ann/events"),
            ("POST", "/api/chat/ann/abort"),
        ):
            assert (await visitor.ask(method, path))[0] == 404, path
        again = await visitor.say("?", conversation="ann")
        assert [event.data["text"] for event in again if event.type == "spoken"] == ["One."]
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert len(shown["entries"]) == 2


async def test_calls_whose_end_nobody_saw_are_told_as_what_is_known_of_them(tmp_path: Path) -> None:
    """One call's result was recorded before the process died, one's was not."""
    async with visiting(lambda: Glove(model=ScriptedModel()), database=tmp_path / "chats.db") as visitor:
        async with visitor.front.service.conversations.join("ann") as conversation:
            store: Any = conversation.agent.store
            calls = tuple(ToolCall(id=name, tool_name="book", input_args={}) for name in ("done", "lost"))
            await store.append_messages([Message(sender="agent", id="m", tool_calls=calls)])
            result = ToolResultData(status="success", render_data={"seat": 1})
            await store.record_result("m", ToolResult(tool_name="book", call_id="done", result=result))
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        tools = [(entry["call_id"], entry["status"], entry["render_data"]) for entry in shown["entries"]]
        assert tools == [("done", "success", {"seat": 1}), ("lost", "unknown", None)]


async def test_a_call_that_waits_for_leave_is_running() -> None:
    make = lambda: talking([ScriptedCall(name="book")], "Done.", tools=(asking(),))[0]  # noqa: E731
    async with visiting(make) as visitor, visitor.saying("?", conversation="ann", screen=True) as stream:
        await stream.until_type("slots")
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert [entry.get("status") for entry in shown["entries"]] == [None, "running"]


async def test_what_was_loaded_and_what_is_followed_from_there_are_the_whole_conversation() -> None:
    gates = [asyncio.Event(), asyncio.Event()]
    async with visiting(lambda: talking([gates[0].wait, "One."], [gates[1].wait, "Two."])[0]) as visitor:
        async with (
            visitor.saying("1?", conversation="ann") as first,
            visitor.saying("2?", conversation="ann") as second,
        ):
            gates[0].set()
            await first.rest()
            _, shown = await visitor.ask("GET", "/api/conversations/ann")
            gates[1].set()
            await second.rest()
        async with visitor.following("ann", after=str(shown["seq"])) as stream:
            await stream.until(lambda message: message.type == "ended" and message.data["turn"] == 1)
        followed = [message.data["text"] for message in stream.seen if message.type == "spoken"]
        assert "One." in [entry["text"] for entry in shown["entries"]] and followed == ["Two."]


async def test_a_database_that_fails_is_a_reason_and_no_mystery(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.core.errors import StoreError

    async def fail(*_: Any) -> Any:
        raise StoreError("the database is gone; look at its log")

    async with visiting() as visitor:
        await visitor.say("What is two plus three?", conversation="ann")
        monkeypatch.setattr(Chats, "open", fail)
        monkeypatch.setattr(type(visitor.front.service.conversations), "read", fail)
        await _fails(visitor, "POST", "/api/chat", {"text": "?"})
        await _fails(visitor, "GET", "/api/conversations/ann")


async def _fails(visitor: Visitor, method: str, path: str, body: Any = None) -> None:
    status, problem = await visitor.ask(method, path, body)
    assert (status, problem["code"]) == (503, "store") and "database is gone" in problem["message"]


@pytest.mark.parametrize(
    ("before", "found"),
    [("0001-01-01T00:00:00%2B23:59", 0), ("9999-12-31T23:59:59-23:59", 1), ("2000-02-29t12:00:00.123456789z", 0)],
)
async def test_any_date_is_a_place_in_the_list(before: str, found: int) -> None:
    async with visiting() as visitor:
        await visitor.say("What is two plus three?", conversation="ann")
        status, page = await visitor.ask("GET", f"/api/conversations?before={before}")
        assert (status, len(page["conversations"])) == (200, found)
