"""The scribe: writes a call's record to its folder. Blocking, and not to be called on a loop.

Above: ``record`` hands over what happened, a batch at a time. Below: tapes, the journal, and what is made of it. When
the process is killed, between two batches or in one, what is on the disk can be used: see ``opened``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.audio.resample import Resampler
from pipelines.trace import Trace
from voice_server.records import captions, folder, journal
from voice_server.records.minutes import Minutes
from voice_server.records.tape import Tape, read_tape
from voice_server.records.tracing import Tracing
from voice_server.report import Audio, TurnReport
from voice_server.transcript import render

__all__ = ["Batch", "Scribe"]

_WIDTH = 100
"""Columns of the written transcript."""

_STALE_S = 5.0
"""Seconds of the call a transcript on the disk may be behind, and a tenth of a second more for each turn: to write a
long one again and again costs."""
_STALE_PER_TURN_S = 0.1

_BLOCK_S = 60
"""Seconds of audio that are mixed at a time."""


@dataclass(slots=True)
class Batch:
    """What happened since the last batch; all times are seconds since the call began."""

    caller: list[tuple[float, Frame]] = field(default_factory=list)
    """When audio came, and the audio."""
    agent: list[tuple[float, Frame]] = field(default_factory=list)
    """When audio had been played, and the audio."""
    speech: list[tuple[float, float]] = field(default_factory=list)
    """When a window ended, and its probability of speech."""
    entries: list[journal.Entry] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.caller or self.agent or self.speech or self.entries)


class Scribe:
    """Writes one record.

    Args:
        place: its folder, which is there; of an earlier record in it nothing is left.
        heading: what is known of the call.

    Raises:
        OSError: it cannot be written. So do all methods.
    """

    def __init__(self, place: Path, heading: journal.Heading) -> None:
        self._place = place
        self._heading = heading
        for name in folder.FILES:
            (place / name).unlink(missing_ok=True)
        self._minutes = Minutes(heading)
        self._trace = Trace()
        self._tracing = Tracing(self._trace)
        self._caller = Tape(place / folder.CALLER, HEARING_RATE, bursts=True)
        self._agent = Tape(place / folder.AGENT, SPEAKING_RATE, bursts=False)
        self._journal = _opened(place / folder.JOURNAL)
        self._speech = _opened(place / folder.SPEECH)
        self._journal.write(journal.head(heading))
        self._speech.write("t_ms,probability\n")
        self._journal.flush()
        self._told_s = 0.0
        """Up to when the transcripts on the disk tell."""

    def write(self, batch: Batch) -> None:
        """Write what happened."""
        for tape, frames in ((self._caller, batch.caller), (self._agent, batch.agent)):
            for at_s, frame in frames:
                tape.write(frame, at_s)
            tape.settle()
        self._speech.writelines(f"{at_s * 1000:.0f},{probability:.3f}\n" for at_s, probability in batch.speech)
        self._speech.flush()
        for entry in batch.entries:
            self._journal.write(journal.line(entry))
            self._minutes.notice(entry)
            self._tracing.notice(entry)
        self._journal.flush()
        if batch.entries and batch.entries[-1].at_s >= self._told_s + _STALE_S:
            report = self._tell()
            self._told_s = batch.entries[-1].at_s + len(report.turns) * _STALE_PER_TURN_S

    def finish(self, ended_s: float) -> TurnReport:
        """Complete the record, but for what ``mix`` makes.

        Args:
            ended_s: when the call ended, seconds since it began.

        Returns:
            The report, as it is in the folder.
        """
        self._journal.write(journal.tail(ended_s))
        for tape in (self._caller, self._agent):
            tape.fill(ended_s)
            tape.settle()
        report = self._tell()
        self.close()
        return report

    def mix(self) -> None:
        """Lay the caller's line over what the agent played, once the record is complete. Takes a second for an hour."""
        part = self._place / f".{folder.BOTH}.part"
        tape = Tape(part, SPEAKING_RATE, bursts=False)
        try:
            for block in _mixed(read_tape(self._place / folder.CALLER), read_tape(self._place / folder.AGENT)):
                tape.write(Frame(block, SPEAKING_RATE), tape.seconds + len(block) / SPEAKING_RATE)
                tape.settle()
        finally:
            tape.close()
        os.replace(part, self._place / folder.BOTH)

    def close(self) -> None:
        """Let go of the files. Idempotent."""
        for file in (self._caller, self._agent, self._journal, self._speech):
            file.close()

    def report(self) -> TurnReport:
        """Give the report as far as it goes. Never raises."""
        path = str(self._place / folder.AGENT)
        return self._minutes.report(Audio(seconds=round(self._agent.seconds, 3), path=path))

    def _tell(self) -> TurnReport:
        """Write what is made of the journal."""
        report = self.report()
        found = captions.captions(self._trace)
        _replace(self._place / folder.REPORT, json.dumps(report.to_json(), ensure_ascii=False, indent=1) + "\n")
        _replace(self._place / folder.TEXT, render(report, width=_WIDTH) + "\n")
        _replace(self._place / folder.TRANSCRIPT, captions.to_json(self._heading, found))
        _replace(self._place / folder.CAPTIONS, captions.to_vtt(found))
        return report


def _opened(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _replace(path: Path, text: str) -> None:
    """Write a file that is seen whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    os.replace(part, path)


def _mixed(caller: Samples, agent: Samples) -> Iterator[Samples]:
    """Yield the sum of both sides, some seconds at a time, as long as the agent's side is.

    Args:
        caller: 16 kHz.
        agent: 24 kHz.
    """
    chunks = _resampled(caller)
    voice = np.zeros(0, np.int16)
    for start in range(0, len(agent), _BLOCK_S * SPEAKING_RATE):
        mixed = agent[start : start + _BLOCK_S * SPEAKING_RATE].astype(np.int32)
        while len(voice) < len(mixed) and (chunk := next(chunks, None)) is not None:
            voice = np.concatenate([voice, chunk])
        laid, voice = voice[: len(mixed)], voice[len(mixed) :]
        mixed[: len(laid)] += laid
        yield np.clip(mixed, -32768, 32767).astype(np.int16)


def _resampled(caller: Samples) -> Iterator[Samples]:
    resampler = Resampler(HEARING_RATE, SPEAKING_RATE)
    for start in range(0, len(caller), _BLOCK_S * HEARING_RATE):
        yield resampler.process(caller[start : start + _BLOCK_S * HEARING_RATE])
    yield resampler.flush()
