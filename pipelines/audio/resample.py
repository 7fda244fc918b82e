"""A streaming change of sample rate, for the edges of a call."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from pipelines.audio.frame import Samples

__all__ = ["HIGHEST_RATE", "LOWEST_RATE", "Resampler"]

LOWEST_RATE = 8_000
"""Hertz: the telephone."""

HIGHEST_RATE = 192_000
"""Hertz: studio recordings."""


class Resampler:
    """Turns a stream of mono samples of one rate into another; equal rates pass through untouched.

    Its output lags the input by a constant 200 to 240 samples of the lower rate (12.5 ms from 48 to 16 kHz, 10 ms
    from 24 to 48 kHz, 30 ms from 8 to 16 kHz), which ``flush`` gives back; sound moves in time by less than 0.25 ms.

    soxr's fixed-rate mode gives its output in bursts up to 115 ms late (8 to 16 kHz), too late for a barge-in: that is
    why its variable-rate mode, a plain time-domain filter, is used with a rate that never varies. Its own int16 mode
    adds noise seeded from the wall clock; floats rounded here give the same result every run.

    Args:
        source: hertz of what goes in, 8,000 to 192,000.
        target: hertz of what comes out, 8,000 to 192,000.

    Raises:
        ValueError: when a rate is out of range.
    """

    def __init__(self, source: int, target: int) -> None:
        for rate in (source, target):
            if not LOWEST_RATE <= rate <= HIGHEST_RATE:
                raise ValueError(f"a resampler takes rates of {LOWEST_RATE} to {HIGHEST_RATE} Hz, got {rate}")
        self.source = source
        self.target = target
        self._stream = None if source == target else soxr.ResampleStream(source, target, 1, dtype="float32", vr=True)

    def process(self, samples: Samples) -> Samples:
        """Take the next samples and return what is ready, possibly nothing.

        Args:
            samples: int16, shape ``(samples,)``, at ``source``.

        Returns:
            int16, shape ``(samples,)``, at ``target``.
        """
        if self._stream is None:
            return samples
        return _rounded(self._stream.resample_chunk(samples.astype(np.float32)))

    def flush(self) -> Samples:
        """End the stream: return what still lags, then be ready for a new one."""
        if self._stream is None:
            return np.zeros(0, np.int16)
        rest = self._stream.resample_chunk(np.zeros(0, np.float32), last=True)
        self._stream.clear()
        return _rounded(rest)

    def reset(self) -> None:
        """Forget what lags (after a clear, or after the input was idle)."""
        if self._stream is not None:
            self._stream.clear()


def _rounded(values: npt.NDArray[np.float32]) -> Samples:
    np.rint(values, out=values)
    return np.clip(values, -32768, 32767, out=values).astype(np.int16)
