"""A call in a room with a speech-to-speech model: the same room, the same agent, another pipeline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.vad.silero import SileroModel
from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from tests.realtime.mind import Called, ScriptedMind
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from voice_server.house import House
from voice_server.settings import PipelineKind

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]


async def test_a_caller_in_a_room_talks_to_the_provider_s_model(house: House, livekit_server: LiveKitServer) -> None:
    mind = ScriptedMind(hears=["What time is it?"], answers=[[Called(name="tell_time")], ["It is noon."]])
    ear = SileroModel()
    ear.warm()
    async with OpenAIService(mind, voice_model=ear) as service:
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)
        with_provider = replace(house, adapter=adapter)
        async with staged(with_provider, livekit_server, agent="agents.desk:create") as stage:
            call, room = stage.invite(pipeline=PipelineKind.REALTIME)
            ann = await stage.caller(room)
            ready = await ann.told("ready")
            await ann.until(lambda: call.attached)
            ann.says("what-time-is-it")
            spoken = await ann.told("spoken")
        assert (ready["pipeline"], ready["model"]) == ("realtime", f"openai:{MODEL}")
        assert spoken["heard"].strip() == "It is noon."
        assert service.session.refusals == []
