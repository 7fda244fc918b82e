"""What the local engines cost, each alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from pipelines.clock import RealClock
from pipelines.stt.whisper_model import WhisperModel
from pipelines.vad.base import WINDOW
from tests.bench.figure import Figure
from tests.fixtures.catalogue import fixture
from voice_server.house import House

__all__ = ["figures"]

_SENTENCES = (
    "Certainly.",
    "Twelve times seven is eighty-four.",
    "It is twenty past nine in the evening, on Monday, the thirtieth of November.",
)


def figures(house: House) -> Iterator[Figure]:
    """Measure detector, recogniser and voice."""
    yield _silero(house)
    yield from _whisper()
    yield from _voice(house)


def _silero(house: House) -> Figure:
    stream = house.vad.open()
    speech = fixture("what-time-is-it").samples()
    windows = [speech[at : at + WINDOW] for at in range(0, len(speech) - WINDOW, WINDOW)]
    costs = []
    for window in windows * 20:
        began = time.thread_time()
        stream.feed(window)
        costs.append(time.thread_time() - began)
    return Figure(
        what="Silero, a window of 32 ms",
        measured=f"{median(costs) * 1000:.2f} ms",
        how=f"median of {len(costs)}, thread CPU, inline on the loop",
    )


def _whisper() -> Iterator[Figure]:
    model = WhisperModel()
    model.warm()
    speech = fixture("dictation").samples()
    for seconds in (2, 8, 16):
        samples = speech[: seconds * 16_000]
        assert len(samples) == seconds * 16_000
        cost = _median_of(5, partial(model.hear, samples))
        yield Figure(
            what=f"Whisper, a decode of {seconds} s",
            measured=f"{cost * 1000:.0f} ms",
            how="median of 5, wall clock, two threads",
        )


def _voice(house: House) -> Iterator[Figure]:
    async def samples(text: str) -> int:
        return sum([len(audio.samples) async for audio in house.synthesizer.synthesize(text, RealClock())])

    def speak(text: str) -> float:
        return asyncio.run(samples(text)) / house.synthesizer.rate

    for text in _SENTENCES:
        seconds = speak(text)
        cost = _median_of(5, partial(speak, text))
        yield Figure(
            what=f"Hibari, a sentence of {seconds:.1f} s",
            measured=f"{cost * 1000:.0f} ms",
            how=f"median of 5, wall clock; {seconds / cost:.0f} times real time",
        )


def _median_of(times: int, work: Callable[[], object]) -> float:
    costs = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        costs.append(time.perf_counter() - began)
    return median(costs)
