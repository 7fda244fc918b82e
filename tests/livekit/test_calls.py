from __future__ import annotations

import pytest

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from voice_server.house import House

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
