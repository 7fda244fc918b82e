"""Narrations: `turn` has no way to narrate, so the call is put together here the way the command does it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from agents.models.scripted import ScriptedModel
from pipelines.audio.wav import read_wav
from pipelines.cascade import Cascade, Engines
from pipelines.clock import VirtualClock, measured
from pipelines.events import tell_all
from pipelines.glove import GloveResponder
from pipelines.trace import Trace
from tests.e2e.agents import echo
from tests.e2e.stage import ALL_OUTPUTS, Call, Stage, heard_by, places
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised
from voice_server.options import OutputKind
from voice_server.records.journal import Heading
from voice_server.records.notes import Notes
from voice_server.report import TurnReport
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording
from voice_server.turn import LATE_S

NOTICE = "This call is recorded so that we can help you better. Please hold the line for one more moment."


def narrated(stage: Stage, output: OutputKind, *says: tuple[str, float | None]) -> Call:
    """Hold a call that begins with the notice."""
    house, clock, trace = stage.house, VirtualClock(measured), Trace()
    fixtures = [fixture(name) for name, _ in says]
    recordings = [
        Recording(frame=read_wav(each.path), after_s=after_s) for each, (_, after_s) in zip(fixtures, says, strict=True)
    ]

    async def hold() -> TurnReport:
        sink = RecordedOutput(
            clock,
            can_pause=output is OutputKind.PAUSING,
            late_s=LATE_S if output is OutputKind.LATE else 0.0,
            rate=house.synthesizer.rate,
        )
        caller = RecordedCaller(clock, recordings)
        heading = Heading(
            conversation="",
            pipeline="cascade",
            agent="echo",
            stt="whisper",
            tts="hibari",
            model="words",
            began_at=datetime(2026, 3, 1, tzinfo=UTC),
        )
        notes = Notes(clock, heading, trace, lambda: sink.last_played_at)
        async with asyncio.TaskGroup() as group:
            cascade = Cascade(
                clock=clock,
                engines=Engines(
                    activity=house.vad.open(),
                    recognizer=house.recognizer,
                    synthesizer=house.synthesizer,
                    phrases=house.phrases,
                ),
                responder=GloveResponder(echo(ScriptedModel(), now=datetime.now), clock),
                output=sink,
                group=group,
                tell=tell_all(notes.tell, caller.notice),
            )
            cascade.narrate(NOTICE)
            try:
                await caller.run(cascade.hear, lambda: cascade.idle)
            finally:
                await cascade.aclose()
                await sink.aclose()
        trace.caller, trace.agent = caller.line(), sink.track()
        return notes.report()

    report = clock.run(hold())
    return Call(report=report, agent=trace.agent, spoke_at=places(trace.caller, fixtures))


@pytest.mark.parametrize(
    ("output", "words"), [*((output, "what-time-is-it") for output in ALL_OUTPUTS), (OutputKind.PAUSING, "stop")]
)
def test_words_over_a_narration_do_not_stop_it_and_are_answered_after_it(
    stage: Stage, output: OutputKind, words: str
) -> None:
    call = narrated(stage, output, (words, 1.5))
    notice, reply = call.report.utterances
    assert (notice.kind, notice.heard, notice.interrupted) == ("narration", NOTICE, False)
    assert call.spoke_at[0][1] < notice.end_s, "they speak over it"
    assert call.events("held") == []
    assert normalised(heard_by(call.between(notice.start_s, notice.end_s))) == normalised(NOTICE)
    assert [normalised(turn.caller) for turn in call.turns] == [normalised(fixture(words).words)]
    assert reply.start_s >= notice.end_s
    assert reply.heard.startswith("You said")


def test_a_cough_over_a_narration_is_nothing(stage: Stage) -> None:
    call = narrated(stage, OutputKind.CLEARING, ("cough", 1.5), ("what-time-is-it", None))
    assert [normalised(turn.caller) for turn in call.turns] == [normalised("what time is it")]
    assert (call.report.utterances[0].heard, call.events("held")) == (NOTICE, [])
