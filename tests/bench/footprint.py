"""What the server costs before anybody says a word, and what calls leave behind, each in a fresh process."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figure import Figure

__all__ = ["figures", "resident_kb"]

IMPORT_S = 0.7
"""The aim: importing the server."""

IMPORT_MB = 90
"""The aim: its memory before any model is loaded."""

CALL_KB = 1000
"""The aim: memory of one call."""

SLOPE_KB = 20
"""The aim: memory a finished call leaves behind."""

_ROOT = Path(__file__).parent.parent.parent

_IMPORT = """
import time
began = time.perf_counter(), time.process_time()
import voice_server.serve
took = time.perf_counter() - began[0], time.process_time() - began[1]
from tests.bench.footprint import resident_kb
print([*took, resident_kb()])
"""
"""Run by itself, because whatever else the process imported would be missing from the figure."""

_AT_ONCE = 40
_FINISHED = 200
_MID_REPLY_S = 6.0
"""Seconds into a scripted call: the caller spoke for three, the reply has been sounding for two."""


def figures() -> Iterator[Figure]:
    """Measure imports, then calls."""
    imports = [_fresh("-c", _IMPORT) for _ in range(3)]
    took, cpu, resident = (min(each) for each in zip(*imports, strict=True))
    yield Figure(
        what="import of the server",
        aim=f"≤ {IMPORT_S} s",
        measured=f"{took:.2f} s",
        good=took <= IMPORT_S,
        how=f"voice_server.serve, best of 3 processes, wall clock; {cpu:.2f} s of CPU",
    )
    yield Figure(
        what="memory before models",
        aim=f"≤ {IMPORT_MB} MB",
        measured=f"{resident / 1000:.0f} MB",
        good=resident / 1000 <= IMPORT_MB,
        how="resident, after that import",
    )
    live, left = _fresh("-m", "tests.bench.footprint")
    yield Figure(
        what="memory of a call",
        aim=f"≤ {CALL_KB:,} kB",
        measured=f"{live:.0f} kB",
        good=live <= CALL_KB,
        how=f"resident, {_AT_ONCE} scripted calls at once, in mid-reply; with what the recorded transport keeps",
    )
    yield Figure(
        what="memory a finished call leaves",
        aim=f"≤ {SLOPE_KB} kB",
        measured=f"{left:.1f} kB",
        good=left <= SLOPE_KB,
        how=f"resident, {_FINISHED} calls of one turn after {_FINISHED // 2} to warm up",
    )


def _fresh(*arguments: str) -> list[float]:
    """Measure in a process of its own."""
    printed = subprocess.run([sys.executable, *arguments], cwd=_ROOT, check=True, stdout=subprocess.PIPE).stdout
    figures: list[float] = json.loads(printed)
    return figures


def resident_kb() -> float:
    """Measure this process's memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1])
    raise RuntimeError("no VmRSS in /proc/self/status; memory is measured on Linux only")


def _calls() -> tuple[float, float]:
    import asyncio

    from pipelines.clock import VirtualClock
    from tests.bench.simulation import scripted_call

    async def at_once() -> float:
        before = _settled_kb()
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                call, engines, responder = scripted_call(1)
                group.create_task(call.run(clock, engines, responder))
            await clock.sleep(_MID_REPLY_S)
            return (_settled_kb() - before) / _AT_ONCE

    def finished(count: int) -> float:
        before = _settled_kb()
        for _ in range(count):
            call, engines, responder = scripted_call(1)
            clock.run(call.run(clock, engines, responder))
            del call, engines, responder
        return (_settled_kb() - before) / count

    clock = VirtualClock()
    clock.run(scripted_call(1)[0].run(clock, *scripted_call(1)[1:]))
    live = clock.run(at_once())
    finished(_FINISHED // 2)
    return live, finished(_FINISHED)


def _settled_kb() -> float:
    gc.collect()
    return resident_kb()


if __name__ == "__main__":
    print(json.dumps(_calls()))
