"""Chat as a program sees it: over HTTP, on a real server."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from agents.core.glove import Glove
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel
from tests.agents.core.scenes import Anything, asking, echo, talking
from tests.voice_server.chat.event_source import EventSource, Message
from tests.voice_server.chat.visitor import visiting
from voice_server.chat.chat import WAITING


def _envelopes(messages: list[Message]) -> list[tuple[int, str, str]]:
    """Number, type and content of the kept events among messages."""
    return [
        (message.envelope["seq"], message.type, json.dumps(_lasting(message.data)))
        for message in messages
        if message.envelope["seq"] is not None
    ]


def _lasting(data: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every run."""
    return {name: value for name, value in data.items() if name not in ("message", "duration_ms")}


async def test_a_message_is_answered_with_events_from_its_turn_to_its_end() -> None:
    async with visiting() as visitor, visitor.saying("What is twelve times seven?", conversation="ann") as stream:
        events = await stream.rest()
        assert [event.type for event in events] == ["chat", "turn", "tool", "tool", "text", "spoken", "ended"]
        assert [event.last_event_id for event in events] == ["", "1", "2", "3", "4", "5", "6"]
        assert events[0].data == {"conversation": "ann", "agent": "agents.desk:create", "model": "offline", "turn": 0}
        assert stream.text == events[-2].data["text"] == "12 times 7 is 84."
        assert events[-1].data == {"reason": "answered", "turn": 0}
        assert all(event.envelope["type"] == event.type and event.envelope["call"] == "ann" for event in events)
        headers = stream.response.headers
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")


async def test_who_names_no_conversation_is_told_the_name_of_a_new_one_and_goes_on_with_it() -> None:
    async with visiting() as visitor:
        async with visitor.saying("What is two plus three?") as stream:
            await stream.rest()
        (again, *_) = await visitor.say("Thank you.", conversation=stream.conversation)
        assert again.data["conversation"] == stream.conversation
        _, shown = await visitor.ask("GET", f"/api/conversations/{stream.conversation}")
        assert [entry["text"] for entry in shown["entries"] if entry["sender"] == "user"] == [
            "What is two plus three?",
            "Thank you.",
        ]


# ------------------------------------------------------------------------------------------------- streams that break


def _story() -> Glove:
    glove, _ = talking(
        ["Let ", "me ", "see.", ScriptedCall(name="echo", input={"word": "ünï\r\ncode 🙂"})],
        ["Here ", "you are:\n\n", "data: nothing\r\n", "id: 7"],
        tools=(echo(),),
    )
    return glove


async def test_a_stream_cut_anywhere_and_resumed_shows_every_event_once() -> None:
    async with visiting(_story) as visitor:
        whole = _envelopes(await visitor.say("Go.", conversation="whole"))
        assert [number for number, _, _ in whole] == list(range(1, len(whole) + 1))
        for cut in range(1, len(whole) + 1):
            name = f"cut{cut}"
            async with visitor.saying("Go.", conversation=name) as first:
                while len(first.seen) <= cut:
                    await first.next()
            async with visitor.following(name, first.last_event_id) as second:
                while len(first.seen) + len(second.seen) < len(whole) + 2:
                    await second.next()
            assert _envelopes(first.seen + second.seen) == whole, cut


async def test_the_agent_goes_on_while_nobody_listens() -> None:
    gate = asyncio.Event()
    async with visiting(lambda: talking(["One, ", gate.wait, "two."])[0]) as visitor:
        async with visitor.saying("Count.", conversation="ann") as stream:
            await stream.until_type("text")
        gate.set()
        async with visitor.following("ann", stream.last_event_id) as resumed:
            spoken = await resumed.until_type("spoken")
        assert (spoken.data["text"], resumed.text) == ("One, two.", "two.")


async def test_who_cannot_set_headers_says_it_in_the_address() -> None:
    async with visiting(_story) as visitor:
        events = await visitor.say("Go.", conversation="ann")
        async with visitor.following("ann", after="3") as stream:
            await stream.until_type("ended")
        assert _envelopes(stream.seen) == _envelopes(events)[3:]


async def test_who_comes_back_after_the_stream_is_gone_is_told_to_load_the_conversation() -> None:
    async with visiting(_story) as visitor:
        for number in ("7000", "99999999999"):
            await visitor.say("Go.", conversation=number)
            async with visitor.following(number, number) as stream:
                missed = await stream.until_type("error")
                assert missed.data["code"] == "missed" and missed.envelope["seq"] is None
                assert missed.last_event_id == ""


