"""What a whole server does with many calls over sockets: on time, and nothing left behind.

The server runs in one process (``socket_server``), all callers in another (``socket_callers``).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.figure import Figure
from tests.bench.socket_callers import Talked
from tests.bench.socket_server import Seen

__all__ = ["Server", "figures", "serving"]

CALLS = 48
TALK_S = 60.0
RAMP_S = 8.0

LATE_S = 0.020
"""The aim: of a hundred frames, ninety-nine are not later."""

SHORT_CALLS = 300
WARM_CALLS = 50
"""Of them, those after which memory is first looked at."""

SHORT_EVERY_S = 0.2
"""Seconds from one short call to the next: some thirty-five at a time, in the first fifty as later."""

SLOPE_KB = 20.0
"""The aim: what a call that is over leaves behind."""

READY_S = 30.0

_ROOT = Path(__file__).parent.parent.parent


def figures() -> Iterator[Figure]:
    """Measure; three minutes."""
    yield from _together()
    yield from _one_after_the_other()


def _together() -> Iterator[Figure]:
    with serving("socket_server", {"calls": CALLS}) as server:
        callers = _callers(server, calls=CALLS, ramp_s=RAMP_S, seconds=TALK_S)
        assert callers.stdout is not None
        callers.stdout.readline()
        server.watch()
        time.sleep(TALK_S)
        seen = server.watch()
        talked = _talked(callers)
    half, _, most, all_ = seen.lateness_s
    yield Figure(
        what=f"{CALLS} calls over sockets, frames late",
        aim=f"p99 ≤ {LATE_S * 1000:.0f} ms",
        measured=f"p50 {half * 1000:.1f}, p99 {most * 1000:.1f} ms",
        good=most <= LATE_S,
        how=f"{seen.frames} frames in {TALK_S:.0f} s, when the server had sent them; the latest {all_ * 1000:.0f} ms",
    )
    yield Figure(
        what="of them, turns lost",
        aim="0",
        measured=f"{talked.lost} of {talked.answered + talked.lost}",
        good=talked.lost == 0 and talked.answered > 0,
        how="real Silero, vendors of a fixed delay; the callers are in another process",
    )
    yield Figure(
        what=f"call {CALLS + 1}",
        aim="busy",
        measured="busy" if talked.refused == 1 else "no answer",
        good=talked.refused == 1,
        how="closed with 1013",
    )
    yield Figure(
        what="a call over a socket, share of a core",
        measured=f"{seen.cpu / CALLS:.1%}",
        how=f"CPU of the server's process, its threads included, in {TALK_S:.0f} s",
    )


def _one_after_the_other() -> Iterator[Figure]:
    with serving("socket_server", {"calls": CALLS}) as server:
        before = server.watch()
        _short(server, WARM_CALLS)
        warm = server.watch()
        talked = _short(server, SHORT_CALLS - WARM_CALLS)
        after = server.watch()
    slope_kb = (after.resident_kb - warm.resident_kb) / (SHORT_CALLS - WARM_CALLS)
    yield Figure(
        what="memory a finished call leaves",
        aim=f"≤ {SLOPE_KB:.0f} kB",
        measured=f"{slope_kb:.1f} kB",
        good=slope_kb <= SLOPE_KB and talked.lost == 0,
        how=f"resident, after {SHORT_CALLS} short calls against after the first {WARM_CALLS}",
    )
    left = {"calls": after.calls, "tasks": after.tasks - before.tasks, "files": after.files - before.files}
    yield Figure(
        what="calls, tasks, files and sockets left",
        aim="none",
        measured=", ".join(f"{count} {name}" for name, count in left.items() if count > 0) or "none",
        good=max(left.values()) <= 0,
        how="against before the first call",
    )


@dataclass(frozen=True, slots=True)
class Server:
    port: int

    def watch(self) -> Seen:
        return Seen(**self.get("/watch"))

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return json.load(answer)

    def wait(self) -> None:
        began = time.monotonic()
        while True:
            try:
                self.get("/ready")
            except urllib.error.URLError:
                if time.monotonic() - began > READY_S:
                    raise
                time.sleep(0.1)
            else:
                return


@contextmanager
def serving(module: str, asked: dict[str, Any]) -> Iterator[Server]:
    """Run a server in a process of its own, until the block ends.

    Args:
        module: of this package.
        asked: what it is told.
    """
    command = [sys.executable, "-m", f"tests.bench.{module}", json.dumps(asked)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            server = Server(int(process.stdout.readline()))
            server.wait()
            yield server
        finally:
            process.stdin.close()


def _callers(server: Server, **asked: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.bench.socket_callers", json.dumps({"port": server.port, **asked})]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT)


def _talked(callers: subprocess.Popen[str]) -> Talked:
    with callers:
        assert callers.stdout is not None
        return Talked(**json.loads(callers.stdout.read()))


def _short(server: Server, calls: int) -> Talked:
    return _talked(_callers(server, calls=calls, ramp_s=calls * SHORT_EVERY_S, turns=1))
