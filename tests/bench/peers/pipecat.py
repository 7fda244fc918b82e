# mypy: disable-error-code="import-not-found, import-untyped, misc, no-any-unimported"
"""Pipecat in the comparison: a pipeline with its Silero, the fixed-delay vendors, and a transport that is the sink.

Set up as its documentation offers: turns are ended by voice activity, without further delay. As it comes, it gathers
sentences for the voice; at its fastest, it passes on tokens and is interrupted by the first window with speech.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from typing import Any

from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    OutputAudioRawFrame,
    StartFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TextAggregationMode, TTSService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from tests.bench.peers.call import HOLD_S, Line
from tests.bench.peers.sink import LEAD_S, Sink
from tests.bench.peers.trial import Trial, main
from tests.bench.peers.vendors import RATE, TRANSCRIPT, VendorVoice, speak, think

__all__ = ["Pipecat"]

_HEARING_RATE = 16_000


class Pipecat:
    """Holds calls."""

    def __init__(self, trial: Trial) -> None:
        logger.remove()
        logger.add(sys.stderr, level="ERROR")
        self._fastest = trial.fastest

    async def connect(self, line: Line) -> PipecatCall:
        """Begin a call."""
        params = VADParams(stop_secs=HOLD_S, **({"start_secs": 0.0, "min_volume": 0.0} if self._fastest else {}))
        user, assistant = LLMContextAggregatorPair(
            LLMContext(),
            user_params=LLMUserAggregatorParams(
                vad_analyzer=SileroVADAnalyzer(params=params),
                user_turn_strategies=UserTurnStrategies(
                    stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.0)]
                ),
            ),
        )
        transport = TransportParams(audio_in_enabled=True, audio_out_enabled=True, audio_out_10ms_chunks=2)
        caller = _Input(transport)
        pipeline = Pipeline(
            [
                caller,
                _Recognizer(line),
                user,
                _Model(line),
                _StreamingVoice() if self._fastest else _Voice(),
                _Output(transport, line.sink),
                assistant,
            ]
        )
        worker = PipelineWorker(
            pipeline,
            params=PipelineParams(audio_in_sample_rate=_HEARING_RATE, audio_out_sample_rate=RATE),
            idle_timeout_secs=None,
            enable_rtvi=False,
            enable_turn_tracking=False,
            check_dangling_tasks=False,
        )
        call = PipecatCall(caller, worker)
        await caller.ready.wait()
        return call


class PipecatCall:
    """One call."""

    def __init__(self, caller: _Input, worker: PipelineWorker) -> None:
        self._caller = caller
        self._worker = worker
        self._running = asyncio.create_task(self._run())

    async def hear(self, frame: bytes) -> None:
        """Pass on a frame."""
        await self._caller.push_audio_frame(InputAudioRawFrame(audio=frame, sample_rate=_HEARING_RATE, num_channels=1))

    async def close(self) -> None:
        """Hang up."""
        await self._worker.cancel()
        await self._running

    async def _run(self) -> None:
        runner = WorkerRunner(handle_sigint=False, check_dangling_tasks=False)
        await runner.add_workers(self._worker)
        await runner.run()


class _Input(BaseInputTransport):
    def __init__(self, params: TransportParams) -> None:
        super().__init__(params)
        self.ready = asyncio.Event()

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)
        self.ready.set()


class _Output(BaseOutputTransport):
    def __init__(self, params: TransportParams, sink: Sink) -> None:
        super().__init__(params)
        self._sink = sink

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, InterruptionFrame):
            self._sink.clear()
        await super().process_frame(frame, direction)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        self._sink.play(len(frame.audio) // 2)
        if (ahead_s := self._sink.queued_s - LEAD_S) > 0:
            await asyncio.sleep(ahead_s)
        return True


class _Recognizer(STTService):
    def __init__(self, line: Line) -> None:
        super().__init__(ttfs_p99_latency=0.0)
        self._line = line

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            self._line.noticed()
            await self.push_frame(TranscriptionFrame(text=TRANSCRIPT, user_id="", timestamp="", finalized=True))


class _Model(LLMService):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        await self.push_frame(LLMFullResponseStartFrame())
        async for token in think(self._line.reply):
            await self._push_llm_text(token)
        await self.push_frame(LLMFullResponseEndFrame())


class _Voice(TTSService):
    """Speaks sentence by sentence."""

    def __init__(self) -> None:
        super().__init__(push_start_frame=True, push_stop_frames=True, sample_rate=RATE)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        async for chunk in speak(text):
            yield TTSAudioRawFrame(audio=chunk, sample_rate=RATE, num_channels=1, context_id=context_id)


class _StreamingVoice(TTSService):
    """Speaks tokens as they come, as a voice behind a socket does."""

    def __init__(self) -> None:
        super().__init__(
            text_aggregation_mode=TextAggregationMode.TOKEN,
            push_start_frame=True,
            push_stop_frames=False,
            sample_rate=RATE,
        )
        self._voices: dict[str, tuple[VendorVoice, Any]] = {}

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        if context_id not in self._voices:
            voice = VendorVoice()
            self._voices[context_id] = voice, self.create_task(self._speak(voice, context_id))
        self._voices[context_id][0].write(text)
        yield None

    async def flush_audio(self, context_id: str | None = None) -> None:
        context_id = context_id or self.get_active_audio_context_id()
        if context_id in self._voices:
            self._voices[context_id][0].finish()

    async def on_audio_context_interrupted(self, context_id: str) -> None:
        await super().on_audio_context_interrupted(context_id)
        if context_id in self._voices:
            await self.cancel_task(self._voices.pop(context_id)[1])

    async def _speak(self, voice: VendorVoice, context_id: str) -> None:
        async for chunk in voice.chunks():
            frame = TTSAudioRawFrame(audio=chunk, sample_rate=RATE, num_channels=1, context_id=context_id)
            await self.append_to_audio_context(context_id, frame)
        await self.append_to_audio_context(context_id, TTSStoppedFrame(context_id=context_id))
        await self.remove_audio_context(context_id)
        del self._voices[context_id]


if __name__ == "__main__":
    main(Pipecat)