async def test_everybody_who_follows_is_told_the_same() -> None:
    async with visiting(_story) as visitor:
        await visitor.say("Go.", conversation="before")
        async with visitor.following("before") as one, visitor.following("before") as other:
            for stream in (one, other):
                await stream.until_type("chat")
            events = await visitor.say("Again.", conversation="before")
            for stream in (one, other):
                await stream.until_type("ended")
                assert _envelopes(stream.seen) == _envelopes(events)


# --------------------------------------------------------------------------------------------------- stopping, waiting


async def test_an_answer_aborted_after_any_event_ends_and_the_next_message_is_answered() -> None:
    def make() -> Glove:
        return talking(
            ["Let ", "me ", "see.", ScriptedCall(name="echo")], ["Here ", "you ", "are."], "Next.", tools=(echo(),)
        )[0]

    async with visiting(make) as visitor:
        whole = len(await visitor.say("Go.", conversation="whole"))
        reasons = set()
        for cut in range(1, whole):
            name = f"cut{cut}"
            async with visitor.saying("Go.", conversation=name) as stream:
                while len(stream.seen) <= cut:
                    await stream.next()
                status, _ = await visitor.ask("POST", f"/api/chat/{name}/abort")
                assert status == 200
                events = await stream.rest()
            reasons.add(events[-1].data["reason"])
            assert [event.type for event in events].count("ended") == 1
            assert (await visitor.say("Next?", conversation=name))[-1].data["reason"] in ("answered", "failed")
            _, shown = await visitor.ask("GET", f"/api/conversations/{name}")
            assert all(entry["status"] != "running" for entry in shown["entries"] if entry["sender"] == "tool")
        assert reasons <= {"answered", "aborted"}


async def test_an_abort_in_mid_word_keeps_what_was_read() -> None:
    gate = asyncio.Event()
    async with visiting(lambda: talking(["Once upon ", gate.wait, "a time."])[0]) as visitor:
        async with visitor.saying("Tell me.", conversation="ann") as stream:
            await stream.until_type("text")
            assert await visitor.ask("POST", "/api/chat/ann/abort") == (200, {"stopped": 1})
            ended = (await stream.rest())[-1]
        assert ended.data == {"reason": "aborted", "turn": 0}
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert [(e["text"], e.get("heard"), e.get("interrupted")) for e in shown["entries"]] == [
            ("Tell me.", None, None),
            ("Once upon ", "Once upon ", True),
        ]
        assert await visitor.ask("POST", "/api/chat/ann/abort") == (200, {"stopped": 0})
        assert (await visitor.ask("POST", "/api/chat/nobody/abort"))[0] == 404


async def test_two_chats_at_once_on_one_conversation_are_answered_in_turn() -> None:
    gate = asyncio.Event()
    async with visiting(lambda: talking([gate.wait, "One."], "Two.")[0]) as visitor:
        async with visitor.saying("One?", conversation="ann") as first:
            await first.until_type("turn")
            async with visitor.saying("Two?", conversation="ann") as second:
                await second.until_type("turn")
                gate.set()
                await asyncio.gather(first.rest(), second.rest())
        said = [message.data for message in second.seen if message.type == "spoken"]
        assert [(event["turn"], event["text"]) for event in said] == [(0, "One."), (1, "Two.")]
        assert [event.data["turn"] for event in second.seen if event.type == "ended"] == [0, 1]


async def test_a_slow_tool_blocks_nobody_and_its_result_comes_on_the_stream_it_was_asked_on() -> None:
    found = asyncio.Event()

    async def search(given: Anything, ctx: ToolContext) -> str:
        await found.wait()
        return "found"

    tool = Tool(name="search", description="", input=Anything, do=search)
    make = lambda: talking([ScriptedCall(name="search")], "Meanwhile.", "Found it.", tools=(tool,))[0]  # noqa: E731
    async with visiting(make) as visitor, visitor.saying("Search.", conversation="ann") as first:
        await first.until_type("tool")
        second = await visitor.say("Meanwhile?", conversation="ann")
        assert [message.data["text"] for message in second if message.type == "spoken"] == ["Meanwhile."]
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert shown["entries"][1]["status"] == "running"
        found.set()
        assert [message.data["text"] for message in await first.rest() if message.type == "spoken"][-1] == "Found it."


