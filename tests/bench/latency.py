"""Voice to voice, all on this machine: short answers on charged time and again on the wall clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from pipelines.trace import Trace
from tests.bench.figure import Figure
from voice_server.house import House
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import CallerTurn
from voice_server.settings import load_settings
from voice_server.turn import run

__all__ = ["AGREEMENT", "LONGEST_MS", "QUESTIONS", "apart", "figures", "measure", "voice_to_voice"]

LONGEST_MS = 800
"""The aim: median from the caller's last sample to the agent's first, two cores, one call, short answers."""

AGREEMENT = 0.20
"""How far the charged clock's median may be from the wall clock's, as a share of it."""

QUESTIONS = ("what-time-is-it", "twelve-times-seven", "three-miles", "what-day-is-it", "twelve-times-seven") * 2
"""Each has an answer of one sentence."""

_CALLERS = Path(__file__).parent.parent / "fixtures" / "audio"
_STAGES = ("endpoint", "stt", "model", "tts")


def measure(house: House, questions: Sequence[str] = QUESTIONS, *, realtime: bool) -> tuple[CallerTurn, ...]:
    """Hold one call; on the wall clock a question and its answer take five seconds."""
    recordings = tuple(RecordedTurn(path=_CALLERS / f"{name}.wav") for name in questions)
    settings = load_settings(model="offline", agent="agents.desk:create")
    return run(TurnOptions(recordings=recordings, settings=settings, realtime=realtime), Trace(), house).turns


def figures(house: House) -> Iterator[Figure]:
    """Measure on both clocks."""
    charged = measure(house, realtime=False)
    yield Figure(
        what="voice to voice, charged clock", measured=f"{voice_to_voice(charged):.0f} ms", how=_stages(charged)
    )
    wall = measure(house, realtime=True)
    yield Figure(
        what="voice to voice, wall clock",
        aim=f"≤ {LONGEST_MS} ms",
        measured=f"{voice_to_voice(wall):.0f} ms",
        good=voice_to_voice(wall) <= LONGEST_MS,
        how=_stages(wall),
    )
    yield Figure(
        what="the two clocks apart",
        aim=f"≤ {AGREEMENT:.0%}",
        measured=f"{apart(charged, wall):.0%}",
        good=apart(charged, wall) <= AGREEMENT,
        how="their medians, as a share of the wall clock's",
    )


def voice_to_voice(turns: Sequence[CallerTurn]) -> float:
    """Milliseconds from the caller's last sample to the agent's first, median."""
    return _median(turns, "voice_to_voice")


def apart(charged: Sequence[CallerTurn], wall: Sequence[CallerTurn]) -> float:
    """How far the clocks' medians are apart, as a share of the wall clock's."""
    return abs(voice_to_voice(charged) - voice_to_voice(wall)) / voice_to_voice(wall)


def _stages(turns: Sequence[CallerTurn]) -> str:
    stages = ", ".join(f"{stage} {_median(turns, stage):.0f}" for stage in _STAGES)
    return f"median of {len(turns)} short answers; of it {stages}"


def _median(turns: Sequence[CallerTurn], stage: str) -> float:
    figures: list[int] = [figure for turn in turns if (figure := asdict(turn.latency_ms)[stage]) is not None]
    return median(figures)
