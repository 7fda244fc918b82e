"""A tape: one side of a call as a WAV that grows, laid out on the call's time.

Above: ``scribe`` runs two of them. Below: plain files. Blocking, and not to be called on a loop. At every moment the
file is a WAV that can be played up to what was last written, even when the process is killed in the middle.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np

from pipelines.audio.arrival import Arrival
from pipelines.audio.frame import Frame, Samples
from pipelines.audio.resample import Resampler
from pipelines.audio.wav import LARGEST_BYTES, wav_header

__all__ = ["Tape", "read_tape"]

HEADER_BYTES = len(wav_header(1, 0))

SLIP_S = 0.12
"""Seconds a sound may be out of its place on the tape: reports of what was played jitter by so much, and silence put
into the middle of a word to make up for it would be heard."""

STALL_S = 1.0
"""Seconds without audio after which what comes is of its own time, and no burst that was held up."""

_SILENCE = np.zeros(24_000, np.int16)

_GATHERED_BYTES = 1 << 20
"""Audio is handed to the disk at the latest when there is so much of it."""


class Tape:
    """Writes a tape.

    Args:
        path: of the WAV; what is there is overwritten.
        rate: hertz of the file; audio of another rate is converted.
        bursts: whether audio may come late and in bursts, as over a network, and is then dated by its own length.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, rate: int, *, bursts: bool) -> None:
        self._rate = rate
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by close()
        self._file.write(wav_header(rate, 0))
        self._samples = 0
        self._gathered = bytearray()
        self._arrival = Arrival() if bursts else None
        self._came_s = 0.0
        self._resampler: Resampler | None = None

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self._samples / self._rate

    def write(self, frame: Frame, ended_s: float) -> None:
        """Add audio; in order.

        Args:
            frame: the audio.
            ended_s: when its last sample sounded, or, where bursts come, when it came; seconds since the call began.

        Raises:
            OSError: the disk refuses, or the file has reached 4 GiB, a day of audio.
        """
        ended_s = self._dated(frame.duration, ended_s)
        samples = self._converted(frame)
        behind = round(ended_s * self._rate) - len(samples) - self._samples
        if behind > SLIP_S * self._rate:
            self._append_silence(behind)
        elif behind < -STALL_S * self._rate:
            return  # More audio than time: somebody floods the line.
        self._append(samples)

    def fill(self, until_s: float) -> None:
        """Add silence up to a moment of the call; nothing when the tape is that long.

        Raises:
            OSError: the disk refuses.
        """
        if self._resampler is not None:
            self._append(self._resampler.flush())
        self._append_silence(round(until_s * self._rate) - self._samples)

    def settle(self) -> None:
        """Put everything on the disk, and let the file say how long it is.

        Raises:
            OSError: the disk refuses.
        """
        self._put()
        os.pwrite(self._file.fileno(), wav_header(self._rate, self._samples * 2), 0)

    def close(self) -> None:
        """Close the file, as it was last settled. Idempotent."""
        self._file.close()

    def _dated(self, duration_s: float, came_s: float) -> float:
        if self._arrival is None:
            return came_s
        if came_s - self._came_s > STALL_S:
            self._arrival.restart()
        self._came_s = came_s
        return self._arrival.feed(duration_s, came_s)

    def _converted(self, frame: Frame) -> Samples:
        if self._resampler is None or self._resampler.source != frame.rate:
            self._resampler = Resampler(frame.rate, self._rate)
        return self._resampler.process(frame.samples)

    def _append_silence(self, count: int) -> None:
        while count > 0:
            self._append(_SILENCE[:count])
            count -= len(_SILENCE)

    def _append(self, samples: Samples) -> None:
        if (self._samples + len(samples)) * 2 > LARGEST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        self._gathered += samples.astype("<i2", copy=False).tobytes()
        self._samples += len(samples)
        if len(self._gathered) >= _GATHERED_BYTES:
            self._put()

    def _put(self) -> None:
        while self._gathered:
            del self._gathered[: self._file.write(self._gathered) or 0]


def read_tape(path: Path) -> Samples:
    """Read a tape without loading it: what is looked at is fetched from the disk then.

    Returns:
        int16, shape ``(samples,)``; as much as is there, whatever the file says: it may have been cut off.

    Raises:
        OSError: it cannot be read.
    """
    count = max(0, path.stat().st_size - HEADER_BYTES) // 2
    if not count:
        return np.zeros(0, np.int16)
    return np.asarray(np.memmap(path, "<i2", "r", offset=HEADER_BYTES, shape=(count,)))
