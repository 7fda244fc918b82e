"""Who is listened to, and what becomes of a call whose people come and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from livekit import api

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import Caller, Stage, staged
from tests.livekit.voices import ToneVoice
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.live import LiveCall

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]

TELLER = "tests.e2e.agents:storyteller"


@pytest.fixture
async def stage(house: House, livekit_server: LiveKitServer) -> AsyncIterator[Stage]:
    async with staged(replace(house, synthesizer=ToneVoice()), livekit_server, agent=TELLER, grace_s=3.0) as stage:
        yield stage


async def _call(stage: Stage, identity: str = "ann") -> tuple[LiveCall, str, Caller]:
    call, room = stage.invite()
    caller = await stage.caller(room, identity)
    await caller.until(lambda: call.attached)
    return call, room, caller


async def _is_heard(caller: Caller, *, by: Caller | None = None) -> None:
    """Say a word that is heard; look at the events of somebody else when the speaker gets none."""
    listener = by or caller
    before = len([event for event in listener.all("words") if event["final"]])
    caller.says("yes")
    await listener.told("words", count=before + 1, final=True)


async def test_a_second_person_is_told_and_not_listened_to(stage: Stage) -> None:
    call, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    assert (await bob.told("ready"))["resumed"] is True
    bob.says("twelve-times-seven")
    await bob.until(lambda: len(bob.said_at) == 1 and not bob.to_say)
    await _is_heard(ann)
    assert [words["text"] for words in bob.all("words") if words["final"]] == ["Yes."]
    await bob.commands("hangup")
    refusal = await bob.told("error")
    assert refusal["code"] == "not_yours"
    assert not ann.all("error") and call.ending is None


async def test_the_one_who_was_named_is_listened_to_whoever_came_first(stage: Stage) -> None:
    call, room = stage.invite(listen_to="ann")
    bob = await stage.caller(room, "bob")
    ann = await stage.caller(room, "ann")
    await ann.until(lambda: call.attached)
    bob.says("twelve-times-seven")
    await bob.until(lambda: len(bob.said_at) == 1 and not bob.to_say)
    await _is_heard(ann)
    assert len([words for words in ann.all("words") if words["final"]]) == 1


async def test_who_leaves_and_comes_back_hears_the_rest_and_is_told_all_of_it(stage: Stage) -> None:
    call, room, ann = await _call(stage)
    assert call.controls is not None
    call.controls.narrate("one two three four five six seven eight nine ten eleven twelve")
    await ann.told("heard")
    await ann.leave()
    await ann.until(lambda: not call.attached)
    again = await stage.caller(room, "ann")
    told = await again.told("spoken")
    assert told["heard"].split()[-1] == "twelve" and not told["interrupted"]
    numbers = [event["seq"] for event in again.events if event["seq"] is not None]
    assert numbers[0] == 1 and set(numbers) == set(range(1, max(numbers) + 1))
    await _is_heard(again)
    assert call.ending is None


async def test_a_second_one_of_the_same_name_takes_over(stage: Stage) -> None:
    call, room, _ = await _call(stage)
    again = await stage.caller(room, "ann")
    await again.told("ready")
    await again.until(lambda: call.attached)
    await _is_heard(again)


async def test_who_does_not_come_back_has_hung_up(stage: Stage) -> None:
    _, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    await bob.told("ready")
    await ann.leave()
    assert (await bob.told("ended"))["reason"] == "disconnected"
    await bob.until(lambda: not len(stage.calls))


async def test_a_turn_ends_when_the_microphone_is_muted_in_mid_word(stage: Stage) -> None:
    _, _, ann = await _call(stage)
    assert ann.track is not None and ann.track.track is not None
    ann.says("what-time-is-it")
    await ann.told("speech", speaking=True)
    await asyncio.sleep(0.5)
    ann.track.track.mute()
    assert (await ann.told("turn", 5))["text"]
    ann.track.track.unmute()
    ann.to_say.clear()
    await _is_heard(ann)


async def test_a_microphone_that_is_published_again_is_heard(stage: Stage) -> None:
    _, _, ann = await _call(stage)
    assert ann.track is not None and ann.source is not None
    await ann.room.local_participant.unpublish_track(ann.track.sid)
    await ann.publish()
    await _is_heard(ann)


async def test_an_agent_that_is_put_out_of_the_room_has_ended_its_call(stage: Stage) -> None:
    call, room, ann = await _call(stage)
    async with api.LiveKitAPI(stage.server.url, stage.server.api_key, stage.server.api_secret) as server:
        await server.room.remove_participant(api.RoomParticipantIdentity(room=room, identity="agent"))
    await ann.until(lambda: not len(stage.calls))
    assert call.ending is Ending.REMOVED


async def test_a_call_ends_with_its_room(stage: Stage) -> None:
    call, room, ann = await _call(stage)
    async with api.LiveKitAPI(stage.server.url, stage.server.api_key, stage.server.api_secret) as server:
        await server.room.delete_room(api.DeleteRoomRequest(room=room))
    await ann.until(lambda: not len(stage.calls))
    assert call.ending is Ending.REMOVED
