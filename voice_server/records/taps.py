"""Taps: what lets a record hear both sides of any call, whatever line and output it has.

Above: whoever holds the call puts them between. Below: the line, the output, and the record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from pipelines.audio.frame import Frame, Samples
from pipelines.call import CallInput
from pipelines.playout.output import AudioOutput, Report
from voice_server.records.record import CallRecord

__all__ = ["TappedCaller", "TappedOutput"]


class TappedCaller:
    """A caller's line that is recorded.

    Args:
        caller: the line.
        record: hears every frame.
    """

    def __init__(self, caller: CallInput, record: CallRecord) -> None:
        self._caller = caller
        self._record = record

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Pass on frames as they come."""

        def both(frame: Frame) -> None:
            self._record.hear(frame)
            hear(frame)

        await self._caller.run(both, idle)


class TappedOutput:
    """An output of which what it says it played is recorded: what is never proven played is never heard in the record.

    Args:
        output: the output.
        record: hears what was played.
        late_s: how late the output tells what it played, seconds, if that is known.
    """

    def __init__(self, output: AudioOutput, record: CallRecord, late_s: float = 0.0) -> None:
        self.rate = output.rate
        self.can_pause = output.can_pause
        self._output = output
        self._record = record
        self._late_s = late_s
        self._report: Report | None = None
        self._given: dict[int, deque[Samples]] = {}
        """Of each epoch what is not proven played."""
        self._proven: dict[int, int] = {}
        """Of each epoch how many samples are."""

    def attach(self, report: Report) -> None:
        """Say where reports go."""
        self._report = report
        self._output.attach(self._reported)

    def play(self, epoch: int, samples: Samples) -> None:
        """Queue samples."""
        self._given.setdefault(epoch, deque()).append(samples)
        self._output.play(epoch, samples)

    def pause(self) -> None:
        """Fall silent now."""
        self._output.pause()

    def unpause(self) -> None:
        """Go on."""
        self._output.unpause()

    def clear(self, epoch: int) -> None:
        """Drop what is older; of the last epoch before it, it may still be reported what was played."""
        for old in [given for given in self._given if given < epoch - 1]:
            self._forget(old)
        self._output.clear(epoch)

    async def aclose(self) -> None:
        """Stop for good."""
        await self._output.aclose()

    def _reported(self, epoch: int, played_s: float, *, final: bool = False) -> None:
        self._prove(epoch, played_s)
        if final:
            self._forget(epoch)
        if self._report is not None:
            self._report(epoch, played_s, final=final)

    def _prove(self, epoch: int, played_s: float) -> None:
        given = self._given.get(epoch)
        if given is None or not 0 <= played_s < float("inf"):
            return
        more = round(played_s * self.rate) - self._proven.get(epoch, 0)
        played: list[Samples] = []
        while more > 0 and given:
            samples = given.popleft()
            if len(samples) > more:
                given.appendleft(samples[more:])
            played.append(samples[:more])
            more -= len(played[-1])
        if played:
            frame = Frame(np.concatenate(played), self.rate)
            self._proven[epoch] = self._proven.get(epoch, 0) + len(frame.samples)
            self._record.played(frame, self._late_s)

    def _forget(self, epoch: int) -> None:
        self._given.pop(epoch, None)
        self._proven.pop(epoch, None)