async def test_one_message_too_many_is_refused_with_the_reason() -> None:
    gate = asyncio.Event()
    make = lambda: talking([gate.wait, "."], *["."] * WAITING)[0]  # noqa: E731
    async with visiting(make) as visitor, AsyncExitStack() as streams:
        for turn in range(WAITING):
            stream = await streams.enter_async_context(visitor.saying("?", conversation="ann"))
            assert (await stream.until_type("turn")).data["turn"] == turn
        response = await visitor.http.post("/api/chat", json={"text": "?", "conversation": "ann"})
        assert response.status_code == 429
        assert response.json()["code"] == "crowded" and "8 messages wait" in response.json()["message"]
        assert response.headers["retry-after"]
        gate.set()
        assert (await stream.rest())[-1].data == {"reason": "answered", "turn": WAITING - 1}


# --------------------------------------------------------------------------------------------------------- the screen


async def test_leave_is_given_over_http() -> None:
    make = lambda: talking([ScriptedCall(name="book", input={"word": "x"})], "Done.", tools=(asking(),))[0]  # noqa: E731
    async with visiting(make) as visitor, visitor.saying("Book.", conversation="ann", screen=True) as stream:
        shown = await stream.until_type("slots")
        (slot,) = shown.data["slots"]
        assert (slot["renderer"], slot["state"]) == ("permission_request", "waiting")
        assert slot["input"] == {"toolName": "book", "toolInput": {"word": "x"}}
        _, loaded = await visitor.ask("GET", "/api/conversations/ann")
        assert loaded["slots"] == [slot]
        assert (await visitor.ask("POST", "/api/chat/ann/slots/slot_9", {"value": True}))[0] == 404
        answered = await visitor.ask("POST", f"/api/chat/ann/slots/{slot['id']}", {"value": True})
        assert answered == (200, {"slot": slot["id"], "outcome": "resolved"})
        await stream.rest()
        assert stream.text == "Done."
        tools = [message.data["status"] for message in stream.seen if message.type == "tool"]
        assert tools == ["running", "success"]
        assert (await visitor.ask("POST", f"/api/chat/ann/slots/{slot['id']}", {"value": True}))[0] == 404


async def test_a_slot_that_is_refused_ends_the_wait() -> None:
    make = lambda: talking([ScriptedCall(name="book")], "Well.", tools=(asking(),))[0]  # noqa: E731
    async with visiting(make) as visitor, visitor.saying("Book.", conversation="ann", screen=True) as stream:
        slot = (await stream.until_type("slots")).data["slots"][0]["id"]
        wrong: Any
        for wrong in ({}, {"value": 1, "reject": "no"}, {"reject": None}, {"values": 1}, [], "no"):
            assert (await visitor.ask("POST", f"/api/chat/ann/slots/{slot}", wrong))[0] == 422, wrong
        answered = await visitor.ask("POST", f"/api/chat/ann/slots/{slot}", {"reject": "not now"})
        assert answered == (200, {"slot": slot, "outcome": "rejected"})
        tool = await stream.until(lambda message: message.type == "tool" and message.data["status"] != "running")
        assert tool.data["status"] == "error" and "not now" in tool.data["message"]


async def test_a_value_of_another_type_is_told_in_a_sentence_and_the_question_stands() -> None:
    async def choose(given: Anything, ctx: ToolContext) -> int:
        assert ctx.display is not None
        return await ctx.display.push_and_wait("number", answer=int)

    tool = Tool(name="choose", description="", input=Anything, do=choose)
    make = lambda: talking([ScriptedCall(name="choose")], "Two.", tools=(tool,))[0]  # noqa: E731
    async with visiting(make) as visitor, visitor.saying("Choose.", conversation="ann", screen=True) as stream:
        slot = (await stream.until_type("slots")).data["slots"][0]["id"]
        status, problem = await visitor.ask("POST", f"/api/chat/ann/slots/{slot}", {"value": "many"})
        assert status == 422
        assert problem["code"] == "bad_answer" and "cannot be answered so" in problem["message"]
        assert (await visitor.ask("POST", f"/api/chat/ann/slots/{slot}", {"value": 2}))[0] == 200
        await stream.rest()
        assert stream.text == "Two."


