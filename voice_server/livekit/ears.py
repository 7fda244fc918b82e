"""Ears: one caller's track at a time, as frames of the rate that is heard at.

Above: ``leg`` says which track. Below: LiveKit's SDK resamples.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Frame
from voice_server.livekit.quiet import narrow_stream

if TYPE_CHECKING:
    from livekit import rtc

__all__ = ["Ears"]

FRAME_MS = 20
MOST_FRAMES = 50
"""Frames kept for a loop that is late: a second. Then the oldest are lost."""


class Ears:
    """Reads the track it is told to.

    Args:
        group: of the leg: one task in it for as long as a track is listened to, and none for a frame.
        hear: takes each frame.
    """

    def __init__(self, group: asyncio.TaskGroup, hear: Callable[[Frame], None]) -> None:
        self._group = group
        self._hear = hear
        self._reading: asyncio.Task[None] | None = None
        self.track: str | None = None
        """What is listened to."""

    def listen(self, track: rtc.RemoteAudioTrack) -> None:
        """Listen to a track, and to no other any more."""
        self.close()
        self.track = track.sid
        self._reading = self._group.create_task(self._read(track), name=f"ears on {track.sid}")

    def close(self) -> None:
        """Listen to nothing. Idempotent."""
        reading, self._reading, self.track = self._reading, None, None
        if reading is not None:
            reading.cancel()

    async def _read(self, track: rtc.RemoteAudioTrack) -> None:
        from livekit import rtc

        stream = rtc.AudioStream.from_track(
            track=track, sample_rate=HEARING_RATE, num_channels=1, frame_size_ms=FRAME_MS, capacity=MOST_FRAMES
        )
        narrow_stream(stream)
        try:
            async for event in stream:
                self._hear(Frame(np.frombuffer(event.frame.data, np.int16), HEARING_RATE))
        finally:
            await stream.aclose()
