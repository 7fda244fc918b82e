"""A stage with a room: calls held in this process on a real LiveKit server, and callers with the official SDK."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from livekit import rtc
from pydantic import SecretStr

from pipelines.audio.frame import SPEAKING_RATE, Samples
from pipelines.audio.resample import Resampler
from pipelines.clock import RealClock
from tests.fixtures.catalogue import fixture
from tests.livekit.server import LiveKitServer
from voice_server.calls import Calls
from voice_server.conversations import Conversations
from voice_server.house import House
from voice_server.live import LiveCall
from voice_server.livekit.access import Access
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.leg import join
from voice_server.livekit.tokens import caller_token
from voice_server.settings import Settings
from voice_server.telemetry.metrics import Metrics

__all__ = ["Caller", "Stage", "staged"]

RATE = 48_000
FRAME_S = 0.02


@dataclass
class Heard:
    """What somebody received, and when."""

    parts: list[tuple[float, Samples]] = field(default_factory=list)
    """Each with the time it came at, in seconds of the process's clock."""

    @property
    def samples(self) -> Samples:
        return np.concatenate([part for _, part in self.parts]) if self.parts else np.zeros(0, np.int16)

    def loud_at(self, threshold: int = 300) -> list[float]:
        """When loud parts came."""
        return [at for at, part in self.parts if np.abs(part.astype(np.int32)).max(initial=0) > threshold]

    def since(self, at: float) -> Samples:
        parts = [part for came, part in self.parts if came >= at]
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)


