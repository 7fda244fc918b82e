"""The same whole server as ``socket_server``, with LiveKit's rooms, and a watch on what its calls give the SDK.

In a process of its own: ``python -m tests.bench.room_server '{"url": "ws://…", "key": "…", "secret": "…"}'`` prints the
port, and serves until its standard input ends. ``GET /watch`` gives what was seen since it was last asked.
"""

from __future__ import annotations

import json
import sys
import time

from pydantic import SecretStr

from pipelines.audio.frame import Samples
from pipelines.playout.player import PlayerSettings
from tests.bench import socket_server
from voice_server.livekit import leg
from voice_server.livekit.output import RoomOutput, Source

PAUSE_S = 0.5
"""Seconds without anything to play after which something else is said."""

late: list[float] = []


class WatchedOutput(RoomOutput):
    """Notes how late every frame is given to the SDK, against when it was due: a lead before the queue runs dry."""

    begun_at = dry_at = said_at = 0.0

    def play(self, epoch: int, samples: Samples) -> None:
        now = time.perf_counter()
        if now - self.said_at > PAUSE_S:
            self.begun_at = self.dry_at = now
        self.said_at = now
        super().play(epoch, samples)

    async def _capture(self, source: Source, samples: Samples) -> None:
        due = self.dry_at - PlayerSettings().lead_s
        now = time.perf_counter()
        if due >= self.begun_at:
            late.append(max(0.0, now - due))
        self.dry_at += len(samples) / self.rate
        await super()._capture(source, samples)


def main() -> None:
    """Serve."""
    asked = json.loads(sys.argv[1])
    leg.__dict__["RoomOutput"] = WatchedOutput
    socket_server.run(
        {
            "livekit_url": asked["url"],
            "livekit_api_key": asked["key"],
            "livekit_api_secret": SecretStr(asked["secret"]),
        },
        late,
    )


if __name__ == "__main__":
    main()
