"""Rooms that cannot be joined."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from tests.livekit.voices import ToneVoice
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.livekit.access import Access
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.leg import join

pytestmark = pytest.mark.room


@pytest.mark.parametrize("wrong", ["key", "url"])
async def test_a_call_whose_room_cannot_be_joined_fails_and_says_why(
    house: House, livekit_server: LiveKitServer, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    access = Access(url=livekit_server.url, api_key=livekit_server.api_key, api_secret=livekit_server.api_secret)
    access = replace(access, api_secret="x" * 40) if wrong == "key" else replace(access, url="ws://127.0.0.1:9")
    async with staged(replace(house, synthesizer=ToneVoice()), livekit_server) as stage:
        room = f"room-{uuid.uuid4().hex}"
        call = join(stage.calls, access, Invitation(room=room, conversation=room))
        told = [event async for event in call.stream.follow(0)]
        assert [event.type for event in told][-2:] == ["error", "ended"]
        assert "the agent cannot join the room" in told[-2].text
        assert call.ending is Ending.FAILED
        while len(stage.calls):
            await stage.clock.sleep(0.01)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("voice_server")]
    assert any(f"room '{room}' cannot be joined" in line for line in ours)
    assert not any(access.api_secret in line or "eyJ" in line for line in ours)
