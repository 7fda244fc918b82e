"""Asking the agent into rooms, over HTTP and by webhooks, on a real LiveKit server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from livekit import api, rtc
from pydantic import SecretStr

from pipelines.audio.frame import SPEAKING_RATE
from pipelines.vad.energy import EnergyModel
from tests.livekit.server import LiveKitServer, Ports
from tests.pipelines.scripted import ScriptedRecognizer, ScriptedVoice
from tests.voice_server.serving import Answer, Served, serving
from voice_server.house import House
from voice_server.livekit.access import Access
from voice_server.settings import Summons

pytestmark = pytest.mark.room

HOUSE = House(
    vad=EnergyModel(), recognizer=ScriptedRecognizer([]), synthesizer=ScriptedVoice(rate=SPEAKING_RATE), phrases={}
)


class Caller:
    """Asks a server for tokens and goes into rooms with them."""

    def __init__(self, served: Served) -> None:
        self.served = served

    async def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return await asyncio.to_thread(self.served.ask, method, path, body)

    async def token(self, **wish: Any) -> dict[str, Any]:
        answer = await self.ask("POST", "/api/token", wish)
        assert answer.status == 201, answer
        return dict(answer.body)

    @asynccontextmanager
    async def inside(self, issued: dict[str, Any]) -> AsyncIterator[rtc.Room]:
        room = rtc.Room()
        await room.connect(issued["server_url"], issued["participant_token"])
        try:
            yield room
        finally:
            await room.disconnect()

    async def tell(self, livekit: LiveKitServer | Access, body: bytes) -> int:
        """Send a webhook, signed as LiveKit's server does it, and give the status of the answer."""
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        signature = api.AccessToken(livekit.api_key, livekit.api_secret).with_sha256(digest).to_jwt()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.served.port}/livekit/webhook",
            data=body,
            headers={"Content-Type": "application/webhook+json", "Authorization": signature},
        )

        def send() -> int:
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as refused:
                with refused:
                    return refused.code

        return await asyncio.to_thread(send)

    @property
    def calls(self) -> list[str]:
        """The conversations that are in calls."""
        return [call.conversation for call in self.served.front.running.calls]


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(0.02)


async def test_the_agent_comes_once_and_its_call_is_among_the_others(livekit_server: LiveKitServer) -> None:
    with serving(HOUSE, **livekit_server.settings) as served:
        caller = Caller(served)
        issued = await caller.token()
        path = f"/api/rooms/{issued['room_name']}/calls"
        async with caller.inside(issued) as room:
            joined = await caller.ask("POST", path, {"conversation": issued["conversation"]})
            assert joined.status == 201
            call = joined.body["id"]
            assert joined.body == {"id": call, "room": room.name, "conversation": issued["conversation"]}
            await _until(lambda: "agent" in room.remote_participants)
            again = await caller.ask("POST", path, {})
            assert (again.status, again.body) == (200, joined.body)
            listed = await caller.ask("GET", "/api/calls")
            assert [one["id"] for one in listed.body["calls"]] == [call]
            assert (await caller.ask("DELETE", f"/api/calls/{call}")).status == 204
            await _until(lambda: "agent" not in room.remote_participants)
            await _until(lambda: not caller.calls)
            assert (await caller.ask("POST", path, {})).status == 201


async def test_the_agent_goes_on_with_what_the_caller_s_token_says(livekit_server: LiveKitServer) -> None:
    with serving(HOUSE, **livekit_server.settings) as served:
        caller = Caller(served)
        tokens = [
            await caller.token(
                room_name="two",
                participant_identity=identity,
                participant_attributes={"glove.conversation": f"{identity}-7"},
            )
            for identity in ("ann", "bob")
        ]
        async with caller.inside(tokens[0]), caller.inside(tokens[1]):
            joined = await caller.ask("POST", "/api/rooms/two/calls", {"listen_to": "bob"})
            assert (joined.status, joined.body["conversation"]) == (201, "bob-7")
            again = await caller.ask("POST", "/api/rooms/two/calls", {"listen_to": "ann"})
            assert (again.status, again.body["conversation"]) == (200, "bob-7")
            await caller.ask("DELETE", f"/api/calls/{joined.body['id']}")
            await _until(lambda: not caller.calls)
            first = await caller.ask("POST", "/api/rooms/two/calls", {})
            assert (first.status, first.body["conversation"]) == (201, "ann-7")


