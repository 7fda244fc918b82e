from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Literal

import pytest
from livekit import api, rtc

from voice_server.livekit.access import Access
from voice_server.livekit.tokens import AGENT, BEHALF, CONVERSATION, agent_token, avatar_token, caller_token

pytestmark = pytest.mark.room

Join = Callable[[str], Awaitable[rtc.Room]]


@pytest.fixture
async def join(access: Access) -> AsyncIterator[Join]:
    """Join rooms by tokens; they are left when the test is over."""
    async with AsyncExitStack() as rooms:

        async def join(token: str) -> rtc.Room:
            room = rtc.Room()
            await room.connect(access.url, token)
            rooms.push_async_callback(room.disconnect)
            return room

        yield join


@pytest.fixture
def room() -> str:
    return f"room-{uuid.uuid4().hex[:8]}"


def _token(access: Access, room: str, identity: str = "ann", lasts_s: float = 600.0) -> str:
    return caller_token(access, room=room, identity=identity, conversation="trip-7", lasts_s=lasts_s, name="Ann")


async def _publish(room: rtc.Room, track: rtc.LocalTrack, source: rtc.TrackSource.ValueType) -> None:
    await room.local_participant.publish_track(track, rtc.TrackPublishOptions(source=source))


@pytest.fixture
async def server(access: Access) -> AsyncIterator[api.LiveKitAPI]:
    """What the server says to whoever has its key."""
    async with api.LiveKitAPI(access.url, access.api_key, access.api_secret) as server:
        yield server


def _next(room: rtc.Room, event: Literal["data_received", "participant_attributes_changed"]) -> asyncio.Future[object]:
    """Give what comes with the next event, once it has come."""
    coming: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    room.once(event, lambda *told: coming.set_result(told[0]))
    return coming


async def test_a_caller_s_token_joins_its_room_and_brings_the_conversation(
    access: Access, join: Join, room: str
) -> None:
    joined = await join(_token(access, room))
    me = joined.local_participant
    assert (joined.name, me.identity, me.name) == (room, "ann", "Ann")
    assert me.attributes == {CONVERSATION: "trip-7"}
    assert me.kind == rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD


async def test_a_caller_publishes_a_microphone_and_no_camera(
    access: Access, server: api.LiveKitAPI, join: Join, room: str
) -> None:
    joined = await join(_token(access, room))
    microphone = rtc.LocalAudioTrack.create_audio_track("voice", rtc.AudioSource(48_000, 1))
    await _publish(joined, microphone, rtc.TrackSource.SOURCE_MICROPHONE)
    assert len(joined.local_participant.track_publications) == 1
    camera = rtc.LocalVideoTrack.create_video_track("face", rtc.VideoSource(64, 64))
    with pytest.raises(TimeoutError):  # the server ignores it
        async with asyncio.timeout(1):
            await _publish(joined, camera, rtc.TrackSource.SOURCE_CAMERA)
    there = await server.room.get_participant(api.RoomParticipantIdentity(room=room, identity="ann"))
    assert [track.name for track in there.tracks] == ["voice"]


async def test_a_caller_sends_data_to_others(access: Access, join: Join, room: str) -> None:
    ann, bob = await join(_token(access, room, "ann")), await join(_token(access, room, "bob"))
    heard = _next(ann, "data_received")
    await bob.local_participant.publish_data(b"hello", destination_identities=["ann"])
    packet = await asyncio.wait_for(heard, 5)
    assert isinstance(packet, rtc.DataPacket)
    assert packet.data == b"hello"


async def test_nobody_takes_another_s_conversation(
    access: Access, server: api.LiveKitAPI, join: Join, room: str
) -> None:
    joined = await join(_token(access, room))
    await joined.local_participant.set_attributes({CONVERSATION: "trip-8"})
    microphone = rtc.LocalAudioTrack.create_audio_track("voice", rtc.AudioSource(48_000, 1))
    await _publish(joined, microphone, rtc.TrackSource.SOURCE_MICROPHONE)  # the server answers in order
    there = await server.room.get_participant(api.RoomParticipantIdentity(room=room, identity="ann"))
    assert there.attributes == {CONVERSATION: "trip-7"}


async def test_a_caller_has_no_say_over_rooms(access: Access, join: Join, room: str) -> None:
    await join(_token(access, room))
    async with api.LiveKitAPI.with_token(_token(access, room), access.url) as caller:
        for ask in (
            lambda: caller.room.list_rooms(api.ListRoomsRequest()),
            lambda: caller.room.list_participants(api.ListParticipantsRequest(room=room)),
            lambda: caller.room.delete_room(api.DeleteRoomRequest(room=room)),
        ):
            with pytest.raises(api.TwirpError, match="permission"):
                await ask()


async def test_a_token_opens_its_room_for_a_while_only(access: Access, join: Join, room: str) -> None:
    with pytest.raises(rtc.ConnectError, match="401 Unauthorized"):
        await join(_token(access, room, lasts_s=-120.0))


async def test_a_token_signed_with_another_key_opens_nothing(access: Access, join: Join, room: str) -> None:
    forged = Access(url=access.url, api_key=access.api_key, api_secret="s" * 32)
    with pytest.raises(rtc.ConnectError, match="401 Unauthorized"):
        await join(_token(forged, room))


async def test_the_agent_says_what_it_is_doing(access: Access, join: Join, room: str) -> None:
    joined = await join(agent_token(access, room=room, lasts_s=60.0))
    me = joined.local_participant
    told = _next(joined, "participant_attributes_changed")
    await me.set_attributes({"lk.agent.state": "listening"})
    await asyncio.wait_for(told, 5)
    assert (me.identity, me.kind) == (AGENT, rtc.ParticipantKind.PARTICIPANT_KIND_AGENT)
    assert me.attributes["lk.agent.state"] == "listening"


async def test_an_avatar_speaks_for_the_agent_and_shows_a_face(access: Access, join: Join, room: str) -> None:
    joined = await join(avatar_token(access, room=room, identity="face", lasts_s=60.0))
    me = joined.local_participant
    assert me.attributes == {BEHALF: AGENT}
    assert me.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
    camera = rtc.LocalVideoTrack.create_video_track("face", rtc.VideoSource(64, 64))
    await _publish(joined, camera, rtc.TrackSource.SOURCE_CAMERA)
    assert len(me.track_publications) == 1


async def test_a_phone_s_token_says_that_it_is_one(access: Access, join: Join, room: str) -> None:
    token = caller_token(
        access,
        room=room,
        identity="sip_1",
        conversation="trip-9",
        lasts_s=60.0,
        kind="sip",
        attributes={"sip.phoneNumber": "+43512", CONVERSATION: "another"},
    )
    me = (await join(token)).local_participant
    assert me.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP
    assert me.attributes == {"sip.phoneNumber": "+43512", CONVERSATION: "trip-9"}
