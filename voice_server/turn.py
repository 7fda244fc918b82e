"""The command `turn`: recorded callers through a whole call, on charged or real time.

Above: ``cli``. Below: everything a call is made of is put together here.
"""

from __future__ import annotations

import asyncio
import gc
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import numpy as np

from agents.core.glove import Glove
from agents.core.model import close_model
from agents.models.providers import create_model
from pipelines.audio.frame import Samples
from pipelines.audio.wav import read_wav
from pipelines.call import Call
from pipelines.cascade import CascadeSettings, Engines
from pipelines.clock import Clock, RealClock, VirtualClock, held, measured
from pipelines.engines import EngineKind, load_engine
from pipelines.events import CallEvent
from pipelines.glove import GloveResponder
from pipelines.stt.base import Recognizer
from pipelines.trace import Trace
from pipelines.tts.base import Synthesizer
from pipelines.turns.endpointing import Endpointing
from pipelines.turns.settings import TurnSettings
from pipelines.vad.silero import SileroModel
from voice_server.errors import UsageError
from voice_server.keeping import check_database, kept_conversation
from voice_server.loading import make_agent
from voice_server.options import OutputKind, TurnOptions
from voice_server.recorder import Recorder
from voice_server.report import TurnReport
from voice_server.settings import Settings
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording

__all__ = ["House", "run"]

LATE_S = 0.2
"""Seconds between something being played and being reported by the late output: a phone bridge over the internet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The engines, loaded once; they serve any number of calls."""

    vad: SileroModel
    recognizer: Recognizer
    synthesizer: Synthesizer
    phrases: dict[str, Samples]
    """Sentences rendered beforehand, so that a dead synthesiser can still be apologised for."""

    @classmethod
    def load(cls, settings: Settings) -> House:
        """Load what the settings name. Blocking, and not to be called on a loop.

        What is in memory afterwards is never looked at by the garbage collector again: a full collection that reads
        all of it stops every call for 25 to 45 ms, one that does not for 2 ms.

        Raises:
            EngineError: an engine cannot be had.
        """
        turns = TurnSettings()
        synthesizer = cast(Synthesizer, load_engine(EngineKind.TTS, settings.tts))
        loaded = cls(
            vad=cast(SileroModel, load_engine(EngineKind.VAD, settings.vad)),
            recognizer=cast(Recognizer, load_engine(EngineKind.STT, settings.stt)),
            synthesizer=synthesizer,
            phrases=asyncio.run(_render(synthesizer, (turns.not_understood, turns.engine_failed))),
        )
        gc.collect()
        gc.freeze()
        return loaded


def run(options: TurnOptions, trace: Trace, house: House | None = None) -> TurnReport:
    """Hold the call.

    Args:
        options: what was asked.
        trace: is filled as things happen; what is in it stays when the call breaks.
        house: engines that are loaded already and fit the settings; ``None`` loads them.

    Raises:
        WavError: a recording cannot be used.
        EngineError: an engine cannot be had.
        ConfigurationError: the model cannot be had, or the database's URL is none.
        StoreError: the database cannot be used.
        UsageError: the agent cannot be had.
    """
    settings = options.settings
    check_database(settings.database)
    recordings = [Recording(frame=read_wav(recorded.path), after_s=recorded.after_s) for recorded in options.recordings]
    model = create_model(settings.model, os.environ)
    agent = make_agent(settings.agent, model, now=lambda: datetime.now().astimezone())
    if not isinstance(agent, Glove):
        raise UsageError(
            f"agent {settings.agent!r}: its factory made {type(agent).__name__!r}, not a Glove; return the agent itself"
        )
    turns = _turn_settings(settings)
    engines = house or House.load(settings)
    conversation = options.conversation or uuid.uuid4().hex

    async def call(clock: Clock) -> TurnReport:
        output = RecordedOutput(
            clock,
            can_pause=options.output is OutputKind.PAUSING,
            late_s=LATE_S if options.output is OutputKind.LATE else 0.0,
            rate=engines.synthesizer.rate,
        )
        caller = RecordedCaller(clock, recordings)
        recorder = Recorder(clock, trace, lambda: output.last_played_at)

        def tell(event: CallEvent) -> None:
            recorder.notice(event)
            caller.notice(event)

        try:
            async with kept_conversation(settings.database, conversation, clock) as store:
                if store is not None:
                    agent.rebuild(store)
                await Call(
                    clock=clock,
                    caller=caller,
                    output=output,
                    engines=Engines(
                        activity=engines.vad.open(),
                        recognizer=engines.recognizer,
                        synthesizer=engines.synthesizer,
                        phrases=engines.phrases,
                    ),
                    responder=GloveResponder(agent, clock),
                    tell=tell,
                    settings=CascadeSettings(turns=turns, expects=options.expects),
                    probe=recorder.probe,
                ).run()
        finally:
            trace.caller, trace.agent = caller.line(), output.track()
            async with held(clock, "model"):
                await close_model(model)
        return TurnReport(
            conversation=conversation,
            pipeline=settings.pipeline,
            agent=settings.agent,
            stt=settings.stt,
            tts=settings.tts,
            model=model.name,
            turns=recorder.turns(),
            utterances=recorder.utterances(),
            events=recorder.events(),
        )

    if options.realtime:
        return asyncio.run(call(RealClock()))
    clock = VirtualClock(measured)
    return clock.run(call(clock))


def _turn_settings(settings: Settings) -> TurnSettings:
    return TurnSettings(
        endpointing=Endpointing(
            floor=settings.endpointing_floor_ms / 1000, ceiling=settings.endpointing_ceiling_ms / 1000
        ),
        drafts=settings.drafts,
    )


async def _render(synthesizer: Synthesizer, texts: Iterable[str]) -> dict[str, Samples]:
    clock = RealClock()
    rendered = {}
    for text in texts:
        parts = [audio.samples async for audio in synthesizer.synthesize(text, clock)]
        rendered[text] = np.concatenate(parts)
    return rendered
