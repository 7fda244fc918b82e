"""How fast calls run when nothing is real: engines that cost nothing, virtual time, one core."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.cascade import Engines
from pipelines.clock import Clock, VirtualClock
from pipelines.events import TurnCommitted
from pipelines.tts.base import SpeechAudio
from tests.bench.calls import HeldCall, Listener
from tests.bench.figure import Figure
from tests.pipelines.scripted import ScriptedActivity, ScriptedRecognizer, letters, spoken
from voice_server.transports.recorded import Recording

__all__ = ["SLOWEST", "Simulation", "figures", "scripted_call", "simulate"]

SLOWEST = 1000
"""The aim: call-minutes in a minute."""

WORDS = 12
"""Words a caller says in a turn, a quarter second each: three seconds, as in the harness that measured the peers."""

ANSWER = "That can be done, and it will be ready for you on Tuesday at noon."
"""Four seconds."""

_CHARACTERS_PER_S = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What one run came to."""

    turns: int
    call_s: float
    """Of the call's clock."""
    cpu_s: float
    """Of this process."""

    @property
    def speed(self) -> float:
        """Call-minutes in a minute of one core."""
        return self.call_s / self.cpu_s


class _Tone:
    """A ``Synthesizer`` that renders a sentence at once, as long as it would take to say."""

    name = "tone"
    rate = SPEAKING_RATE

    def warm(self) -> None:
        pass

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        await clock.sleep(0.05)
        yield SpeechAudio(samples=np.full(len(text) * self.rate // _CHARACTERS_PER_S, 1000, np.int16))


def scripted_call(turns: int) -> tuple[HeldCall, Engines, Listener]:
    """Prepare a call of so many turns: three seconds of caller, four of reply."""
    vocabulary: list[str] = []
    silence: Samples = np.zeros(HEARING_RATE // 4, np.int16)
    recordings = []
    for turn in range(turns):
        said = spoken(vocabulary, [letters("w", turn, word) for word in range(WORDS)], 0.25)
        recordings.append(Recording(frame=Frame(np.concatenate([said, silence]), HEARING_RATE)))
    engines = Engines(activity=ScriptedActivity(), recognizer=ScriptedRecognizer(vocabulary), synthesizer=_Tone())
    return HeldCall(recordings), engines, Listener(lambda _: ANSWER)


def simulate(turns: int) -> Simulation:
    """Hold one call of so many turns."""
    call, engines, responder = scripted_call(turns)
    clock = VirtualClock()

    async def story() -> float:
        await call.run(clock, engines, responder)
        return clock.now()

    began = time.process_time()
    call_s = clock.run(story())
    return Simulation(turns=len(call.told(TurnCommitted)), call_s=call_s, cpu_s=time.process_time() - began)


def figures() -> Iterator[Figure]:
    """Measure one call of a quarter of an hour."""
    simulate(2)
    run = simulate(100)
    yield Figure(
        what="simulation, call-minutes a minute",
        aim=f"≥ {SLOWEST:,}",
        measured=f"{run.speed:,.0f}",
        good=run.speed >= SLOWEST,
        how=f"one call of {run.turns} turns and {run.call_s:.0f} s, frames of 20 ms, scripted engines, CPU of one core",
    )