async def test_without_a_screen_nothing_is_shown() -> None:
    make = lambda: talking([ScriptedCall(name="book")], "Sorry.", tools=(asking(),))[0]  # noqa: E731
    async with visiting(make) as visitor:
        events = await visitor.say("Book.", conversation="ann")
        assert "slots" not in {event.type for event in events}
        assert [event.data["status"] for event in events if event.type == "tool"] == ["running", "error"]


# ----------------------------------------------------------------------------------------------------- over restarts


async def test_a_kept_conversation_goes_on_after_a_restart_and_an_old_number_is_not_taken_for_a_new_one(
    tmp_path: Path,
) -> None:
    database = tmp_path / "chats.db"
    async with visiting(lambda: Glove(model=ScriptedModel(["One."])), database=database) as visitor:
        events = await visitor.say("One?", conversation="ann")
    last = events[-1].last_event_id
    async with visiting(lambda: Glove(model=ScriptedModel(["Two."])), database=database) as visitor:
        async with visitor.following("ann", last) as stream:
            assert (await stream.until_type("error")).data["code"] == "missed"
            again = await visitor.say("Two?", conversation="ann")
            assert (await stream.until_type("spoken")).data["text"] == "Two."
        assert int(again[-1].last_event_id) > int(last)
        _, shown = await visitor.ask("GET", "/api/conversations/ann")
        assert [entry["text"] for entry in shown["entries"]] == ["One?", "One.", "Two?", "Two."]


async def test_a_server_that_goes_away_ends_streams_and_takes_nothing_new() -> None:
    gate = asyncio.Event()
    async with visiting(lambda: talking([gate.wait, "Late."])[0], drain_s=20.0) as visitor:
        saying = visitor.saying("?", conversation="ann")
        async with saying as first, visitor.following("ann") as watching:
            await first.until_type("turn")
            await watching.until_type("chat")
            draining = asyncio.create_task(visitor.front.drain())
            for method, path, body in (("POST", "/api/chat", {"text": "?"}), ("GET", "/api/chat/ann/events", None)):
                status, problem = await visitor.ask(method, path, body)
                assert (status, problem["code"]) == (503, "not_ready")
            assert (await visitor.ask("GET", "/api/conversations/ann"))[0] == 200
            gate.set()
            assert (await first.rest())[-1].data == {"reason": "answered", "turn": 0}
            assert (await watching.rest())[-1].data == {"reason": "draining", "turn": None}
            await draining


# --------------------------------------------------------------------------------------------------- whoever sends what


async def test_without_the_key_nothing_is_told() -> None:
    async with visiting(key="sesame-open") as visitor:
        assert (await visitor.say("What is two plus three?", conversation="ann"))[-1].type == "ended"
        visitor.http.headers["Authorization"] = "Bearer wrong-key"
        for method, path in (
            ("POST", "/api/chat"),
            ("GET", "/api/chat/ann/events"),
            ("POST", "/api/chat/ann/abort"),
            ("POST", "/api/chat/ann/slots/slot_1"),
            ("GET", "/api/conversations"),
            ("GET", "/api/conversations/ann"),
            ("DELETE", "/api/conversations/ann"),
        ):
            status, problem = await visitor.ask(method, path, {"text": "?"} if method == "POST" else None)
            assert (status, problem["code"]) == (401, "unauthorized"), path


HOSTILE: tuple[tuple[Any, int], ...] = (
    ({}, 422),
    ([], 422),
    ("hello", 422),
    ({"text": ""}, 422),
    ({"text": " \n\t"}, 422),
    ({"text": 7}, 422),
    ({"text": "x" * 20_001}, 422),
    ({"text": "x" * 10_000_000}, 413),
    ({"text": "a\x00b"}, 422),
    ({"text": "a\x1bb"}, 422),
    ({"text": "\ud800"}, 422),
    ({"text": "?", "conversation": ""}, 422),
    ({"text": "?", "conversation": "../etc"}, 422),
    ({"text": "?", "conversation": "x" * 129}, 422),
    ({"text": "?", "conversation": "a\nb"}, 422),
    ({"text": "?", "conversation": "a\n"}, 422),
    ({"text": "?", "voice": True}, 422),
    ({"text": "?", "images": [{"media_type": "text/html", "data": "AA=="}]}, 422),
    ({"text": "?", "images": [{"media_type": "image/png", "data": "not base64!"}]}, 422),
    ({"text": "?", "images": [{"media_type": "image/png", "data": ""}]}, 422),
    ({"text": "?", "images": [{"media_type": "image/png", "data": "AA=="}] * 5}, 422),
    ({"text": "?", "images": [{"media_type": "image/png", "data": "A" * 2_000_004}]}, 422),
)


