"""The stage: recorded callers put through whole calls, and what can be asked of a call afterwards.

Real Silero, Whisper and hibari, on charged time, in this process; the engines are loaded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.audio.resample import Resampler
from pipelines.audio.wav import write_wav
from pipelines.responder import Expectation
from pipelines.stt.whisper_model import WhisperModel
from pipelines.trace import Trace
from tests.fixtures.catalogue import Fixture, fixture
from tests.fixtures.human import HumanCaller
from voice_server.house import House
from voice_server.options import OutputKind, RecordedTurn, TurnOptions
from voice_server.report import CallerTurn, CallEvent, TurnReport
from voice_server.settings import Settings
from voice_server.turn import run

__all__ = ["ALL_OUTPUTS", "AUDIBLE", "Call", "Said", "Stage", "heard_by", "places", "replayed"]

ALL_OUTPUTS = tuple(OutputKind)

AUDIBLE = 200
"""A sample beyond this, of 32768, is heard: the agent's voice peaks at fifty times as much, its pauses stay below."""

MOST_S = 0.6
"""Seconds that a decode or a sentence's audio cost at most: twice what they take here when nothing else is done."""

SMOOTH_S = 0.02
"""Seconds of the stretches in which sound is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A recording of a caller and when it starts."""

    recording: Fixture | HumanCaller
    after_s: float | None = None
    """Seconds after the first sound of the agent's next utterance; ``None``: when nothing is going on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is over."""

    report: TurnReport
    agent: Samples
    """What the output played, with its silences."""
    spoke_at: tuple[tuple[float, float], ...]
    """For each recording when its speech, or its sound, really began and ended, in seconds of the call."""

    @property
    def turns(self) -> tuple[CallerTurn, ...]:
        return self.report.turns

    def events(self, *types: str) -> list[CallEvent]:
        """The events of some types; of all when none is named."""
        return [event for event in self.report.events if not types or event.type in types]

    def kinds(self) -> list[str]:
        """The types of the events, in order, without holds of the output."""
        return [event.type for event in self.report.events if event.type not in ("held", "resumed")]

    def audible_from(self, second: float) -> float:
        """When the agent is first heard at or after a second of the call; infinite when it is not again."""
        first = round(second * SPEAKING_RATE)
        loud = np.flatnonzero(np.abs(self.agent[first:].astype(np.int32)) > AUDIBLE)
        return (first + int(loud[0])) / SPEAKING_RATE if len(loud) else float("inf")

    def audible_until(self, second: float) -> float:
        """When the agent was last heard before a second of the call."""
        loud = np.flatnonzero(np.abs(self.agent[: round(second * SPEAKING_RATE)].astype(np.int32)) > AUDIBLE)
        return (int(loud[-1]) + 1) / SPEAKING_RATE if len(loud) else 0.0

    def between(self, start_s: float, end_s: float | None = None) -> Samples:
        """The agent's audio between two seconds of the call."""
        return self.agent[round(start_s * SPEAKING_RATE) : None if end_s is None else round(end_s * SPEAKING_RATE)]


class Stage:
    """Holds calls.

    Args:
        house: the engines.
        folder: where recordings that are no files yet are written.
    """

    def __init__(self, house: House, folder: Path) -> None:
        self.house = house
        self._folder = folder

    def call(
        self,
        *says: str | tuple[str, float] | HumanCaller | Said,
        agent: str = "agents.desk:create",
        output: OutputKind = OutputKind.PAUSING,
        expects: Expectation | None = None,
        house: House | None = None,
        **more: Any,
    ) -> Call:
        """Let a caller say recordings to an agent.

        Args:
            says: names of fixtures, with the seconds after the agent's first sound at which they start; or people.
            agent: ``module:factory``; one of ``tests.e2e.agents`` may be named by its factory alone.
            output: what the agent is played through.
            expects: what the first recording answers.
            house: other engines than the stage's.
            more: other settings.
        """
        parts = [_said(one) for one in says]
        settings = Settings(agent=agent if ":" in agent else f"tests.e2e.agents:{agent}", model="offline", **more)
        trace = Trace()
        options = TurnOptions(
            recordings=tuple(RecordedTurn(path=self.file(one.recording), after_s=one.after_s) for one in parts),
            settings=settings,
            output=output,
            expects=expects,
        )
        report = run(options, trace, house or self.house, charge=_undisturbed)
        return Call(report=report, agent=trace.agent, spoke_at=places(trace.caller, [one.recording for one in parts]))

    def with_engines(self, **engines: object) -> House:
        """The house with some engines exchanged."""
        return replace(self.house, **engines)  # type: ignore[arg-type]

    def file(self, recording: Fixture | HumanCaller) -> Path:
        """The recording as a file."""
        if isinstance(recording, Fixture):
            return recording.path
        path = self._folder / f"{recording.name.replace(' ', '_').replace('@', '_at_')}-{recording.rate}.wav"
        if not path.exists():
            write_wav(path, Frame(recording.samples(), recording.rate))
        return path


