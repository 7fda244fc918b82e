"""Tokens over HTTP, for a real LiveKit server."""

from __future__ import annotations

from typing import Any

import pytest
from livekit import api, rtc
from pydantic import SecretStr

from tests.livekit.server import LiveKitServer
from tests.voice_server.chat.visitor import visiting

pytestmark = pytest.mark.room


async def test_whoever_asks_for_nothing_gets_a_room_of_their_own(livekit_server: LiveKitServer) -> None:
    async with visiting(**livekit_server.settings) as visitor:
        status, first = await visitor.ask("POST", "/api/token", {})
        _, second = await visitor.ask("POST", "/api/token", {})
    assert status == 201
    assert first["server_url"] == livekit_server.url
    for name in ("room_name", "participant_identity", "conversation"):
        assert first[name] != second[name]
    room = rtc.Room()
    await room.connect(first["server_url"], first["participant_token"])
    me = room.local_participant
    assert (room.name, me.identity) == (first["room_name"], first["participant_identity"])
    assert me.attributes == {"glove.conversation": first["conversation"]}
    await room.disconnect()


async def test_whoever_asks_for_a_room_a_name_and_a_conversation_gets_them(livekit_server: LiveKitServer) -> None:
    wish = {
        "room_name": "lobby",
        "participant_identity": "ann",
        "participant_name": "Ann",
        "participant_attributes": {"glove.conversation": "trip-7"},
    }
    async with visiting(**livekit_server.settings, livekit_token_s=90.0) as visitor:
        _, issued = await visitor.ask("POST", "/api/token", wish)
    claims = api.TokenVerifier(livekit_server.api_key, livekit_server.api_secret).verify(issued["participant_token"])
    assert claims.video is not None
    assert (claims.video.room, claims.identity, claims.name) == ("lobby", "ann", "Ann")
    assert claims.attributes == {"glove.conversation": "trip-7"} == {"glove.conversation": issued["conversation"]}
    assert not claims.video.room_admin and not claims.video.room_list and not claims.video.room_create
    assert issued["lasts_s"] == 90.0


async def test_a_token_is_for_who_has_the_key(livekit_server: LiveKitServer) -> None:
    async with visiting(**livekit_server.settings, key="sesame-open") as visitor:
        assert (await visitor.ask("POST", "/api/token", {}))[0] == 201
        del visitor.http.headers["Authorization"]
        assert (await visitor.ask("POST", "/api/token", {}))[0] == 401


@pytest.mark.parametrize(
    "wish",
    [
        {"participant_identity": "an agent"},
        {"participant_attributes": {"lk.publish_on_behalf": "agent"}},
        {"participant_attributes": {"glove.conversation": "no id"}},
        {"participant_metadata": "{}"},
        {"room_config": {"agents": [{"agent_name": "another"}]}},
        {"room_name": ""},
        {"participant_name": "a\x00b"},
    ],
)
async def test_what_a_caller_may_not_have_is_refused(livekit_server: LiveKitServer, wish: dict[str, Any]) -> None:
    async with visiting(**livekit_server.settings) as visitor:
        status, problem = await visitor.ask("POST", "/api/token", wish)
    assert (status, problem["code"]) == (422, "bad_request")


@pytest.mark.parametrize("identity", ["agent", "agent-7"])
async def test_nobody_gets_the_agent_s_identity_and_puts_it_out(livekit_server: LiveKitServer, identity: str) -> None:
    async with visiting(**livekit_server.settings) as visitor:
        status, problem = await visitor.ask("POST", "/api/token", {"participant_identity": identity})
    assert (status, problem["code"]) == (409, "taken")


async def test_a_full_room_is_said_to_be_full(livekit_server: LiveKitServer) -> None:
    async with visiting(**livekit_server.settings) as visitor:
        async with api.LiveKitAPI(livekit_server.url, livekit_server.api_key, livekit_server.api_secret) as server:
            await server.room.create_room(api.CreateRoomRequest(name="small", max_participants=1))
        _, issued = await visitor.ask("POST", "/api/token", {"room_name": "small"})
        first = rtc.Room()
        await first.connect(issued["server_url"], issued["participant_token"])
        status, problem = await visitor.ask("POST", "/api/token", {"room_name": "small"})
        await first.disconnect()
    assert (status, problem["code"]) == (409, "room_full")
    assert "wait until one leaves" in problem["message"]


async def test_without_a_livekit_server_it_is_said_what_to_set() -> None:
    nothing: dict[str, Any] = {"livekit_url": None, "livekit_api_key": None, "livekit_api_secret": None}
    async with visiting(**nothing) as visitor:
        status, problem = await visitor.ask("POST", "/api/token", {})
        assert (status, problem["code"]) == (404, "not_configured")
        assert "LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET are not set" in problem["message"]
    async with visiting(**{**nothing, "livekit_url": "ws://127.0.0.1:1", "livekit_api_key": "k"}) as visitor:
        _, problem = await visitor.ask("POST", "/api/token", {})
        assert "LIVEKIT_API_SECRET is not set" in problem["message"]


@pytest.mark.parametrize(
    ("wrong", "code", "mend"),
    [
        ({"livekit_api_secret": SecretStr("another-secret-of-32-characters--")}, "livekit_key", "set LIVEKIT_API_KEY"),
        ({"livekit_api_key": "nobody"}, "livekit_key", "set LIVEKIT_API_KEY"),
        ({"livekit_url": "ws://127.0.0.1:1"}, "livekit_unreachable", "set LIVEKIT_URL"),
    ],
)
async def test_a_livekit_server_that_cannot_be_used_is_told_why(
    livekit_server: LiveKitServer, wrong: dict[str, Any], code: str, mend: str
) -> None:
    async with visiting(**{**livekit_server.settings, **wrong}) as visitor:
        for path in ("/api/token", "/api/rooms/lobby/calls"):
            status, problem = await visitor.ask("POST", path, {})
            assert (status, problem["code"]) == (502, code)
            assert mend in problem["message"]
            assert "secret-of-32" not in problem["message"]
