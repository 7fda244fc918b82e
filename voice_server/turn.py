"""The command `turn`: recorded callers through a whole call, on charged or real time.

Above: ``cli``. Below: everything a call is made of is put together here.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agents.core.model import close_model
from agents.core.progress import ProgressKind
from agents.models.providers import create_model
from agents.stores.keeping import Keeping
from pipelines.audio.wav import read_wav
from pipelines.call import Call
from pipelines.clock import Charge, Clock, RealClock, VirtualClock, held, measured
from pipelines.events import tell_all
from pipelines.trace import Trace
from pipelines.turns.settings import TurnTaking
from voice_server.errors import UsageError
from voice_server.house import House
from voice_server.keeping import check_database, kept_conversation
from voice_server.loading import make_glove
from voice_server.options import OutputKind, TurnOptions
from voice_server.provider import adapter_for
from voice_server.records.notes import Notes
from voice_server.records.record import CallRecord
from voice_server.records.taps import TappedCaller, TappedOutput
from voice_server.report import Audio, TurnReport
from voice_server.settings import PipelineKind
from voice_server.speech import Manner, Speech
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording
from voice_server.watch import watching

__all__ = ["run"]

LATE_S = 0.2
"""Seconds between something being played and being reported by the late output: a phone bridge over the internet."""


def run(
    options: TurnOptions,
    trace: Trace,
    house: House | None = None,
    *,
    realtime: Clock | None = None,
    charge: Charge = measured,
) -> TurnReport:
    """Hold the call.

    Args:
        options: what was asked.
        trace: is filled as things happen; what is in it stays when the call breaks.
        house: engines that are loaded already and fit the settings; ``None`` loads them.
        realtime: what tells the time where it is not charged; the wall clock by default.
        charge: what work costs where it is; what it took by default.

    Raises:
        WavError: a recording cannot be used.
        EngineError: an engine cannot be had.
        ConfigurationError: the model cannot be had, or the database's URL is none.
        StoreError: the database cannot be used.
        RealtimeError: the speech-to-speech model cannot be had, or cannot any more.
        UsageError: the agent cannot be had, or the record cannot be written.
    """
    settings = options.settings
    check_database(settings.database)
    recordings = [Recording(frame=read_wav(recorded.path), after_s=recorded.after_s) for recorded in options.recordings]
    model = create_model(settings.model, os.environ)
    conversation = options.conversation or uuid.uuid4().hex
    # Mistakes are told before anything loads.
    trial = make_glove(settings.agent, model, Keeping.in_memory(conversation)).build()
    if house is None:
        adapter = adapter_for(settings, trial.model)
        house = replace(House.load(settings), adapter=adapter)
    house = house.with_adapter(settings, trial.model)

    async def call(clock: Clock) -> TurnReport:
        speech = Speech(house, settings, Manner(expects=options.expects))
        heading = speech.heading(conversation, model.name, datetime.now(UTC))
        late_s = LATE_S if options.output is OutputKind.LATE else 0.0
        output = RecordedOutput(
            clock, can_pause=options.output is OutputKind.PAUSING, late_s=late_s, rate=house.synthesizer.rate
        )
        caller = RecordedCaller(clock, recordings)
        notes = Notes(clock, heading, trace, lambda: output.last_played_at)
        record = None if options.out is None else CallRecord(clock, options.out, heading)
        records = [] if record is None else [record]
        judges = [notes.judge, *(each.judge for each in records)]
        watchers = [notes.take, *(each.take for each in records)]

        def judge(ends_at: float, probability: float) -> None:
            for each in judges:
                each(ends_at, probability)

        def take(kind: ProgressKind, read: Any) -> None:
            for each in watchers:
                each(kind, read)

        try:
            async with kept_conversation(settings.database, conversation, clock) as keeping:
                agent = make_glove(settings.agent, model, keeping)
                await agent.recall()
                line = Call(
                    clock=clock,
                    caller=caller if record is None else TappedCaller(caller, record),
                    output=output if record is None else TappedOutput(output, record, late_s),
                    pipeline=speech.begin(agent, clock, judge),
                    tell=tell_all(notes.tell, caller.notice, *(each.tell for each in records)),
                )
                by_hand = settings.turn_taking is TurnTaking.MANUAL
                caller.attend(began=line.unmute, ended=line.mute if by_hand else None)
                async with watching(agent.progress, take):
                    await line.run()
        finally:
            trace.caller, trace.agent = caller.line(), output.track()
            report = notes.report(Audio(seconds=round(len(trace.agent) / output.rate, 3)))
            if record is not None:
                report = await record.aclose()
            async with held(clock, "model"):
                await close_model(model)
        if record is not None and record.failure is not None:
            raise UsageError(f"--out {str(options.out)!r}: the record cannot be written ({record.failure})")
        return report

    if options.realtime or settings.pipeline is PipelineKind.REALTIME:
        return asyncio.run(call(realtime or RealClock()))
    charged = VirtualClock(charge)
    return charged.run(call(charged))
