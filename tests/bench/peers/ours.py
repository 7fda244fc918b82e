"""Our side of the comparison: whole calls with real Silero, an agent of ours, and the fixed-delay vendors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import partial

import numpy as np

from agents.core.glove import Glove
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk
from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.call import Call
from pipelines.cascade import Cascade, CascadeSettings, Engines
from pipelines.clock import Clock, RealClock
from pipelines.events import CallEvent, TurnCommitted
from pipelines.glove import GloveResponder
from pipelines.playout.output import Report
from pipelines.stt.base import Emit, Final
from pipelines.tts.base import SpeechAudio
from pipelines.turns.endpointing import Endpointing
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import DetectorSettings
from pipelines.vad.silero import SileroModel
from tests.bench.peers.call import HOLD_S, Line
from tests.bench.peers.sink import Sink
from tests.bench.peers.trial import Trial, main
from tests.bench.peers.vendors import RATE, TRANSCRIPT, speak, think

__all__ = ["Ours"]

NOTICED_S = HOLD_S - 0.05
"""Silence after which an end is noticed: as long before the hold is over as it comes."""

SOON_S = HOLD_S / 2
"""The same at its fastest: the answer is drafted in the other half of the hold, which lasts as long as before."""

REPORT_EVERY_S = 0.05
"""How often the output says what it played, as ours do."""


class Ours:
    """Holds calls."""

    def __init__(self, trial: Trial) -> None:
        self._vad = SileroModel()
        self._vad.warm()
        self._settings = CascadeSettings(
            detector=DetectorSettings(end_s=SOON_S if trial.fastest else NOTICED_S),
            turns=TurnSettings(endpointing=Endpointing(floor=HOLD_S, ceiling=HOLD_S)),
        )

    async def connect(self, line: Line) -> OurCall:
        """Begin a call."""
        return OurCall(line, self._vad, self._settings)


class OurCall:
    """One call, and the caller it hears."""

    def __init__(self, line: Line, vad: SileroModel, settings: CascadeSettings) -> None:
        clock = RealClock()
        self._line = line
        self._connected: asyncio.Future[Callable[[Frame], None]] = asyncio.get_running_loop().create_future()
        self._output = _Output(line.sink)
        self._call = asyncio.create_task(
            Call(
                clock=clock,
                caller=self,
                output=self._output,
                pipeline=partial(
                    Cascade,
                    engines=Engines(activity=vad.open(), recognizer=_Recognizer(), synthesizer=_Synthesizer()),
                    responder=GloveResponder(Glove(model=_Model(line)), clock),
                    settings=settings,
                ),
                tell=self._tell,
            ).run()
        )

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Be the call's input."""
        self._connected.set_result(hear)
        await asyncio.Event().wait()

    async def hear(self, frame: bytes) -> None:
        """Pass on a frame."""
        hear = self._connected.result() if self._connected.done() else await self._connected
        hear(Frame(np.frombuffer(frame, np.int16), HEARING_RATE))

    async def close(self) -> None:
        """Hang up."""
        self._call.cancel()
        await asyncio.wait([self._call])

    def _tell(self, event: CallEvent) -> None:
        if isinstance(event, TurnCommitted):
            self._line.noticed()


class _Recognizer:
    name = "fixed"

    def warm(self) -> None:
        pass

    def open(self, clock: Clock, emit: Emit) -> _Hearing:
        return _Hearing(emit)


class _Hearing:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        pass

    def feed(self, segment: int, samples: Samples) -> None:
        pass

    def pause(self, segment: int) -> None:
        pass

    def end(self, segment: int) -> None:
        asyncio.get_running_loop().call_soon(self._emit, Final(segment=segment, text=TRANSCRIPT))

    def drop(self, segment: int) -> None:
        pass

    async def aclose(self) -> None:
        pass


class _Model:
    name = "fixed"

    def __init__(self, line: Line) -> None:
        self._line = line

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for token in think(self._line.reply):
            yield TextChunk(text=token)
        yield ModelFinished(stop_reason="stop")


class _Synthesizer:
    name = "fixed"
    rate = RATE

    def warm(self) -> None:
        pass

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        async for chunk in speak(text):
            yield SpeechAudio(samples=np.frombuffer(chunk, np.int16))


class _Output:
    """The sink as an output of ours."""

    rate = RATE
    can_pause = True

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._report: Report | None = None
        self._epoch = 0
        self._base = 0
        """What the sink had played when the epoch began."""
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, report: Report) -> None:
        self._report = report

    def play(self, epoch: int, samples: Samples) -> None:
        if epoch >= self._epoch:
            self._sink.play(len(samples))
            self._watch()

    def pause(self) -> None:
        self._sink.pause()
        self._say(final=False)

    def unpause(self) -> None:
        self._sink.resume()
        self._watch()

    def clear(self, epoch: int) -> None:
        self._sink.clear()
        self._say(final=True)
        self._epoch, self._base = epoch, self._sink.played

    async def aclose(self) -> None:
        self._report = None
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(REPORT_EVERY_S, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._say(final=False)
        if self._sink.playing:
            self._watch()

    def _say(self, *, final: bool) -> None:
        if self._report is not None:
            self._report(self._epoch, (self._sink.played - self._base) / RATE, final=final)


if __name__ == "__main__":
    main(Ours)