def _undisturbed(holder: str, took: float) -> float:
    """Charge what was measured, unless the machine was busy with something else: these calls are not about that."""
    return took if holder in ("model", "tool") else min(took, MOST_S)


def replayed(whole: Samples, track: Samples) -> list[float]:
    """Follow an interrupted track through the same words said without a stop.

    Args:
        whole: the words, uninterrupted; from its first loud sample to its last.
        track: what was played of them, with silences where it was held.

    Returns:
        For each place where it went on after a silence of its own, how many seconds it said twice.

    Raises:
        AssertionError: a sample was left out, or something else was played.
    """
    at = 0
    seams: list[float] = []
    for piece in _sounds(track):
        start = next((start for start in range(at, -1, -1) if np.array_equal(whole[start:][: len(piece)], piece)), None)
        assert start is not None, f"after {at / SPEAKING_RATE:.2f} s something was left out"
        if start < at:
            seams.append((at - start) / SPEAKING_RATE)
        at = start + len(piece)
        at += int(next(iter(np.flatnonzero(whole[at:])), 0))
    assert at >= len(whole), f"{(len(whole) - at) / SPEAKING_RATE:.2f} s at the end were not played"
    return seams


def _sounds(track: Samples) -> list[Samples]:
    """Split at digital silence of 50 ms and more: a voice's own pauses are seldom so empty."""
    loud = np.flatnonzero(track)
    gaps = np.flatnonzero(np.diff(loud) > 0.05 * SPEAKING_RATE)
    starts, ends = [loud[0], *loud[gaps + 1]], [*loud[gaps], loud[-1]]
    return [track[start : end + 1] for start, end in zip(starts, ends, strict=True)]


_ears = WhisperModel()


def heard_by(samples: Samples, rate: int = SPEAKING_RATE) -> str:
    """What the recogniser makes of some audio."""
    return _ears.hear(Resampler(rate, HEARING_RATE).process(samples) if rate != HEARING_RATE else samples)


def _said(one: str | tuple[str, float] | HumanCaller | Said) -> Said:
    match one:
        case str():
            return Said(recording=fixture(one))
        case (str() as name, after_s):
            return Said(recording=fixture(name), after_s=after_s)
        case HumanCaller():
            return Said(recording=one)
        case Said():
            return one
        case _:
            raise TypeError(f"a caller cannot say {one!r}")


def places(line: Samples, recordings: Sequence[Fixture | HumanCaller]) -> tuple[tuple[float, float], ...]:
    """Find where each recording begins on the caller's line, which is digital silence between them."""
    places: list[tuple[float, float]] = []
    cursor = 0
    for recording in recordings:
        sound = np.flatnonzero(line[cursor:])
        begins = cursor + int(sound[0]) if len(sound) else cursor
        samples = recording.samples()
        lead = int(np.flatnonzero(samples)[0]) / recording.rate
        at = begins / HEARING_RATE - lead
        length = len(samples) / recording.rate
        cursor = begins + round((length - lead) * HEARING_RATE)
        places.append((at + (recording.speech_start_s or 0.0), at + (recording.speech_end_s or length)))
    return tuple(places)