async def test_what_is_no_message_is_refused_in_one_sentence_and_nobody_is_bothered() -> None:
    def never() -> Glove:
        raise AssertionError("nobody was to answer")

    # The server makes one agent when it starts, to find mistakes early.
    agents = iter([talking()[0]])
    async with visiting(lambda: next(agents, None) or never()) as visitor:
        for body, expected in HOSTILE:
            response = await visitor.http.post(
                "/api/chat", content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
            )
            assert response.status_code == expected, (str(body)[:80], response.text[:200])
            problem = response.json()
            assert set(problem) == {"code", "message"} and len(problem["message"]) < 300
        for raw in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"text": ' + b"1" * 5_000 + b"}", b'{"text": NaN}'):
            response = await visitor.http.post("/api/chat", content=raw, headers={"Content-Type": "application/json"})
            assert response.status_code in (400, 422), (raw[:20], response.text[:200])
            assert set(response.json()) == {"code", "message"}
        response = await visitor.http.post(
            "/api/chat", content=b'{"text": "?"}', headers={"Content-Type": "text/plain"}
        )
        assert response.status_code == 422
        assert len(visitor.front.service.chats) == 0


async def test_a_body_without_a_length_is_bounded_too_and_its_connection_is_closed() -> None:
    async with visiting() as visitor:
        _, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
        writer.write(
            b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        with suppress(OSError):
            while sent < 100_000_000:
                writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
                await writer.drain()
                sent += 0x10000
        assert 9_000_000 < sent < 50_000_000
        assert (await visitor.say("What is two plus three?"))[-1].type == "ended"
        writer.close()


@pytest.mark.parametrize("number", ["-1", "one", "1.5", "", "9" * 400])
async def test_a_number_that_is_none_is_refused(number: str) -> None:
    async with visiting() as visitor:
        await visitor.say("What is two plus three?", conversation="ann")
        response = await visitor.http.get("/api/chat/ann/events", headers={"Last-Event-ID": number})
        assert response.status_code == 422 and response.json()["message"]


async def test_thousands_of_unknown_names_are_answered_and_nothing_is_kept_of_them() -> None:
    async with visiting() as visitor:
        await visitor.say("What is two plus three?", conversation="ann")

        reader, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
        for first in range(0, 2_000, 200):
            for number in range(first, first + 200):
                path = ("/api/chat/u{}/events", "/api/conversations/u{}")[number % 2].format(number)
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            for _ in range(200):
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404 ")
                await reader.readuntil(b"}")
        writer.close()
        assert [chat.id for chat in visitor.front.service.chats] == ["ann"]
        _, listed = await visitor.ask("GET", "/api/conversations")
        assert [line["id"] for line in listed["conversations"]] == ["ann"]


async def test_a_client_that_reads_nothing_harms_nobody() -> None:
    async with visiting(lambda: talking("Hello.", ["a" * 3_000] * 400, "Fine.")[0]) as visitor:
        await visitor.say("Hello?", conversation="ann")
        async with visitor.following("ann") as watching:
            await watching.until_type("chat")
            _, writer = await asyncio.open_connection("127.0.0.1", visitor.port, limit=1024)
            body = b'{"text": "?", "conversation": "ann"}'
            writer.write(
                b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            assert (await watching.until_type("ended")).data == {"reason": "answered", "turn": 1}
            assert len(watching.text) == 1_200_000
            assert (await visitor.say("Still there?", conversation="ann"))[-2].data["text"] == "Fine."
            writer.transport.abort()


def test_the_parser_reads_what_the_standard_says() -> None:
    lines = (
        b"\xef\xbb\xbf: hello\r\ndata: one\rdata:two\n\nevent: x\nid: 5\ndata\n\ndata:  z\r\n\r\nid: a\0b\ndata: q\n\n"
        b"event: nothing\n\ndata: not finished\n"
    )
    for size in (1, 2, 3, len(lines)):
        source = EventSource()
        pieces = [lines[at : at + size] for at in range(0, len(lines), size)]
        messages = [message for piece in pieces for message in source.feed(piece)]
        assert messages == [
            Message("message", "one\ntwo", ""),
            Message("x", "", "5"),
            Message("message", " z", "5"),
            Message("message", "q", "5"),
        ]
        assert source.comments == [" hello"]
