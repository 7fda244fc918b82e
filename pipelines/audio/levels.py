"""How loud a run of samples is."""

from __future__ import annotations

import math

import numpy as np

from pipelines.audio.frame import Samples

__all__ = ["FULL_SCALE", "SILENCE_DBFS", "dbfs", "peak", "rms"]

FULL_SCALE = 32768.0
"""The int16 value that counts as 1.0."""

SILENCE_DBFS = -120.0
"""What ``dbfs`` answers to anything quieter; 16 bits end at about -96."""


def rms(samples: Samples) -> float:
    """Measure the root mean square level.

    Args:
        samples: int16, shape ``(samples,)``; may be empty.

    Returns:
        0.0 to 1.0 of full scale; 0.0 for no samples.
    """
    if not len(samples):
        return 0.0
    values = samples.astype(np.float32)
    return math.sqrt(float(np.dot(values, values)) / len(values)) / FULL_SCALE


def peak(samples: Samples) -> float:
    """Measure the largest magnitude.

    Args:
        samples: int16, shape ``(samples,)``; may be empty.

    Returns:
        0.0 to 1.0 of full scale; 0.0 for no samples.
    """
    if not len(samples):
        return 0.0
    # The magnitude of -32768 does not fit an int16, so the ends are compared as Python integers.
    return max(int(samples.max()), -int(samples.min())) / FULL_SCALE


def dbfs(level: float) -> float:
    """Express a level in decibels below full scale.

    Args:
        level: a fraction of full scale, as ``rms`` and ``peak`` give it.

    Returns:
        At least ``SILENCE_DBFS``; 0.0 is full scale.
    """
    return max(SILENCE_DBFS, 20.0 * math.log10(level)) if level > 0.0 else SILENCE_DBFS
