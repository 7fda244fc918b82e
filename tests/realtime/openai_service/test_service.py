"""The stand-in is strict: what the real service refuses, it refuses, by a plain WebSocket client."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.realtime.mind import Called, ScriptedMind, tone
from tests.realtime.openai_service.response import encoded
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService

pytestmark = pytest.mark.wire

SECOND = encoded(np.ones(24_000, np.int16))
MANUAL = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}


@asynccontextmanager
async def client(service: OpenAIService) -> AsyncIterator[ClientConnection]:
    url = f"ws://127.0.0.1:{service.port}/v1/realtime?model={MODEL}"
    async with connect(url, additional_headers={"Authorization": f"Bearer {KEY}"}) as connection:
        assert json.loads(await connection.recv())["type"] == "session.created"
        yield connection


async def send(connection: ClientConnection, kind: str, **fields: Any) -> None:
    await connection.send(json.dumps({"type": kind, "event_id": "mine", **fields}))


async def until(connection: ClientConnection, kind: str) -> dict[str, Any]:
    """Read on until a kind of event, and give it with all that came before under ``before``."""
    before: list[dict[str, Any]] = []
    while (event := json.loads(await connection.recv()))["type"] != kind:
        before.append(event)
    return {**event, "before": before}


def item(**fields: Any) -> dict[str, Any]:
    return {"type": "conversation.item.create", "item": fields}


def session(**fields: Any) -> dict[str, Any]:
    return {"type": "session.update", "session": fields}


def content(role: str, kind: str) -> list[dict[str, str]]:
    return [{"type": kind, "text": "Hello."}]


REFUSED: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "missing_required_parameter", "type"),
    ({"type": "session.sing"}, "invalid_value", "type"),
    ({"type": "output_audio_buffer.clear"}, "invalid_value", "type"),
    ({"type": "input_audio_buffer.clear", "now": True}, "unknown_parameter", "now"),
    ({"type": "session.update"}, "missing_required_parameter", "session"),
    (session(), "missing_required_parameter", "session.type"),
    (session(type="live"), "invalid_value", "session.type"),
    (session(type="realtime", voice="marin"), "unknown_parameter", "session.voice"),
    (session(type="realtime", instructions=None), "invalid_type", "session.instructions"),
    (session(type="realtime", model="gpt-realtime-9"), "invalid_value", "session.model"),
    (session(type="realtime", tools=[{"type": "function"}]), "missing_required_parameter", "session.tools[0].name"),
    (
        session(type="realtime", audio={"input": {"turn_detection": {"type": "server_vad", "create_response": None}}}),
        "invalid_type",
        "session.audio.input.turn_detection.create_response",
    ),
    (
        session(type="realtime", audio={"input": {"turn_detection": {"type": "semantic_vad", "threshold": 0.5}}}),
        "unknown_parameter",
        "session.audio.input.turn_detection.threshold",
    ),
    (
        session(type="realtime", audio={"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}),
        "invalid_value",
        "session.audio.input.format.rate",
    ),
    (session(type="realtime", max_output_tokens=5_000), "invalid_value", "session.max_output_tokens"),
    ({"type": "input_audio_buffer.append"}, "missing_required_parameter", "audio"),
    ({"type": "input_audio_buffer.append", "audio": "?"}, "invalid_value", "audio"),
    ({"type": "input_audio_buffer.append", "audio": ""}, "invalid_value", "audio"),
    ({"type": "input_audio_buffer.append", "audio": "AAAA"}, "invalid_value", "audio"),
    ({"type": "input_audio_buffer.append", "audio": "A" * (15 * 2**20 + 4)}, "string_above_max_length", "audio"),
    ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty", None),
    (item(), "missing_required_parameter", "item.type"),
    (item(type="song"), "invalid_value", "item.type"),
    (item(**USER, id="x" * 33), "string_above_max_length", "item.id"),
    (item(type="message", role="user", content=[{"type": "output_text", "text": "?"}]), "invalid_value", None),
    (item(type="message", role="system", content=[{"type": "input_audio", "audio": ""}]), "invalid_value", None),
    (item(type="message", role="assistant", content=[{"type": "output_audio"}]), "invalid_value", None),
    (item(type="message", role="user", content=[{"type": "input_text"}]), "missing_required_parameter", None),
    (item(type="function_call_output", call_id="call_9", output=""), "invalid_tool_call_id", None),
    (item(type="function_call_output", call_id="call/9", output=""), "invalid_value", "item.call_id"),
    ({**item(**USER), "previous_item_id": "nobody"}, "invalid_value", "previous_item_id"),
    ({"type": "conversation.item.delete", "item_id": "nobody"}, "item_delete_invalid_item_id", None),
    ({"type": "conversation.item.retrieve", "item_id": "nobody"}, "item_retrieve_invalid_item_id", "item_id"),
    (
        {"type": "conversation.item.truncate", "item_id": "nobody", "content_index": 0, "audio_end_ms": 1},
        "item_truncate_invalid_item_id",
        "item_id",
    ),
    ({"type": "conversation.item.truncate", "item_id": "nobody"}, "missing_required_parameter", "content_index"),
    ({"type": "response.create", "response": {"voice": "marin"}}, "unknown_parameter", "response.voice"),
    ({"type": "response.create", "response": {"metadata": {"n": 1}}}, "invalid_value", "response.metadata"),
    ({"type": "response.cancel"}, "response_cancel_not_active", None),
]


@pytest.mark.parametrize(("message", "code", "param"), REFUSED)
async def test_it_refuses(message: dict[str, Any], code: str, param: str | None) -> None:
    async with OpenAIService(ScriptedMind()) as service, client(service) as connection:
        await connection.send(json.dumps({**message, "event_id": "mine"}))
        error = (await until(connection, "error"))["error"]
        assert (error["type"], error["code"], error["event_id"]) == ("invalid_request_error", code, "mine")
        assert param is None or error["param"] == param
        await send(connection, "session.update", session={"type": "realtime"})
        await until(connection, "session.updated")
        assert [item.id for item in service.session.conversation.items] == []


async def test_what_is_no_json_is_refused() -> None:
    async with OpenAIService(ScriptedMind()) as service, client(service) as connection:
        await connection.send("Hello.")
        assert (await until(connection, "error"))["error"]["code"] == "invalid_json"
        await connection.send("[]")
        assert (await until(connection, "error"))["error"]["code"] == "invalid_type"


async def test_a_response_comes_in_the_order_of_the_real_one() -> None:
    mind = ScriptedMind(answers=[["It is noon.", Called(name="look", arguments={"at": "clock"})]], word_s=0.05)
    async with OpenAIService(mind) as service, client(service) as connection:
        await send(connection, "response.create", response={"metadata": {"trigger": "a"}})
        done = await until(connection, "response.done")
    kinds = [event["type"] for event in done["before"]]
    assert kinds == [
        "response.created",
        "rate_limits.updated",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
    ]
    assert len({event["event_id"] for event in [*done["before"], done]}) == len(kinds) + 1
    response = done["response"]
    assert (response["status"], response["metadata"]) == ("completed", {"trigger": "a"})
    assert [part["type"] for part in response["output"]] == ["message", "function_call"]
    assert json.loads(response["output"][1]["arguments"]) == {"at": "clock"}
    assert response["usage"]["output_token_details"]["audio_tokens"] == 3
    sent = b"".join(base64.b64decode(event["delta"]) for event in done["before"] if "audio.delta" in event["type"])
    assert sent == tone("It is noon.", word_s=0.05).tobytes()


async def test_one_response_at_a_time_and_a_cancel_ends_it() -> None:
    mind = ScriptedMind(answers=[["word " * 100], ["Yes."]])
    async with OpenAIService(mind, pace=1) as service, client(service) as connection:
        await send(connection, "response.create")
        created = await until(connection, "response.created")
        await send(connection, "response.create")
        error = (await until(connection, "error"))["error"]
        assert error["code"] == "conversation_already_has_active_response"
        assert created["response"]["id"] in error["message"]
        await send(connection, "response.cancel", response_id="resp_other")
        assert (await until(connection, "error"))["error"]["code"] == "response_cancel_not_active"
        await send(connection, "response.cancel", response_id=created["response"]["id"])
        done = (await until(connection, "response.done"))["response"]
        assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "client_cancelled")
        await send(connection, "response.create")
        await until(connection, "response.done")


async def test_an_answer_is_truncated_up_to_its_length_and_the_voice_is_locked() -> None:
    mind = ScriptedMind(answers=[["one two three four"], ["Yes."]])
    async with OpenAIService(mind) as service, client(service) as connection:
        await send(connection, "response.create")
        (spoken,) = (await until(connection, "response.done"))["response"]["output"]
        cut = {"item_id": spoken["id"], "content_index": 0}
        await send(connection, "conversation.item.truncate", **cut, audio_end_ms=801)
        message = (await until(connection, "error"))["error"]["message"]
        assert message == "Audio content of 800ms is already shorter than 801ms"
        await send(connection, "conversation.item.truncate", **cut, audio_end_ms=450)
        await until(connection, "conversation.item.truncated")
        await send(connection, "conversation.item.retrieve", item_id=spoken["id"])
        assert (await until(connection, "conversation.item.retrieved"))["item"]["content"][0]["transcript"] is None
        await send(connection, "response.create")
        await until(connection, "response.done")
        other = {"type": "realtime", "audio": {"output": {"voice": "cedar"}}}
        await send(connection, "session.update", session=other)
        assert (await until(connection, "error"))["error"]["code"] == "cannot_update_voice"
    (heard,) = mind.views[1].items
    assert getattr(heard, "text", None) == "one two", "the mind knows what was heard"


async def test_turns_by_hand_take_100_ms_and_no_answer() -> None:
    mind = ScriptedMind(hears=["Hello."])
    async with OpenAIService(mind) as service, client(service) as connection:
        await send(connection, "session.update", session=MANUAL)
        await send(connection, "input_audio_buffer.append", audio=encoded(np.ones(2_399, np.int16)))
        await send(connection, "input_audio_buffer.commit")
        message = (await until(connection, "error"))["error"]["message"]
        assert message.endswith("Expected at least 100ms of audio, but buffer only has 99.96ms of audio.")
        await send(connection, "input_audio_buffer.append", audio=SECOND)
        await send(connection, "input_audio_buffer.commit")
        committed = await until(connection, "input_audio_buffer.committed")
        done = await until(connection, "conversation.item.done")
        assert done["item"]["id"] == committed["item_id"]
    (turn,) = service.session.heard
    assert len(turn) == 26_399 and service.session.made == 0


async def test_who_may_not_come_in_is_told_so_over_http() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        for path, key, status in (
            (f"realtime?model={MODEL}", "sk-other", 401),
            (f"realtime?model={MODEL}", "", 401),
            ("realtime", KEY, 400),
            ("sing", KEY, 404),
        ):
            headers = {"Authorization": f"Bearer {key}"}
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"ws://127.0.0.1:{service.port}/v1/{path}", additional_headers=headers)
            assert refused.value.response.status_code == status


async def test_an_hour_and_a_break_end_the_connection() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        async with client(service) as connection:
            service.session.expire()
            assert (await until(connection, "error"))["error"]["code"] == "session_expired"
            with pytest.raises(ConnectionClosed) as expired:
                await connection.recv()
            assert expired.value.rcvd is not None and expired.value.rcvd.code == 1001
        async with client(service) as connection:
            service.session.socket.abort()
            with pytest.raises(ConnectionClosed) as broken:
                await connection.recv()
            assert broken.value.rcvd is None


async def test_a_mind_that_fails_fails_the_response_and_the_test() -> None:
    service = OpenAIService(ScriptedMind())
    with pytest.raises(AssertionError, match="response 1 was asked for"):
        async with service, client(service) as connection:
            await send(connection, "response.create")
            assert (await until(connection, "response.done"))["response"]["status"] == "failed"
