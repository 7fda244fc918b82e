"""A frame: a short run of mono samples with its rate; the one form in which audio moves inside a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["HEARING_RATE", "SPEAKING_RATE", "Frame", "Samples"]

Samples: TypeAlias = npt.NDArray[np.int16]
"""Mono PCM: int16, shape ``(samples,)``, full scale ±32768."""

HEARING_RATE = 16_000
"""Hertz. What the voice activity detector and the recognisers take."""

SPEAKING_RATE = 24_000
"""Hertz. What synthesisers and realtime models give, and outputs take."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A run of mono samples.

    Raises:
        ValueError: when the samples are not one-dimensional int16, or the rate is not positive.
    """

    samples: Samples
    """int16, shape ``(samples,)``."""

    rate: int
    """Hertz."""

    def __post_init__(self) -> None:
        if self.samples.dtype != np.int16 or self.samples.ndim != 1:
            raise ValueError(
                f"a frame takes mono int16 samples of shape (samples,), "
                f"got {self.samples.dtype} of shape {self.samples.shape}"
            )
        if self.rate <= 0:
            raise ValueError(f"a frame's rate is a positive number of hertz, got {self.rate}")

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.samples) / self.rate
