"""Alignment: where in what somebody received is what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import SPEAKING_RATE, Samples

Waveform: TypeAlias = npt.NDArray[np.float64]

__all__ = ["Place", "align", "silences"]

PART_S = 0.1
QUIET = 200
"""A sample beyond this, of 32768, is heard."""

AWAY_S = 0.12
"""How far a part may be from where the one before it was: a jitter buffer stretches by less."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tenth of a second of what was sent."""

    sent_s: float
    late_s: float
    """How much later it is in what was received than the first."""
    likeness: float
    """1: the same samples."""


def align(sent: Samples, received: Samples) -> list[Place]:
    """Find every part that can be heard."""
    size = round(PART_S * SPEAKING_RATE)
    away = round(AWAY_S * SPEAKING_RATE)
    places: list[Place] = []
    first = last = None
    for start in range(0, len(sent) - size, size):
        part = sent[start : start + size].astype(float)
        if np.sqrt(np.mean(part**2)) < QUIET:
            continue
        near = 0 if last is None else max(0, start + last - away)
        until = len(received) if last is None else start + last + away + size
        at, likeness = _find(part, received[near:until].astype(float))
        lag = near + at - start
        if first is None:
            first = lag
        last = lag
        places.append(Place(start / SPEAKING_RATE, (lag - first) / SPEAKING_RATE, likeness))
    return places


def silences(samples: Samples, shortest_s: float) -> list[tuple[float, float]]:
    """Find the silences inside a sound: beginnings and ends, in seconds from its first loud sample."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > QUIET)
    gaps = np.flatnonzero(np.diff(loud) > shortest_s * SPEAKING_RATE)
    return [((loud[gap] - loud[0]) / SPEAKING_RATE, (loud[gap + 1] - loud[0]) / SPEAKING_RATE) for gap in gaps]


def _find(part: Waveform, where: Waveform) -> tuple[int, float]:
    if len(where) < len(part):
        return 0, 0.0
    dots = np.correlate(where, part, "valid")
    energy = np.convolve(where**2, np.ones(len(part)), "valid")
    likeness = dots / (np.sqrt(energy * (part @ part)) + 1.0)
    at = int(np.argmax(likeness))
    return at, float(likeness[at])
