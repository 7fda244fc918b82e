"""A media server that dies, and is back or is not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import Caller, staged
from tests.livekit.voices import ToneVoice
from voice_server.ending import Ending
from voice_server.house import House

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]


def _values(caller: Caller) -> dict[str, Any]:
    """What of the form is filled in, as the caller was told last."""
    (form,) = caller.all("forms")[-1]["forms"]
    return {field["id"]: field["value"] for field in form["fields"] if field["value"] is not None}


async def test_a_caller_is_heard_again_soon_after_the_server_is(
    house: House, start_livekit: Callable[..., LiveKitServer]
) -> None:
    server = await asyncio.to_thread(start_livekit)
    async with staged(
        replace(house, synthesizer=ToneVoice()), server, agent="agents.concierge:create", grace_s=15.0
    ) as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        ann.says("flights-for-two")
        await ann.told("forms")
        await ann.told("utterance")
        server.kill()
        await ann.until(lambda: not call.attached)
        await asyncio.sleep(1)
        await asyncio.to_thread(server.start)
        restarted = time.monotonic()
        heard = len(ann.all("speech"))
        while len(ann.all("speech")) == heard:
            ann.says("mm-hm")
            await ann.until(lambda: not ann.to_say)
            assert time.monotonic() - restarted < 10
        assert time.monotonic() - restarted < 5
        before = _values(ann)
        await ann.until(lambda: not ann.to_say)
        await ann.quiet(1.0)
        ann.says("my-name-is-laura")
        await ann.until(lambda: len(_values(ann)) > len(before))
        assert before and before.items() <= _values(ann).items()
        assert call.ending is None


async def test_a_call_whose_server_stays_away_is_over(
    house: House, start_livekit: Callable[..., LiveKitServer]
) -> None:
    server = await asyncio.to_thread(start_livekit)
    async with staged(
        replace(house, synthesizer=ToneVoice()), server, agent="agents.concierge:create", grace_s=2.0
    ) as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        server.kill()
        await ann.until(lambda: not len(stage.calls))
        assert call.ending is Ending.MEDIA_LOST
