"""Voice to voice, all on this machine: ten short answers on charged time and again on the wall clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from pipelines.trace import Trace
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import CallerTurn
from voice_server.settings import load_settings
from voice_server.turn import run

__all__ = ["AGREEMENT", "LONGEST_MS", "measure", "render"]

LONGEST_MS = 800
"""The aim: median from the caller's last sample to the agent's first, two cores, one call, short answers."""

AGREEMENT = 0.20
"""How far the charged clock's median may be from the wall clock's, as a share of it."""

_CALLERS = Path(__file__).parent.parent / "fixtures" / "audio"
_QUESTIONS = ("what-time-is-it", "twelve-times-seven", "three-miles", "what-day-is-it", "twelve-times-seven") * 2
"""Each has an answer of one sentence."""

_STAGES = ("endpoint", "stt", "model", "tts", "voice_to_voice")


def measure(*, realtime: bool) -> tuple[CallerTurn, ...]:
    """Hold one call of ten questions; on the wall clock it takes about a minute."""
    recordings = tuple(RecordedTurn(path=_CALLERS / f"{name}.wav") for name in _QUESTIONS)
    settings = load_settings(model="offline", agent="agents.desk:create")
    return run(TurnOptions(recordings=recordings, settings=settings, realtime=realtime), Trace()).turns


def render(charged: Sequence[CallerTurn], wall: Sequence[CallerTurn]) -> str:
    """Write both runs side by side, medians in ms, then what they were to show."""
    table = [("median of", f"{len(charged)} charged", f"{len(wall)} wall clock")]
    table += [
        (stage.replace("_", " "), f"{_median(charged, stage):.0f} ms", f"{_median(wall, stage):.0f} ms")
        for stage in _STAGES
    ]
    lines = [f"{name:<16}{first:>14}{second:>16}" for name, first, second in table]
    heard = _median(wall, "voice_to_voice")
    apart = abs(_median(charged, "voice_to_voice") - heard) / heard
    lines += [
        "",
        f"{_sign(heard <= LONGEST_MS)} voice to voice {heard:.0f} ms; the aim is at most {LONGEST_MS} ms",
        f"{_sign(apart <= AGREEMENT)} the clocks are {apart:.0%} apart; the aim is at most {AGREEMENT:.0%}",
    ]
    return "\n".join(lines)


def _median(turns: Sequence[CallerTurn], stage: str) -> float:
    figures: list[int] = [figure for turn in turns if (figure := asdict(turn.latency_ms)[stage]) is not None]
    return median(figures)


def _sign(good: bool) -> str:
    return "✓" if good else "✗"
