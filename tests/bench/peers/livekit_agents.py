# mypy: disable-error-code="import-not-found, import-untyped, misc, no-any-unimported"
"""LiveKit Agents in the comparison: an ``AgentSession`` with its Silero, the fixed-delay vendors, and no room.

Set up as its documentation offers: turns are ended by voice activity, without further delay; no warm-up against echo;
no recording. At its fastest it is interrupted by the first window with speech.
"""

from __future__ import annotations

import asyncio
from typing import Any

from livekit import rtc
from livekit.agents import Agent, AgentSession, APIConnectOptions, llm, stt, tts
from livekit.agents.language import LanguageCode
from livekit.agents.voice import io
from livekit.agents.voice.turn import (
    EndpointingOptions,
    InterruptionOptions,
    PreemptiveGenerationOptions,
    TurnHandlingOptions,
)
from livekit.plugins import silero

from tests.bench.peers.call import HOLD_S, Line
from tests.bench.peers.sink import FRAME_S, Sink
from tests.bench.peers.trial import Trial, main
from tests.bench.peers.vendors import RATE, TRANSCRIPT, VendorVoice, think

__all__ = ["LiveKitAgents"]

SHORTEST_S = 0.01
"""Speech that interrupts, at its fastest: one window. With 0 it would take silence for speech."""

SOON_S = HOLD_S / 2
"""Silence after which it generates ahead, at its fastest; the rest of the hold is its endpointing delay."""

SPEECH_S = 0.05
"""Its own default of the shortest speech."""

_HEARING_RATE = 16_000
_FRAME = round(_HEARING_RATE * FRAME_S)
_CONNECT = APIConnectOptions()


class LiveKitAgents:
    """Holds calls."""

    def __init__(self, trial: Trial) -> None:
        self._fastest = trial.fastest
        self._vad = silero.VAD.load(
            min_silence_duration=SOON_S if trial.fastest else HOLD_S,
            min_speech_duration=SHORTEST_S if trial.fastest else SPEECH_S,
        )

    async def connect(self, line: Line) -> LiveKitCall:
        """Begin a call."""
        hold_s = HOLD_S if self._fastest else 0.0
        interruption = InterruptionOptions(mode="vad")
        if self._fastest:
            interruption["min_duration"] = SHORTEST_S
        session: AgentSession[None] = AgentSession(
            vad=self._vad,
            stt=_Recognizer(line),
            llm=_Model(line),
            tts=_Voice(),
            turn_handling=TurnHandlingOptions(
                turn_detection="vad",
                endpointing=EndpointingOptions(min_delay=hold_s, max_delay=hold_s),
                interruption=interruption,
                preemptive_generation=PreemptiveGenerationOptions(preemptive_tts=self._fastest),
            ),
            aec_warmup_duration=None,
            user_away_timeout=None,
        )
        call = LiveKitCall(session)
        session.input.audio = call.caller
        session.output.audio = _Output(line.sink)
        await session.start(Agent(instructions="You are helpful."), record=False)
        return call


class LiveKitCall:
    """One call."""

    def __init__(self, session: AgentSession[None]) -> None:
        self.caller = _Input()
        self._session = session

    async def hear(self, frame: bytes) -> None:
        """Pass on a frame."""
        self.caller.frames.put_nowait(
            rtc.AudioFrame(data=frame, sample_rate=_HEARING_RATE, num_channels=1, samples_per_channel=_FRAME)
        )

    async def close(self) -> None:
        """Hang up."""
        await self._session.aclose()


class _Input(io.AudioInput):
    def __init__(self) -> None:
        super().__init__(label="caller")
        self.frames: asyncio.Queue[rtc.AudioFrame] = asyncio.Queue()

    async def __anext__(self) -> rtc.AudioFrame:
        return await self.frames.get()


class _Output(io.AudioOutput):
    """The sink as an output of a session."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(label="sink", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=RATE)
        self._sink = sink
        self._given = 0
        """Samples of the segment in progress."""
        self._base = 0
        """What the sink had played when the segment began."""
        self._interrupted = False
        sink.on_begin = self._began

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._given:
            self._base = self._sink.played
        self._given += frame.samples_per_channel
        self._sink.play(frame.samples_per_channel)

    def flush(self) -> None:
        super().flush()
        if self._given:
            self._given = 0
            self._interrupted = False
            self._sink.when_dry(self._finished)

    def clear_buffer(self) -> None:
        self._interrupted = True
        self._sink.clear()

    def pause(self) -> None:
        super().pause()
        self._sink.pause()

    def resume(self) -> None:
        super().resume()
        self._sink.resume()

    def _began(self) -> None:
        self.on_playback_started(created_at=0.0)

    def _finished(self) -> None:
        position = (self._sink.played - self._base) / RATE
        self.on_playback_finished(playback_position=position, interrupted=self._interrupted)


class _Recognizer(stt.STT[Any]):
    def __init__(self, line: Line) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=False, manual_flush=True))
        self.line = line

    async def _recognize_impl(self, *_: Any, **__: Any) -> stt.SpeechEvent:
        raise NotImplementedError("it is streamed")

    def stream(self, *, conn_options: APIConnectOptions = _CONNECT, **_: Any) -> _Hearing:
        return _Hearing(stt=self, conn_options=conn_options)


class _Hearing(stt.RecognizeStream):
    async def _run(self) -> None:
        assert isinstance(self._stt, _Recognizer)
        async for frame in self._input_ch:
            if isinstance(frame, self._FlushSentinel):
                self._stt.line.noticed()
                heard = stt.SpeechData(language=LanguageCode("en"), text=TRANSCRIPT)
                self._event_ch.send_nowait(
                    stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[heard])
                )


class _Model(llm.LLM[Any]):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self.line = line

    def chat(
        self, *, chat_ctx: Any, tools: Any = None, conn_options: APIConnectOptions = _CONNECT, **_: Any
    ) -> _Response:
        return _Response(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Response(llm.LLMStream):
    async def _run(self) -> None:
        assert isinstance(self._llm, _Model)
        async for token in think(self._llm.line.reply):
            delta = llm.ChoiceDelta(role="assistant", content=token)
            self._event_ch.send_nowait(llm.ChatChunk(id="reply", delta=delta))


class _Voice(tts.TTS[Any]):
    def __init__(self) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=True), sample_rate=RATE, num_channels=1)

    def synthesize(self, text: str, *, conn_options: APIConnectOptions = _CONNECT) -> tts.ChunkedStream:
        return self._synthesize_with_stream(text, conn_options=conn_options)

    def stream(self, *, conn_options: APIConnectOptions = _CONNECT) -> _Speech:
        return _Speech(tts=self, conn_options=conn_options)


class _Speech(tts.SynthesizeStream):
    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        output_emitter.initialize(
            request_id="speech", sample_rate=RATE, num_channels=1, mime_type="audio/pcm", stream=True
        )
        output_emitter.start_segment(segment_id="speech")
        voice = VendorVoice()

        async def write() -> None:
            async for text in self._input_ch:
                if isinstance(text, str):
                    self._mark_started()
                    voice.write(text)
            voice.finish()

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            async for chunk in voice.chunks():
                output_emitter.push(chunk)
        output_emitter.end_segment()


if __name__ == "__main__":
    main(LiveKitAgents)
