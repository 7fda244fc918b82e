"""A telephone in a room: what is known of it, and how its call ends."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import replace

import pytest

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from tests.livekit.voices import ToneVoice, words_heard
from voice_server.clients.stream import Told
from voice_server.ending import Ending
from voice_server.house import House

pytestmark = [pytest.mark.room, pytest.mark.realtime]

SIP = {
    "sip.phoneNumber": "+43664123456",
    "sip.trunkPhoneNumber": "+4315550",
    "sip.trunkID": "ST_trunk",
    "sip.callID": "SCL_1",
}


async def test_the_agent_knows_who_calls_and_hangs_up_when_its_goodbye_was_heard(
    house: House, livekit_server: LiveKitServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with staged(
        replace(house, synthesizer=ToneVoice()), livekit_server, agent="tests.livekit.agents:operator"
    ) as stage:
        call, room = stage.invite()
        phone = await stage.caller(room, "sip_+43664123456", kind="sip", attributes=SIP)
        await phone.until(lambda: call.attached)
        assert dict(call.leg.caller) == {
            "kind": "sip", "number": "+43664123456", "dialled": "+4315550", "trunk": "ST_trunk", "call": "SCL_1"
        }  # fmt: skip
        assert call.controls is not None
        call.controls.type_in("Who am I?")
        told = [event async for event in _until(call.stream.follow(0), "spoken")]
        assert "+43664123456" in told[-1].text and "They dialled: +4315550" in told[-1].text
        call.controls.type_in("Put me through, please.")
        told = [event async for event in _until(call.stream.follow(call.stream.seq), "spoken")]
        assert "could not be put through" in told[-1].text
        before = len(words_heard(phone.heard.samples))
        call.controls.type_in("bye")
        told = [event async for event in call.stream.follow(call.stream.seq)]
        assert '"interrupted":false' in next(event.text for event in told if event.type == "spoken")
        await phone.until(lambda: not len(stage.calls))
    assert call.ending is Ending.ENDED
    assert len(words_heard(phone.heard.samples)) - before >= 9
    assert "43664123456" not in caplog.text


async def _until(events: AsyncIterable[Told], type: str) -> AsyncIterator[Told]:
    async for event in events:
        yield event
        if event.type == type:
            return
