"""The trials every system is put to: turns and interruptions, many calls at once, calls that end.

A system's module is run by its own interpreter: ``python -m tests.bench.peers.ours '{"trial": "turns", …}'`` prints one
line of JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from tests.bench.peers.call import (
    Connection,
    Line,
    Measured,
    Plan,
    Prompt,
    conversation,
    interview,
    load_prompts,
    question,
)

__all__ = ["Outcome", "System", "Trial", "main", "put_to", "quantile", "resident_kb"]

WARM_S = 1.0
"""Seconds between a process's first call, which loads what is loaded late, and what is measured."""

CLOSE_LIMIT_S = 10.0
"""Seconds all calls of a process may take to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a process is asked to do."""

    trial: str
    """``turns``, ``load`` or ``endings``."""
    prompts: str
    """The folder of the callers' recordings."""
    fastest: bool = False
    """Whether the system is set up to react as fast as it can, instead of as it comes."""
    calls: int = 1
    """At once."""
    warm_up_s: float = 0.0
    """Seconds over which calls begin, and then settle, before anything is measured."""
    measured_s: float = 0.0
    generations: int = 0
    """How often, in ``endings``, that many calls begin and end."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of it. Seconds, kilobytes."""

    overhead_s: list[float] = field(default_factory=list)
    after_s: list[float] = field(default_factory=list)
    silent_s: list[float] = field(default_factory=list)
    lost: int = 0
    lateness_s: list[float] = field(default_factory=list)
    """Quantiles 0.5, 0.9, 0.99 and 1 of how late the sink's frames were."""
    cpu: float = 0.0
    """Of a core, for each call; the caller and the sink are in it."""
    call_kb: float = 0.0
    """Resident, for each call, above the process with one call behind it."""
    left_kb: float = 0.0
    """Resident, for each call that ended, after the first two generations."""


class System(Protocol):
    """Something that holds calls."""

    async def connect(self, line: Line) -> Connection:
        """Begin a call."""
        ...


def main(make: Callable[[Trial], System]) -> None:
    """Do what the command line asks of a system."""
    trial = Trial(**json.loads(sys.argv[1]))
    print(json.dumps(asdict(asyncio.run(put_to(trial, make)))), flush=True)


async def put_to(trial: Trial, make: Callable[[Trial], System]) -> Outcome:
    """Put a system to a trial, on the running loop's time."""
    prompts = load_prompts(Path(trial.prompts))
    system = make(trial)
    await _hold(system, Line(prompts), question)
    await asyncio.sleep(WARM_S)
    gc.collect()
    gc.freeze()
    trials: dict[str, Callable[[System, Sequence[Prompt], Trial], Awaitable[Outcome]]] = {
        "turns": _turns,
        "load": _load,
        "endings": _endings,
    }
    return await trials[trial.trial](system, prompts, trial)


async def _hold(system: System, line: Line, plan: Plan) -> None:
    connection = await system.connect(line)
    try:
        await line.hold(connection, plan)
    finally:
        await connection.close()


async def _turns(system: System, prompts: Sequence[Prompt], trial: Trial) -> Outcome:
    lines = _lines(prompts, trial.calls)
    await _for_a_while(system, lines, conversation, trial)
    return _outcome(lines)


async def _load(system: System, prompts: Sequence[Prompt], trial: Trial) -> Outcome:
    before_kb = resident_kb()
    lines = _lines(prompts, trial.calls)

    def begin() -> None:
        for line in lines:
            line.measured = Measured()
            line.sink.lateness.clear()

    cpu_s, wall_s = await _for_a_while(system, lines, interview, trial, begin=begin)
    outcome = _outcome(lines)
    outcome.cpu = cpu_s / wall_s / trial.calls
    outcome.call_kb = (resident_kb() - before_kb) / trial.calls
    return outcome


async def _for_a_while(
    system: System, lines: Sequence[Line], plan: Plan, trial: Trial, begin: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Hold calls that began one after the other; return CPU and wall-clock seconds of what was measured."""
    tasks = []
    for line in lines:
        tasks.append(asyncio.create_task(_hold(system, line, plan)))
        await asyncio.sleep(trial.warm_up_s / 2 / len(lines))
    await asyncio.sleep(trial.warm_up_s / 2)
    begin()
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.sleep(trial.measured_s)
    took = time.process_time() - cpu, time.perf_counter() - wall
    if broken := [task for task in tasks if task.done()]:
        broken[0].result()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=CLOSE_LIMIT_S)
    return took


async def _endings(system: System, prompts: Sequence[Prompt], trial: Trial) -> Outcome:
    """Hold generation after generation of short calls."""
    resident = []
    measured = []
    for _ in range(trial.generations):
        lines = _lines(prompts, trial.calls)
        async with asyncio.TaskGroup() as group:
            for line in lines:
                group.create_task(_hold(system, line, question))
                await asyncio.sleep(0.05)
        measured += lines
        gc.collect()
        resident.append(resident_kb())
    outcome = _outcome(measured)
    outcome.left_kb = (resident[-1] - resident[1]) / (trial.calls * (trial.generations - 2))
    return outcome


def _lines(prompts: Sequence[Prompt], calls: int) -> list[Line]:
    """Give each caller the prompts from another one on."""
    return [Line([*prompts[n % len(prompts) :], *prompts[: n % len(prompts)]]) for n in range(calls)]


def _outcome(lines: Sequence[Line]) -> Outcome:
    answers = [answer for line in lines for answer in line.measured.answers]
    lateness = [late for line in lines for late in line.sink.lateness]
    return Outcome(
        overhead_s=[answer.overhead_s for answer in answers],
        after_s=[answer.after_s for answer in answers],
        silent_s=[stop.silent_s for line in lines for stop in line.measured.stops],
        lost=sum(line.measured.lost for line in lines),
        lateness_s=[quantile(lateness, q) for q in (0.5, 0.9, 0.99, 1)],
    )


def quantile(values: Sequence[float], q: float) -> float:
    """Give a quantile of what was measured; not a number when nothing was."""
    ordered = sorted(values)
    return ordered[min(int(q * len(ordered)), len(ordered) - 1)] if ordered else math.nan


def resident_kb() -> float:
    """Measure this process's memory."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith("VmRSS:"):
            return float(row.split()[1])
    raise RuntimeError("no VmRSS in /proc/self/status; memory is measured on Linux only")
