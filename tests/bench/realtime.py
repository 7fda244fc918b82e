"""What we add on the realtime path: from a provider's audio to the output, and from a caller's frame to the provider.

A whole pipeline talks to the stand-in for OpenAI's API over a loopback WebSocket, through OpenAI's SDK. What the
stand-in and the loopback take is in the figures: they are upper bounds.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.core.glove import Glove
from agents.models.scripted import ScriptedModel
from pipelines.audio.frame import SPEAKING_RATE, Frame, Samples
from pipelines.clock import RealClock
from pipelines.glove import GloveToolHost
from pipelines.playout.output import Report
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.openai.options import OpenAIOptions
from tests.bench.figure import Figure
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.realtime.openai_service.stage import OpenAIStage, Puppet

__all__ = ["LONGEST_MS", "Measured", "figures", "measure"]

LONGEST_MS = 5.0
"""The aim for either way, at p99."""

FRAMES = 500
"""Of 20 ms: ten seconds either way, at once."""

WORD_FRAMES = 15
"""Frames to a word: 200 words a minute."""

_VOICE = (8_000 * np.sin(2 * np.pi * 220 * np.arange(SPEAKING_RATE // 50) / SPEAKING_RATE)).astype(np.int16)
_CALLER = np.zeros(SPEAKING_RATE // 50, np.int16)
"""At the provider's rate: a resampler's constant lag of 12.5 ms is no work of ours."""


class _Stamps:
    """When how many samples were there, from the first on."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.times: list[tuple[float, float]] = []
        """By the clock, and of this thread's CPU; seconds."""

    def add(self, samples: int) -> None:
        self.samples.append(samples + (self.samples[-1] if self.samples else 0))
        self.times.append((time.perf_counter(), time.thread_time()))


class _Sink:
    """Plays at once, and notes when it was given what."""

    rate = SPEAKING_RATE
    can_pause = True

    def __init__(self) -> None:
        self.given = _Stamps()

    def attach(self, report: Report) -> None:
        self._report = report

    def play(self, epoch: int, samples: Samples) -> None:
        self.given.add(len(samples))
        self._report(epoch, self.given.samples[-1] / SPEAKING_RATE)

    def pause(self) -> None:
        return

    def unpause(self) -> None:
        return

    def clear(self, epoch: int) -> None:
        return

    async def aclose(self) -> None:
        return


def figures() -> Iterator[Figure]:
    """Measure both ways at the same time."""
    measured = asyncio.run(measure())
    for what, delays in (("provider's audio → output", measured.spoken), ("caller's frame → provider", measured.heard)):
        wall_ms, cpu_ms = (1_000 * np.percentile(delays, 99, axis=0)).tolist()
        yield Figure(
            what=what,
            aim=f"p99 ≤ {LONGEST_MS:.0f} ms",
            measured=f"p99 {wall_ms:.1f} ms",
            good=wall_ms <= LONGEST_MS,
            how=f"{len(delays)} frames of 20 ms, SDK and loopback included; p50 {1_000 * np.median(delays[:, 0]):.1f} "
            f"ms; of CPU p99 {cpu_ms:.1f} ms; the machine itself woke us late by p99 {measured.late_ms:.1f} ms",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds each frame took, by the clock and of this thread's CPU: float, shape ``(frames, 2)``."""

    spoken: npt.NDArray[np.float64]
    heard: npt.NDArray[np.float64]
    late_ms: float
    """By how much the loop was woken late, p99: what others on this machine take."""


async def measure(frames: int = FRAMES) -> Measured:
    """Speak and hear at the same time, ``frames`` of 20 ms either way."""
    sink, clock = _Sink(), RealClock()
    async with OpenAIService(Puppet()) as service, asyncio.TaskGroup() as group:
        # Without turn detection the stand-in has no ear, which would be in our figures.
        options = OpenAIOptions(turn_detection=None)
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url, options=options)
        stage = OpenAIStage(service, adapter)
        pipeline = RealtimePipeline(
            clock=clock,
            output=sink,
            group=group,
            tell=lambda event: None,
            adapter=adapter,
            host=GloveToolHost(Glove(model=ScriptedModel([]), system_prompt="Be brief."), clock),
        )
        pipeline.start()
        await stage.more()
        appended = _Stamps()
        service.session.on_append = appended.add
        gc.freeze()  # As the server does when its models are loaded.
        said, heard, late = _Stamps(), _Stamps(), []
        due = time.perf_counter()
        for number in range(frames):
            due += 0.02
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            late.append(time.perf_counter() - due)
            said.add(len(_VOICE))
            await stage.say("word" if number % WORD_FRAMES == 0 else "", _VOICE)
            heard.add(len(_CALLER))
            pipeline.hear(Frame(_CALLER, SPEAKING_RATE))
        await stage.finish()
        await asyncio.sleep(0.2)
        await pipeline.aclose()
    gc.unfreeze()
    late_ms = 1_000 * float(np.percentile(late, 99))
    return Measured(spoken=_delays(said, sink.given), heard=_delays(heard, appended), late_ms=late_ms)


def _delays(sent: _Stamps, given: _Stamps) -> npt.NDArray[np.float64]:
    """Match frames by their place in the stream."""
    delays = []
    at = 0
    for samples, began in zip(sent.samples, sent.times, strict=True):
        while at < len(given.samples) and given.samples[at] < samples:
            at += 1
        if at == len(given.samples):
            break
        delays.append(np.subtract(given.times[at], began))
    assert len(delays) > 0.95 * len(sent.times), "frames were lost"
    return np.array(delays)
