"""What a whole server does with many calls in LiveKit's rooms: on time, and nothing left behind.

The agent's server runs in one process (``room_server``), all callers in another (``room_callers``), and LiveKit's in a
third.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.room_callers import Talked
from tests.bench.sockets import Server, serving
from tests.livekit.program import find
from tests.livekit.server import LiveKitServer
from voice_server.livekit.access import Access
from voice_server.livekit.tokens import caller_token

__all__ = ["figures"]

ROOMS = 20
TALK_S = 60.0
RAMP_S = 10.0

LATE_S = 0.040
"""The aim: of a hundred frames, ninety-nine are not later."""

MEMORY_MB = 20.0
"""The aim: how much more the server has when all calls are over than when the first had been."""

GONE_S = 15.0
"""Seconds after which all calls are over that lost their caller."""


def figures(rooms: int = ROOMS, seconds: float = TALK_S) -> Iterator[Figure]:
    """Measure; two minutes. Needs LiveKit's server: `make livekit`."""
    with _livekit() as livekit, serving("room_server", _asked(livekit)) as server:
        _talk(server, livekit, "warm", 1, 1.0)
        before = server.watch()
        with _callers(livekit, "all", rooms, RAMP_S, seconds, server) as callers:
            assert callers.stdout is not None
            callers.stdout.readline()
            server.watch()
            time.sleep(seconds)
            seen = server.watch()
            talked = Talked(**json.loads(callers.stdout.read()))
        _gone(server)
        after = server.watch()
    half, _, most, all_ = seen.lateness_s
    yield Figure(
        what=f"{rooms} rooms, frames late",
        aim=f"p99 ≤ {LATE_S * 1000:.0f} ms",
        measured=f"p50 {half * 1000:.1f}, p99 {most * 1000:.1f} ms",
        good=most <= LATE_S,
        how=f"{seen.frames} frames in {seconds:.0f} s, when the SDK was given them; the latest {all_ * 1000:.0f} ms",
    )
    yield Figure(
        what="of them, turns lost",
        aim="0",
        measured=f"{talked.lost} of {talked.answered + talked.lost}",
        good=talked.lost == 0 and talked.answered > 0,
        how="real Silero, vendors of a fixed delay; the callers are in another process",
    )
    yield Figure(
        what="a call in a room, share of a core",
        measured=f"{seen.cpu / rooms:.1%}",
        how="CPU of the agent's process, the SDK's threads included",
    )
    more_mb = (after.resident_kb - before.resident_kb) / 1024
    yield Figure(
        what="memory when they are over",
        aim=f"≤ {MEMORY_MB:.0f} MB more",
        measured=f"{more_mb:.1f} MB more",
        good=more_mb <= MEMORY_MB,
        how="resident, against after one call",
    )
    left = {"calls": after.calls, "tasks": after.tasks - before.tasks}
    yield Figure(
        what="calls and tasks left in rooms",
        aim="none",
        measured=", ".join(f"{count} {name}" for name, count in left.items() if count > 0) or "none",
        good=max(left.values()) <= 0,
        how="against after one call",
    )


@contextmanager
def _livekit() -> Iterator[LiveKitServer]:
    program = find()
    if program is None:
        sys.exit("bench: rooms need LiveKit's server; `make livekit` builds it")
    with tempfile.TemporaryDirectory() as folder:
        livekit = LiveKitServer(program, Path(folder))
        livekit.start()
        try:
            yield livekit
        finally:
            livekit.kill()


def _asked(livekit: LiveKitServer) -> dict[str, str]:
    return {"url": livekit.url, "key": livekit.api_key, "secret": livekit.api_secret}


def _callers(
    livekit: LiveKitServer, name: str, rooms: int, ramp_s: float, seconds: float, server: Server
) -> subprocess.Popen[str]:
    access = Access(url=livekit.url, api_key=livekit.api_key, api_secret=livekit.api_secret)
    names = [f"{name}-{number}" for number in range(rooms)]
    for room in names:
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/rooms/{room}/calls", b"{}", method="POST")
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request, timeout=30).close()
    tokens = [caller_token(access, room=room, identity="caller", conversation=room, lasts_s=3_600.0) for room in names]
    asked = {"url": livekit.url, "tokens": tokens, "ramp_s": ramp_s, "seconds": seconds}
    command = [sys.executable, "-m", "tests.bench.room_callers", json.dumps(asked)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _talk(server: Server, livekit: LiveKitServer, name: str, rooms: int, seconds: float) -> None:
    with _callers(livekit, name, rooms, 0.0, seconds, server) as callers:
        callers.communicate()
    _gone(server)


def _gone(server: Server) -> None:
    given_up = time.monotonic() + GONE_S
    while server.watch().calls and time.monotonic() < given_up:
        time.sleep(0.2)
