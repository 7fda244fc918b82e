"""What the event loop is kept busy with, callback by callback, while real engines hear and speak in the same process.

In a process of its own: ``python -m tests.bench.event_loop`` prints a JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from agents.core.glove import Glove
from agents.models.providers import create_model
from pipelines.audio.wav import read_wav
from pipelines.clock import VirtualClock, measured
from pipelines.events import ToolReturned, TurnCommitted, UtteranceEnded
from pipelines.glove import GloveResponder
from tests.bench.calls import HeldCall, engines_of
from tests.bench.figure import Figure
from tests.bench.loop_watch import Callback, watched
from voice_server.house import House
from voice_server.loading import make_agent
from voice_server.options import parse_recording
from voice_server.settings import load_settings
from voice_server.transports.recorded import Recording

__all__ = ["LONGEST_CALLBACK_S", "LONGEST_COLLECTION_S", "Busy", "figures", "measure"]

LONGEST_CALLBACK_S = 0.010
"""The aim: no callback of ours uses more of the thread's CPU."""

LONGEST_COLLECTION_S = 0.020
"""The aim: no garbage collection takes longer."""

SHARE_PER_CALL = 0.015
"""The aim: the share of a core that a call keeps the loop busy, engines in other threads aside."""

_ROOT = Path(__file__).parent.parent.parent
_CALLERS = _ROOT / "tests" / "fixtures" / "audio"

_FIRST = ("phone-band.wav",)
"""The first call of the process finds what is imported late: at 8 kHz, so that the resampler is among it."""

_TOGETHER = (
    ("long-question.wav", "stop.wav@+2.0", "what-can-you-do.wav"),
    ("what-can-you-do.wav", "stop-tell-me-the-time.wav@+2.0", "cough.wav@+1.0"),
    ("dictation.wav", "mm-hm.wav@+1.0", "twelve-times-seven.wav"),
    ("leave-a-message.wav", "number-in-groups.wav", "phone-band.wav", "what-can-you-do.wav"),
)
"""Four calls at once: tools, long replies, interruptions, sounds that are none, long dictation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """What was seen, of the first call and of four together."""

    callbacks: int
    worst: list[Callback]
    """Worst first."""
    longest_collection_s: float
    share: float
    """Of a core, for each call: CPU of all callbacks by seconds of calls."""
    turns: int
    tools: int
    interrupted: int


def measure() -> Busy:
    """Hold the calls in a fresh process.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    command = [sys.executable, "-m", "tests.bench.event_loop"]
    found = json.loads(subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return Busy(**{**found, "worst": [Callback(**each) for each in found["worst"]]})


def figures() -> Iterator[Figure]:
    """Measure the loop."""
    busy = measure()
    how = (
        f"{busy.callbacks:,} callbacks, thread CPU: the first call of a process, then four at once, {busy.turns} turns"
    )
    worst = busy.worst[0]
    yield Figure(
        what="longest callback on the loop",
        aim=f"≤ {LONGEST_CALLBACK_S * 1000:.0f} ms",
        measured=f"{worst.seconds * 1000:.1f} ms",
        good=worst.seconds <= LONGEST_CALLBACK_S,
        how=f"{how}; it was {worst.name}",
    )
    yield Figure(
        what="longest garbage collection",
        aim=f"≤ {LONGEST_COLLECTION_S * 1000:.0f} ms",
        measured=f"{busy.longest_collection_s * 1000:.1f} ms",
        good=busy.longest_collection_s <= LONGEST_COLLECTION_S,
        how="the same calls, and a full one after them",
    )
    yield Figure(
        what="CPU of the loop, each call",
        aim=f"≤ {SHARE_PER_CALL:.1%} of a core",
        measured=f"{busy.share:.1%}",
        good=busy.share <= SHARE_PER_CALL,
        how="the same calls; Silero is in it, Whisper and Hibari have threads of their own",
    )


def _main() -> None:
    house = House.load(load_settings(model="offline"))
    with watched() as watch:
        calls = [*_hold(house, [_FIRST]), *_hold(house, _TOGETHER)]
        gc.collect()  # with luck none of the calls had to
    busy = Busy(
        callbacks=watch.callbacks,
        worst=watch.worst,
        longest_collection_s=watch.longest_collection_s,
        share=watch.total_s / sum(call.events[-1][0] for call in calls),
        turns=sum(len(call.told(TurnCommitted)) for call in calls),
        tools=sum(len(call.told(ToolReturned)) for call in calls),
        interrupted=sum(over.interrupted for call in calls for over in call.told(UtteranceEnded)),
    )
    print(json.dumps(asdict(busy)))


def _hold(house: House, callers: Sequence[Sequence[str]]) -> list[HeldCall]:
    """Hold calls at the same time on one loop."""
    clock = VirtualClock(measured)
    calls = [HeldCall([_recording(name) for name in names]) for names in callers]
    agents = [_agent() for _ in calls]

    async def story() -> None:
        async with asyncio.TaskGroup() as group:
            for call, agent in zip(calls, agents, strict=True):
                group.create_task(call.run(clock, engines_of(house), GloveResponder(agent, clock)))

    clock.run(story())
    return calls


def _recording(name: str) -> Recording:
    recorded = parse_recording(str(_CALLERS / name))
    return Recording(frame=read_wav(recorded.path), after_s=recorded.after_s)


def _agent() -> Glove:
    agent = make_agent("agents.desk:create", create_model("offline", {}), now=lambda: datetime.now().astimezone())
    assert isinstance(agent, Glove)
    return agent


if __name__ == "__main__":
    _main()
