from __future__ import annotations

import uuid

import pytest

from pipelines.audio.frame import SPEAKING_RATE, Samples
from pipelines.playout.output import Report
from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from voice_server.house import House
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.leg import join

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]


async def test_a_caller_is_answered(house: House, livekit_server: LiveKitServer) -> None:
    async with staged(house, livekit_server, agent="agents.desk:create") as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.told("ready")
        await ann.until(lambda: call.attached)
        ann.says("twelve-times-seven")
        spoken = await ann.told("spoken")
        assert "84" in spoken["heard"]
        print(ann.texts)
        print([e["type"] for e in ann.events if e["type"] != "level"])


class Face:
    """An avatar's output: it plays at once what it is given."""

    rate = SPEAKING_RATE
    can_pause = True

    def __init__(self) -> None:
        self.played = 0
        self._report: Report | None = None

    def attach(self, report: Report) -> None:
        self._report = report

    def play(self, epoch: int, samples: Samples) -> None:
        self.played += len(samples)
        assert self._report is not None
        self._report(epoch, self.played / self.rate)

    def pause(self) -> None:
        pass

    def unpause(self) -> None:
        pass

    def clear(self, epoch: int) -> None:
        pass

    async def aclose(self) -> None:
        self._report = None


async def test_an_agent_whose_voice_is_an_avatar_s_publishes_none_of_its_own(
    house: House, livekit_server: LiveKitServer
) -> None:
    face = Face()
    async with staged(house, livekit_server, agent="tests.e2e.agents:echo") as stage:
        room = f"room-{uuid.uuid4().hex}"
        call = join(stage.calls, stage.access, Invitation(room=room, conversation=room), voice=face)
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        await ann.room.local_participant.send_text("hello", topic="lk.chat")
        assert (await ann.told("spoken"))["heard"].strip() == "You said hello"
        assert face.played > SPEAKING_RATE / 2
        assert not ann.room.remote_participants["agent"].track_publications
        assert not ann.heard.parts