async def test_a_call_that_cannot_be_is_refused_with_the_reason(livekit_server: LiveKitServer) -> None:
    with serving(HOUSE, **livekit_server.settings, calls=1) as served:
        caller = Caller(served)
        assert (await caller.ask("POST", "/api/rooms/one/calls", {"conversation": "ann"})).status == 201
        other = await caller.ask("POST", "/api/rooms/one/calls", {"conversation": "bob"})
        assert (other.status, other.body["code"]) == (409, "taken")
        elsewhere = await caller.ask("POST", "/api/rooms/two/calls", {"conversation": "ann"})
        assert (elsewhere.status, elsewhere.body["code"]) == (409, "taken")
        busy = await caller.ask("POST", "/api/rooms/two/calls", {"conversation": "bob"})
        assert (busy.status, busy.body["code"], busy.headers["retry-after"]) == (503, "busy", "5")
        assert "there are 1 calls" in busy.body["message"]
        wrong = await caller.ask("POST", "/api/rooms/a%20b/calls", {})
        assert (wrong.status, wrong.body["code"]) == (422, "bad_request")


async def test_who_comes_into_a_room_is_answered_and_when_it_is_closed_the_call_ends(
    start_livekit: Callable[..., LiveKitServer],
) -> None:
    """By webhooks that the real server signs and sends."""
    ports, key, secret = Ports(), "devkey", secrets.token_hex(16)
    url = f"ws://127.0.0.1:{ports.http}"
    settings = {"livekit_url": url, "livekit_api_key": key, "livekit_api_secret": SecretStr(secret)}
    with serving(HOUSE, **settings, livekit_summons=Summons.JOINED) as served:
        hook = f"http://127.0.0.1:{served.port}/livekit/webhook"
        start_livekit(ports=ports, api_key=key, api_secret=secret, webhooks=[hook])
        caller = Caller(served)
        issued = await caller.token(participant_attributes={"glove.conversation": "trip-7"})
        async with caller.inside(issued) as room, api.LiveKitAPI(url, key, secret) as server:
            await _until(lambda: "agent" in room.remote_participants)
            assert caller.calls == ["trip-7"]
            await server.room.delete_room(api.DeleteRoomRequest(room=room.name))
            await _until(lambda: not caller.calls)


async def test_a_webhook_ends_the_call_of_its_room_once_and_no_later_one(livekit_server: LiveKitServer) -> None:
    with serving(HOUSE, **livekit_server.settings) as served:
        caller = Caller(served)
        path = "/api/rooms/closing/calls"
        await caller.ask("POST", path, {})
        long_ago = _closed("closing", "EV_0", datetime.now(UTC) - timedelta(minutes=1))
        assert (await caller.tell(livekit_server, long_ago)) == 204
        assert len(caller.calls) == 1, "it was the end of a room of the same name"
        now = _closed("closing", "EV_1", datetime.now(UTC))
        assert (await caller.tell(livekit_server, now)) == 204
        await _until(lambda: not caller.calls)
        await caller.ask("POST", path, {})
        assert (await caller.tell(livekit_server, now)) == 204
        await asyncio.sleep(0.1)
        assert len(caller.calls) == 1, "it was told before"


async def test_unless_it_is_set_so_nobody_is_answered_unasked(livekit_server: LiveKitServer) -> None:
    told = {"event": "participant_joined", "id": "1", "room": {"name": "r"}, "participant": {"identity": "ann"}}
    with serving(HOUSE, **livekit_server.settings) as served:
        assert (await Caller(served).tell(livekit_server, json.dumps(told).encode())) == 204
        assert Caller(served).calls == []


async def test_a_forged_webhook_is_refused_and_does_nothing(livekit_server: LiveKitServer) -> None:
    told = {"event": "participant_joined", "id": "1", "room": {"name": "r"}, "participant": {"identity": "ann"}}
    stranger = Access(url="", api_key=livekit_server.api_key, api_secret="a-secret-of-somebody-else-of-40-characters")
    with serving(HOUSE, **livekit_server.settings, livekit_summons=Summons.JOINED) as served:
        caller = Caller(served)
        assert (await caller.tell(stranger, json.dumps(told).encode())) == 401
        assert (await caller.tell(stranger, b"x" * 300_000)) == 413
        assert caller.calls == []
        assert (await caller.tell(livekit_server, json.dumps(told).encode())) == 204
        assert len(caller.calls) == 1


def _closed(room: str, event: str, at: datetime) -> bytes:
    told = {"event": "room_finished", "id": event, "room": {"name": room}, "createdAt": str(int(at.timestamp()))}
    return json.dumps(told).encode()
