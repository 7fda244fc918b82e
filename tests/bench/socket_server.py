"""A whole server with real Silero, the comparison's fixed-delay vendors, and a watch on what it sends.

In a process of its own: ``python -m tests.bench.socket_server '{"calls": 48}'`` prints the port, and serves until its
standard input ends. ``GET /watch`` gives what was seen since it was last asked.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.core.glove import Glove
from agents.core.model import Model, ModelEvent, ModelFinished, ModelRequest, TextChunk
from pipelines.audio.frame import Samples
from pipelines.clock import Clock
from pipelines.playout.player import PlayerSettings
from pipelines.stt.base import Emit, Final
from pipelines.tts.base import SpeechAudio
from tests.bench.peers.trial import quantile, resident_kb
from tests.bench.peers.vendors import LONG_REPLY, RATE, TRANSCRIPT, speak, think
from voice_server.serve import server
from voice_server.service import Front
from voice_server.settings import load_settings

__all__ = ["Seen", "run"]


@dataclass(slots=True, kw_only=True)
class Seen:
    """What the server did in a stretch of time. Seconds, kilobytes."""

    lateness_s: list[float]
    """Quantiles 0.5, 0.9, 0.99 and 1 of how late audio was sent."""
    frames: int
    cpu: float
    """Of a core."""
    resident_kb: float
    tasks: int
    files: int
    calls: int


@dataclass(slots=True)
class _Watch:
    """Looks at everything that leaves, when it has left."""

    app: ASGIApp
    front: Front
    late: list[float] = field(default_factory=list)
    since: tuple[float, float] = (0.0, 0.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self.app(scope, receive, self._watched(send))
        elif scope["type"] == "http" and scope["path"] == "/watch":
            await JSONResponse(self._seen())(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _watched(self, send: Send) -> Send:
        lead_s = PlayerSettings().lead_s
        begun_at = dry_at = 0.0
        begins = True

        async def watched(message: Message) -> None:
            nonlocal begun_at, dry_at, begins
            await send(message)
            if message.get("text") is not None:
                begins = begins or '"type":"utterance"' in message["text"][:150]
            elif message.get("bytes") is not None:
                now = time.perf_counter()
                if begins:
                    begun_at = dry_at = max(now, dry_at)
                    begins = False
                elif (due := dry_at - lead_s) >= begun_at:  # what is sent at once in the beginning was never due before
                    self.late.append(max(0.0, now - due))
                dry_at += (len(message["bytes"]) - 4) / 2 / RATE

        return watched

    def _seen(self) -> dict[str, object]:
        gc.collect()
        late = self.late.copy()
        self.late.clear()
        (cpu, wall), self.since = self.since, (time.process_time(), time.perf_counter())
        return {
            "lateness_s": [quantile(late, q) for q in (0.5, 0.9, 0.99, 1)] if late else [0.0] * 4,
            "frames": len(late),
            "cpu": (self.since[0] - cpu) / (self.since[1] - wall),
            "resident_kb": resident_kb(),
            "tasks": len(asyncio.all_tasks()),
            "files": len(os.listdir("/proc/self/fd")),
            "calls": len(self.front.running.calls),
        }


class Recognizer:
    """Understands the same, whatever is said, the moment it is told that the speech is over."""

    name = "fixed"

    def warm(self) -> None:
        pass

    def open(self, clock: Clock, emit: Emit) -> _Hearing:
        return _Hearing(emit)


class _Hearing:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        pass

    def feed(self, segment: int, samples: Samples) -> None:
        pass

    def pause(self, segment: int) -> None:
        pass

    def end(self, segment: int) -> None:
        asyncio.get_running_loop().call_soon(self._emit, Final(segment=segment, text=TRANSCRIPT))

    def drop(self, segment: int) -> None:
        pass

    async def aclose(self) -> None:
        pass


class Voice:
    """Speaks the vendors' sound."""

    name = "fixed"
    rate = RATE

    def warm(self) -> None:
        pass

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        async for chunk in speak(text):
            yield SpeechAudio(samples=np.frombuffer(chunk, np.int16))


class _Fixed:
    name = "fixed"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for token in think(LONG_REPLY):
            yield TextChunk(text=token)
        yield ModelFinished(stop_reason="stop")


def create(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Make the agent: it says the same to everything."""
    return Glove(model=_Fixed())


def run(changes: dict[str, object], late: list[float]) -> None:
    """Serve until standard input ends.

    Args:
        changes: to the settings.
        late: where it is noted how late each frame leaves, in seconds.
    """
    here = "tests.bench.socket_server"
    settings = load_settings(
        agent=f"{here}:create", model="offline", stt=f"{here}:Recognizer", tts=f"{here}:Voice", drain_s="0", grace_s="0"
    ).model_copy(update=changes)
    front = Front(settings)
    running = server(front)
    running.config.app = _Watch(running.config.app, front, late)  # type: ignore[arg-type]
    listening = socket.create_server(("127.0.0.1", 0))

    def until_told() -> None:
        sys.stdin.read()
        running.should_exit = True

    threading.Thread(target=until_told, daemon=True).start()
    print(listening.getsockname()[1], flush=True)
    running.run(sockets=[listening])


def main() -> None:
    """Serve."""
    run(json.loads(sys.argv[1]), [])


if __name__ == "__main__":
    main()
