"""The comparison: every system through every trial, by turns, so that a busy moment of the machine meets all of them.

Eleven minutes: turns and interruptions take four and a half, many calls five, calls that end one and a half, imports
ten seconds. The first time, the environments take another minute or less.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.peers.environments import LIVEKIT_AGENTS, PIPECAT, Peer
from tests.bench.peers.trial import Outcome, Trial, quantile
from tests.fixtures.human import HumanCaller, prompts

__all__ = ["callers", "figures", "run", "write_prompts"]

CALLERS = 14
"""Recordings, each of one to three seconds of speech without a pause inside that a hold of 200 ms would mistake."""

TURNS = Trial(trial="turns", prompts="", calls=6, warm_up_s=5.0, measured_s=25.0)
LOAD = Trial(trial="load", prompts="", warm_up_s=16.0, measured_s=25.0)
ENDINGS = Trial(trial="endings", prompts="", calls=12, generations=4)

ON_TIME_S = 0.02
"""A system holds so many calls as leave it on time: the latest hundredth of its frames no later than this."""

_ROOT = Path(__file__).parents[3]

_IMPORT = """
import time
began = time.perf_counter()
import {modules}
took = time.perf_counter() - began
rss = next(row.split()[1] for row in open("/proc/self/status") if row.startswith("VmRSS:"))
print([took, float(rss) / 1000])
"""


@dataclass(frozen=True, slots=True)
class System:
    """Something that is measured, and at how many calls: steps from few to many."""

    name: str
    interpreter: Path
    module: str
    imports: tuple[str, ...]
    steps: tuple[int, ...]

    @classmethod
    def of(cls, peer: Peer, steps: tuple[int, ...]) -> System:
        """Make one of a peer."""
        return cls(peer.name, peer.interpreter, peer.module, peer.imports, steps)


OURS = System("ours", Path(sys.executable), "ours", ("voice_server.live",), (32, 48, 64))
SYSTEMS = (OURS, System.of(LIVEKIT_AGENTS, (12, 16, 24)), System.of(PIPECAT, (8, 12, 16)))


def figures() -> Iterator[Figure]:
    """Measure everybody.

    Raises:
        EnvironmentMissingError: a peer cannot be had.
        MissingPackageError: the recordings are not installed.
    """
    for peer in (LIVEKIT_AGENTS, PIPECAT):
        peer.prepare()
    with tempfile.TemporaryDirectory() as folder:
        write_prompts(callers(), Path(folder))
        yield from _turns(folder)
        yield from _load(folder)
        yield from _endings(folder)
    yield from _imports()


def callers() -> list[HumanCaller]:
    """Choose the recordings."""
    fitting = [caller for caller in prompts(100, 1.5, 3.0) if caller.longest_pause_s < 0.12]
    return fitting[:: len(fitting) // CALLERS][:CALLERS]


def write_prompts(chosen: Sequence[HumanCaller], folder: Path) -> None:
    """Write recordings where every interpreter can read them."""
    index = []
    for number, caller in enumerate(chosen):
        (folder / f"{number}.pcm").write_bytes(caller.samples().tobytes())
        index.append({"file": f"{number}.pcm", "start_s": caller.speech_start_s, "end_s": caller.speech_end_s})
    (folder / "index.json").write_text(json.dumps(index))


def run(system: System, trial: Trial) -> Outcome:
    """Put a system to a trial, in a process of its own.

    Raises:
        subprocess.CalledProcessError: it failed; what it said about it is on the standard error.
    """
    command = [str(system.interpreter), "-m", f"tests.bench.peers.{system.module}", json.dumps(asdict(trial))]
    limit_s = 120 + trial.warm_up_s + trial.measured_s + 20 * trial.generations
    done = subprocess.run(command, cwd=_ROOT, check=False, capture_output=True, text=True, timeout=limit_s)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        done.check_returncode()
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def _turns(folder: str) -> Iterator[Figure]:
    for fastest in (False, True):
        trial = replace(TURNS, prompts=folder, fastest=fastest)
        outcomes = {system.name: run(system, trial) for system in SYSTEMS}
        manner = "at its fastest" if fastest else "as it comes"
        for q in (0.5, 0.99):
            yield _beside(
                f"overhead, {manner}, p{q * 100:.0f}",
                "ms",
                {name: 1000 * quantile(outcome.overhead_s, q) for name, outcome in outcomes.items()},
                aim={0.5: 25, 0.99: 50}[q],
                how=f"{_counts(outcomes, 'overhead_s')} turns; last speech to first sound, hold and vendors taken off",
            )
        for q in (0.5, 0.99):
            yield _beside(
                f"  after the turn was taken, p{q * 100:.0f}",
                "ms",
                {name: 1000 * quantile(outcome.after_s, q) for name, outcome in outcomes.items()},
                aim={0.5: 3, 0.99: 10}[q],
                how="the same turns",
            )
        for q in (0.5, 0.99):
            yield _beside(
                f"barge-in, {manner}, p{q * 100:.0f}",
                "ms",
                {name: 1000 * quantile(outcome.silent_s, q) for name, outcome in outcomes.items()},
                aim=60 if fastest else {0.5: 80, 0.99: 120}[q],
                how=f"{_counts(outcomes, 'silent_s')} times; caller's onset to the agent's silence",
            )
        lost = {name: outcome.lost for name, outcome in outcomes.items()}
        yield Figure(
            what=f"turns lost, {manner}",
            measured=str(lost["ours"]),
            how=", ".join(f"{name} {count}" for name, count in lost.items() if name != "ours"),
        )


def _load(folder: str) -> Iterator[Figure]:
    """Go up from the middle step, all systems by turns; whoever fails there goes down."""
    passed: dict[str, tuple[int, Outcome]] = {}
    failed: dict[str, tuple[int, Outcome]] = {}
    waiting = dict.fromkeys(SYSTEMS, 1)
    while waiting:
        for system, step in list(waiting.items()):
            del waiting[system]
            calls = system.steps[step]
            outcome = run(system, replace(LOAD, prompts=folder, calls=calls))
            if outcome.lateness_s[2] <= ON_TIME_S and not outcome.lost:
                passed[system.name] = calls, outcome
                if system.name not in failed and step + 1 < len(system.steps):
                    waiting[system] = step + 1
            else:
                failed[system.name] = calls, outcome
                if system.name not in passed and step > 0:
                    waiting[system] = step - 1
    yield _beside(
        "calls in one process",
        "",
        {system.name: float(passed.get(system.name, (0,))[0]) for system in SYSTEMS},
        aim=48,
        more_is_better=True,
        how=f"p99 of frames at most {ON_TIME_S * 1000:.0f} ms late and no turn lost; {_steps(passed, failed)}",
    )
    shown = {system.name: (passed.get(system.name) or failed[system.name])[1] for system in SYSTEMS}
    yield _beside(
        "CPU of a call",
        "%",
        {name: 100 * outcome.cpu for name, outcome in shown.items()},
        aim=1.5,
        how="of a core, at those steps; the caller and the sink are in it",
    )
    yield _beside(
        "memory of a call",
        "kB",
        {name: outcome.call_kb for name, outcome in shown.items()},
        aim=1000,
        how="resident, at those steps",
    )


def _endings(folder: str) -> Iterator[Figure]:
    outcomes = {system.name: run(system, replace(ENDINGS, prompts=folder)) for system in SYSTEMS}
    ended = ENDINGS.calls * (ENDINGS.generations - 2)
    yield _beside(
        "memory a finished call leaves",
        "kB",
        {name: outcome.left_kb for name, outcome in outcomes.items()},
        aim=20,
        how=f"resident, {ended} calls of one turn after {2 * ENDINGS.calls} to warm up",
    )


def _imports() -> Iterator[Figure]:
    found: dict[str, list[tuple[float, float]]] = {system.name: [] for system in SYSTEMS}
    for _ in range(3):
        for system in SYSTEMS:
            command = [str(system.interpreter), "-c", _IMPORT.format(modules=", ".join(system.imports))]
            took, resident = json.loads(subprocess.run(command, cwd=_ROOT, check=True, capture_output=True).stdout)
            found[system.name].append((took, resident))
    best = {name: [min(each) for each in zip(*runs, strict=True)] for name, runs in found.items()}
    yield _beside(
        "import of what holds calls",
        "s",
        {name: took for name, (took, _) in best.items()},
        aim=0.7,
        how=f"best of 3 processes; {', '.join(OURS.imports)}, and what a server on the others imports at least",
    )
    yield _beside(
        "memory before models",
        "MB",
        {name: resident for name, (_, resident) in best.items()},
        aim=90,
        how="resident, after that import",
    )


def _beside(
    what: str, unit: str, found: Mapping[str, float], *, aim: float, how: str, more_is_better: bool = False
) -> Figure:
    """Put ours beside the others: good when it meets the aim and none of them is better."""
    digits = 2 if unit == "s" else 1 if unit in ("%", "MB") else 0

    def shown(value: float) -> str:
        return f"{value:.{digits}f} {unit}".strip()

    ours = found["ours"]
    others = {name: value for name, value in found.items() if name != "ours"}
    sign = -1 if more_is_better else 1
    ahead = all(sign * ours <= sign * value for value in others.values())
    beside = ", ".join(f"{name} {shown(value)} ({_ratio(value, ours)})" for name, value in others.items())
    return Figure(
        what=what,
        aim=f"{'≥' if more_is_better else '≤'} {aim:g} {unit}".strip(),
        measured=shown(ours),
        good=ahead and sign * ours <= sign * aim,
        how=f"{beside}; {how}",
    )


def _ratio(value: float, ours: float) -> str:
    return f"{value / ours:.1f} ×" if ours > 0 else "—"


def _counts(outcomes: Mapping[str, Outcome], of: str) -> str:
    return "/".join(str(len(getattr(outcome, of))) for outcome in outcomes.values())


def _steps(*each: Mapping[str, tuple[int, Outcome]]) -> str:
    return ", ".join(
        f"{name} at {calls}: {outcome.lateness_s[2] * 1000:.0f} ms" + (f", {outcome.lost} lost" if outcome.lost else "")
        for steps in each
        for name, (calls, outcome) in steps.items()
    )
