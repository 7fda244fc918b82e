"""Callers in LiveKit's rooms, all in one process: they speak, listen to the answer, and speak again.

``python -m tests.bench.room_callers '{"url": "ws://…", "tokens": ["…"], "seconds": 60}'`` prints a line when all are
talking, and in the end a JSON object. It hears of answers by the events, and takes no audio: it is not in the way.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from dataclasses import asdict, dataclass

import numpy as np
from livekit import rtc

from tests.fixtures.catalogue import fixture

__all__ = ["Talked"]

ANSWER_LIMIT_S = 12.0
BREATH_S = 0.3
SPOKEN = ("what-time-is-it", "what-can-you-do", "twelve-times-seven", "what-day-is-it")
RATE = 16_000
FRAME_S = 0.1
"""Seconds given to the SDK at once: it sends them as time passes."""

SETTLE_S = 8.0
"""Seconds after the last caller has come: all have had an answer by then."""


@dataclass(slots=True, kw_only=True)
class Talked:
    """What came of it."""

    answered: int = 0
    lost: int = 0


class _Caller:
    """One participant, who speaks what the fixtures say."""

    def __init__(self, number: int, talked: Talked) -> None:
        self._number = number
        self._talked = talked
        self._room = rtc.Room()
        self._speech: deque[bytes] = deque()
        self._said = 0
        self._speaks_at = float("inf")
        self._lost_at = float("inf")
        self._loop = asyncio.get_running_loop()
        self._room.on("data_received", self._told)
        self._room.register_text_stream_handler("glove", lambda reader, _: self._begin(reader))

    async def come(self, url: str, token: str) -> rtc.AudioSource:
        await self._room.connect(url, token, rtc.RoomOptions())
        source = rtc.AudioSource(RATE, 1, queue_size_ms=200)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self._room.local_participant.publish_track(track, options)
        return source

    async def speak(self, source: rtc.AudioSource) -> None:
        size = round(RATE * FRAME_S)
        while True:
            now = self._loop.time()
            if not self._speech and self._speaks_at <= now:
                self._ask(now, size)
            if now > self._lost_at:
                self._talked.lost += 1
                self._rest(now)
            samples = self._speech.popleft() if self._speech else bytes(2 * size)
            await source.capture_frame(rtc.AudioFrame(samples, RATE, 1, size))

    async def go(self) -> None:
        await self._room.disconnect()

    def _begin(self, reader: rtc.TextStreamReader) -> None:
        reader.close()
        self._speaks_at = min(self._speaks_at, self._loop.time() + BREATH_S)

    def _told(self, packet: rtc.DataPacket) -> None:
        if packet.topic != "glove":
            return
        if b'"type":"ready"' in packet.data:
            self._speaks_at = self._loop.time() + BREATH_S
        elif b'"type":"spoken"' in packet.data:
            self._talked.answered += 1
            self._rest(self._loop.time())

    def _ask(self, now: float, size: int) -> None:
        samples = fixture(SPOKEN[(self._number + self._said) % len(SPOKEN)]).samples()
        padded = np.concatenate([samples, np.zeros(-len(samples) % size, np.int16)]).tobytes()
        self._speech.extend(padded[at : at + 2 * size] for at in range(0, len(padded), 2 * size))
        self._speaks_at = float("inf")
        self._lost_at = now + ANSWER_LIMIT_S

    def _rest(self, now: float) -> None:
        self._said += 1
        self._lost_at = float("inf")
        self._speaks_at = now + BREATH_S


async def talk(*, url: str, tokens: list[str], ramp_s: float, seconds: float) -> Talked:
    """Hold a call with each token for a while, all at once."""
    talked = Talked()
    async with asyncio.TaskGroup() as group:
        callers, speaking = [], []
        for number, token in enumerate(tokens):
            caller = _Caller(number, talked)
            callers.append(caller)
            speaking.append(group.create_task(caller.speak(await caller.come(url, token))))
            await asyncio.sleep(ramp_s / len(tokens))
        await asyncio.sleep(SETTLE_S)
        print("talking", flush=True)
        await asyncio.sleep(seconds)
        for task in speaking:
            task.cancel()
        for caller in callers:
            await caller.go()
    return talked


def main() -> None:
    """Talk."""
    print(json.dumps(asdict(asyncio.run(talk(**json.loads(sys.argv[1]))))), flush=True)


if __name__ == "__main__":
    main()