@dataclass
class Caller:
    """One participant with the official SDK."""

    identity: str
    room: rtc.Room
    heard: Heard = field(default_factory=Heard)
    events: list[dict[str, Any]] = field(default_factory=list)
    again: int = 0
    """Events that were told before."""
    texts: list[tuple[str, dict[str, str], list[str]]] = field(default_factory=list)
    """Of each text on LiveKit's own topics: whose it is, its attributes, and its pieces as they came."""
    to_say: deque[Samples] = field(default_factory=deque)
    said_at: list[float] = field(default_factory=list)
    """When each recording began to be sent."""
    source: rtc.AudioSource | None = None
    track: rtc.LocalTrackPublication | None = None
    _known: set[tuple[str, int | None]] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _doing: set[asyncio.Task[None]] = field(default_factory=set)

    # ------------------------------------------------------------------------------------------------------- hearing

    def attend(self) -> None:
        """Listen to everything; before the room is joined."""

        def hear(track: rtc.Track, *_: object) -> None:
            if isinstance(track, rtc.RemoteAudioTrack):
                self.do(self._hear(track))

        def packet(packet: rtc.DataPacket) -> None:
            # What nobody in the room has sent comes from LiveKit's server.
            by_agent = packet.participant is None or packet.participant.identity.startswith("agent")
            if packet.topic == "glove" and by_agent:
                self._tell(packet.data.decode())

        def text(reader: rtc.TextStreamReader, identity: str) -> None:
            self.do(self._read(reader, identity))

        self.room.on("track_subscribed", hear)
        self.room.on("data_received", packet)
        for topic in ("glove", "lk.transcription"):
            self.room.register_text_stream_handler(topic, text)

    async def _hear(self, track: rtc.RemoteAudioTrack) -> None:
        stream = rtc.AudioStream.from_track(track=track, sample_rate=SPEAKING_RATE, num_channels=1, frame_size_ms=10)
        try:
            async for event in stream:
                self.heard.parts.append((time.monotonic(), np.frombuffer(event.frame.data, np.int16).copy()))
        finally:
            await stream.aclose()

    async def _read(self, reader: rtc.TextStreamReader, identity: str) -> None:
        if reader.info.topic == "glove":
            for line in (await reader.read_all()).splitlines():
                self._tell(line)
            return
        attributes = reader.info.attributes or {}
        pieces: list[str] = []
        self.texts.append((identity, attributes, pieces))
        async for piece in reader:
            pieces.append(piece)
            self._news.set()
        attributes |= reader.info.attributes or {}
        self._news.set()

    def _tell(self, line: str) -> None:
        event = json.loads(line)
        number = (event["call"], event["seq"])
        if event["seq"] is not None and number in self._known:
            self.again += 1
        else:
            self._known.add(number)
            self.events.append(event)
        self._news.set()

    def all(self, type: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events if event["type"] == type]

    async def told(self, type: str, limit_s: float = 15.0, count: int = 1, **data: Any) -> dict[str, Any]:
        """Wait for the nth event of a type with such data, whether it has come already or not."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [e for e in self.all(type) if all(e.get(name) == value for name, value in data.items())]
            return len(found) >= count

        await self.until(there, limit_s)
        return found[count - 1]

    async def until(self, holds: Callable[[], bool], limit_s: float = 15.0) -> None:
        """Wait until something holds, looked at whenever anything comes and a hundred times a second."""
        async with asyncio.timeout(limit_s):
            while not holds():
                self._news.clear()
                try:
                    async with asyncio.timeout(0.01):
                        await self._news.wait()
                except TimeoutError:
                    pass

    async def quiet(self, seconds: float = 0.5, limit_s: float = 15.0) -> None:
        """Wait until the agent was silent for a while."""
        await self.until(lambda: time.monotonic() - max(self.heard.loud_at(), default=0.0) > seconds, limit_s)

    # ------------------------------------------------------------------------------------------------------ speaking

    async def publish(self) -> None:
        """Open the microphone; it is silent while nothing is to be said."""
        self.source = source = rtc.AudioSource(RATE, 1, queue_size_ms=100)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        self.track = await self.room.local_participant.publish_track(track, options)
        self.do(self._speak(source))

    async def _speak(self, source: rtc.AudioSource) -> None:
        size = int(RATE * FRAME_S)
        silence = np.zeros(size, np.int16)
        while True:
            samples = self.to_say.popleft() if self.to_say else silence
            if len(samples) != size:
                self.said_at.append(time.monotonic())
                self.to_say.extendleft([samples[at : at + size] for at in range(0, len(samples), size)][::-1])
                continue
            await source.capture_frame(rtc.AudioFrame(samples.tobytes(), RATE, 1, size))

    def says(self, *names: str) -> None:
        """Say recordings of the fixtures behind what is being said."""
        for name in names:
            self.says_samples(Resampler(16_000, RATE).process(fixture(name).samples()))

    def says_samples(self, samples: Samples) -> None:
        size = int(RATE * FRAME_S)
        self.to_say.append(np.concatenate([samples, np.zeros(size * 2 - len(samples) % size, np.int16)]))

    async def commands(self, type: str, **fields: Any) -> None:
        await self.sends(json.dumps({"type": type, **fields}))

    async def sends(self, data: str | bytes, topic: str = "glove") -> None:
        await self.room.local_participant.publish_data(data, topic=topic)

    # --------------------------------------------------------------------------------------------------------- going

    def do(self, doing: Any) -> None:
        task = asyncio.get_running_loop().create_task(doing)
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)

    async def leave(self) -> None:
        for task in tuple(self._doing):
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)
        await self.room.disconnect()
        if self.source is not None:
            await self.source.aclose()


@dataclass
class Stage:
    """Calls, and a LiveKit server."""

    calls: Calls
    access: Access
    server: LiveKitServer
    clock: RealClock
    _names: int = 0
    callers: list[Caller] = field(default_factory=list)

    def invite(self, room: str | None = None, **more: Any) -> tuple[LiveCall, str]:
        """Have the agent in a room of its own."""
        self._names += 1
        name = room or f"room-{time.monotonic_ns()}-{self._names}"
        how = {"conversation": f"talk-{name}", **more}
        return join(self.calls, self.access, Invitation(room=name, **how)), name

    async def caller(self, room: str, identity: str = "ann", *, mute: bool = False, **token: Any) -> Caller:
        """Come into a room, with a microphone unless mute."""
        how = {"conversation": "of-no-matter", "lasts_s": 600.0, **token}
        caller = Caller(identity, rtc.Room())
        self.callers.append(caller)
        caller.attend()
        await caller.room.connect(self.server.url, caller_token(self.access, room=room, identity=identity, **how))
        if not mute:
            await caller.publish()
        return caller


@asynccontextmanager
async def staged(house: House, server: LiveKitServer, **settings: Any) -> AsyncIterator[Stage]:
    """Open the stage; in the end nothing is left over."""
    before = asyncio.all_tasks()
    wanted = Settings(
        model="offline",
        livekit_url=server.url,
        livekit_api_key=server.api_key,
        livekit_api_secret=SecretStr(server.api_secret),
        **settings,
    )
    conversations = await Conversations.connect(wanted)
    try:
        async with asyncio.TaskGroup() as group:
            clock = RealClock()
            calls = Calls(wanted, house, conversations, clock, group, Metrics())
            stage = Stage(calls, Access.of(wanted), server, clock)
            try:
                yield stage
            finally:
                await calls.drain(0.0)
                for caller in stage.callers:
                    await caller.leave()
    finally:
        await conversations.aclose()
    left = [task for task in asyncio.all_tasks() - before - {asyncio.current_task()} if not task.done()]
    assert not left, f"tasks are left over: {left}"
