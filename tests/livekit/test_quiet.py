"""Rooms and streams of one process do not wake one another."""

from __future__ import annotations

import asyncio
import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from livekit import rtc
from livekit.rtc._ffi_client import FfiClient
from livekit.rtc._proto.ffi_pb2 import FfiEvent

from tests.livekit.server import LiveKitServer
from voice_server.livekit.access import Access
from voice_server.livekit.quiet import narrow_room, narrow_stream
from voice_server.livekit.tokens import caller_token


def _event(kind: str, **handle: int) -> FfiEvent:
    event = FfiEvent()
    part = getattr(event, kind)
    for name, value in handle.items():
        setattr(part, name, value)
    part.SetInParent()
    return event


async def test_each_is_told_of_its_own_alone() -> None:
    queue = FfiClient.instance.queue
    stream: Any = SimpleNamespace(_ffi_handle=SimpleNamespace(handle=7), _ffi_queue=queue.subscribe())
    room: Any = SimpleNamespace(_ffi_handle=SimpleNamespace(handle=8), _ffi_queue=queue.subscribe())
    try:
        assert narrow_stream(stream) and narrow_room(room)
        for event in (
            _event("audio_stream_event", stream_handle=7),
            _event("audio_stream_event", stream_handle=9),
            _event("room_event", room_handle=8),
            _event("room_event", room_handle=9),
            _event("capture_audio_frame", async_id=1),
            _event("publish_track", async_id=2),
        ):
            queue.put(event)
        await asyncio.sleep(0.01)
        told = [
            [each.get_nowait().WhichOneof("message") for _ in range(each.qsize())]
            for each in (stream._ffi_queue, room._ffi_queue)
        ]
        assert told == [["audio_stream_event"], ["room_event", "publish_track"]]
    finally:
        queue.unsubscribe(stream._ffi_queue)
        queue.unsubscribe(room._ffi_queue)


def test_an_sdk_that_keeps_it_otherwise_is_left_as_it_is() -> None:
    other: Any = SimpleNamespace()
    assert not narrow_stream(other) and not narrow_room(other)


@pytest.mark.room
@pytest.mark.realtime
async def test_the_sdk_there_is_keeps_it_as_it_is_known(livekit_server: LiveKitServer) -> None:
    access = Access(url=livekit_server.url, api_key=livekit_server.api_key, api_secret=livekit_server.api_secret)
    token = caller_token(access, room=f"room-{uuid.uuid4().hex}", identity="ann", conversation="none", lasts_s=60.0)
    room = rtc.Room()
    await room.connect(access.url, token)
    source = rtc.AudioSource(16_000, 1)
    stream = rtc.AudioStream(rtc.LocalAudioTrack.create_audio_track("voice", source))
    try:
        assert narrow_room(room) and narrow_stream(stream)
    finally:
        await stream.aclose()
        await room.disconnect()
        await source.aclose()
