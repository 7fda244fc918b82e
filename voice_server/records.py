"""What a run leaves behind on disk: the agent's audio, the transcript, the report, the picture.

Above: ``cli``. Everything that can be refused is refused before the call begins, so that no conversation is lost to a
misspelled folder.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.audio.resample import Resampler
from pipelines.audio.wav import WavError, write_wav
from pipelines.trace import Trace
from voice_server.errors import UsageError
from voice_server.report import Audio, TurnReport
from voice_server.transcript import headline, render

__all__ = ["PICTURE_SUFFIXES", "Records"]

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")

_WIDTH = 100
"""Columns of the written transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Where a run writes to; ``None`` writes nothing."""

    out: Path | None = None
    """A folder: ``call.wav`` with both sides, ``agent.wav``, ``transcript.txt``, ``report.json``."""
    picture: Path | None = None
    """A file; its suffix says which format."""

    def prepare(self) -> None:
        """Make the folders.

        Raises:
            UsageError: a place cannot be written to, or a picture cannot be drawn.
        """
        if self.out is not None:
            _make_folder(self.out, "--out")
        if self.picture is None:
            return
        if self.picture.suffix.lower() not in PICTURE_SUFFIXES:
            raise UsageError(f"--plot {str(self.picture)!r}: the name ends in none of {', '.join(PICTURE_SUFFIXES)}")
        if importlib.util.find_spec("matplotlib") is None:
            raise UsageError("--plot needs 'matplotlib', which is not installed; run `pip install 'glove-voice[plot]'`")
        _make_folder(self.picture.parent, "--plot")

    def keep_sound(self, trace: Trace) -> Audio:
        """Write what the agent said so far; also worth doing when the call broke."""
        seconds = round(len(trace.agent) / SPEAKING_RATE, 3)
        if self.out is None:
            return Audio(seconds=seconds)
        path = self.out / "agent.wav"
        try:
            write_wav(path, Frame(trace.agent, SPEAKING_RATE))
            write_wav(self.out / "call.wav", Frame(_both_sides(trace), SPEAKING_RATE))
        except (OSError, WavError) as error:
            raise UsageError(f"--out {str(self.out)!r}: the audio cannot be written ({error})") from error
        return Audio(seconds=seconds, path=str(path))

    def keep(self, report: TurnReport, trace: Trace) -> TurnReport:
        """Write everything.

        Returns:
            The report, knowing where its audio is.

        Raises:
            UsageError: the disk refuses.
        """
        report = replace(report, audio=self.keep_sound(trace))
        try:
            if self.out is not None:
                text = json.dumps(report.to_json(), ensure_ascii=False, indent=1)
                (self.out / "report.json").write_text(text + "\n", encoding="utf-8")
                (self.out / "transcript.txt").write_text(render(report, width=_WIDTH) + "\n", encoding="utf-8")
            if self.picture is not None:
                from voice_server.picture import draw

                draw(trace, self.picture, title=headline(report))
        except OSError as error:
            raise UsageError(f"{str(error.filename)!r} cannot be written: {error.strerror}") from error
        return report


def _both_sides(trace: Trace) -> Samples:
    """Lay the caller's line over what the agent played, as somebody listening in would hear them."""
    resampler = Resampler(HEARING_RATE, SPEAKING_RATE)
    caller = np.concatenate([resampler.process(trace.caller), resampler.flush()])
    mixed = np.zeros(max(len(caller), len(trace.agent)), np.int32)
    mixed[: len(caller)] += caller
    mixed[: len(trace.agent)] += trace.agent
    return np.clip(mixed, -32768, 32767).astype(np.int16)


def _make_folder(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        raise UsageError(
            f"{option} {str(folder)!r}: cannot write there ({error.strerror}); name another folder"
        ) from error
