"""What a voice activity detector is to a call: sound in, a probability of speech for every window out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.vad.detector import DetectorSettings

__all__ = ["WINDOW", "WINDOW_S", "ActivityModel", "ForesightedModel", "Upcoming", "VoiceActivity"]

WINDOW = 512
"""Samples that are judged at once."""

WINDOW_S = WINDOW / HEARING_RATE
"""Seconds: 0.032."""


class VoiceActivity(Protocol):
    """One call's use of an engine. One that raises, or answers what is no probability, has failed; see ``lasting``."""

    @property
    def pending(self) -> int:
        """Samples fed that do not fill a window yet: 0 to 511."""
        ...

    def feed(self, samples: Samples) -> list[float]:
        """Take the next samples: int16 mono at 16 kHz, any length.

        Returns:
            The probability of speech, 0.0 to 1.0, in each window that became complete, oldest first.
        """
        ...

    def reset(self) -> None:
        """Forget what was heard: a gap follows."""
        ...


class ActivityModel(Protocol):
    """An engine, loaded once per process and shared by its calls; not bound to an event loop."""

    name: str
    detector: DetectorSettings
    """The thresholds and times its probabilities are made for."""

    def warm(self) -> None:
        """Load what is needed. Blocking; call it from a thread or before the loop. Idempotent, thread-safe."""
        ...

    def open(self) -> VoiceActivity:
        """Begin listening to a call."""
        ...


Upcoming: TypeAlias = tuple[VoiceActivity, Samples]
"""A call's stream, and the samples it will be fed next: the same object."""


@runtime_checkable
class ForesightedModel(ActivityModel, Protocol):
    """An engine that judges windows of several calls in one run, which costs less than one after the other."""

    def foresee(self, upcoming: Sequence[Upcoming]) -> None:
        """Judge the first window that each stream will complete; it answers with that when it is fed those samples.

        Args:
            upcoming: each stream at most once; streams of other engines are left alone.
        """
        ...
