"""The command `turn`: recorded callers through a whole call, on charged or real time.

Above: ``cli``. Below: everything a call is made of is put together here.
"""

from __future__ import annotations

import asyncio
import os
import uuid

from agents.core.model import close_model
from agents.models.providers import create_model
from pipelines.audio.wav import read_wav
from pipelines.call import Call
from pipelines.cascade import CascadeSettings
from pipelines.clock import Clock, RealClock, VirtualClock, held, measured
from pipelines.events import CallEvent
from pipelines.glove import GloveResponder
from pipelines.trace import Trace
from voice_server.house import House, turn_settings
from voice_server.keeping import check_database, kept_conversation
from voice_server.loading import make_glove
from voice_server.options import OutputKind, TurnOptions
from voice_server.recorder import Recorder
from voice_server.report import TurnReport
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording

__all__ = ["run"]

LATE_S = 0.2
"""Seconds between something being played and being reported by the late output: a phone bridge over the internet."""


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
    agent = make_glove(settings.agent, model)
    turns = turn_settings(settings)
    house = house or House.load(settings)
    conversation = options.conversation or uuid.uuid4().hex

    async def call(clock: Clock) -> TurnReport:
        output = RecordedOutput(
            clock,
            can_pause=options.output is OutputKind.PAUSING,
            late_s=LATE_S if options.output is OutputKind.LATE else 0.0,
            rate=house.synthesizer.rate,
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
                    engines=house.engines(),
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
