"""Outputs, engines, agents and hosts that do not keep their promises: the call goes on, and ends when it must."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import VirtualClock
from pipelines.events import CallEvent, TurnCommitted, UtteranceEnded, UtteranceStarted
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import Answer
from voice_server.transports.recorded import RecordedOutput


class MuteOutput(RecordedOutput):
    """Plays, and never says so."""

    def attach(self, report: Any) -> None:
        pass


async def one_turn(line: Line) -> None:
    await line.says("tell", "me")
    await line.silence(30)


async def two_turns(line: Line) -> None:
    await one_turn(line)
    await one_turn(line)


# -------------------------------------------------------------------------------------------------------- the output


def test_a_long_reply_is_said_whole_on_an_output_that_never_reports() -> None:
    line = hold(one_turn, output=MuteOutput, answers=(Answer(words=60),))
    (ended,) = line.all(UtteranceEnded)
    assert ended.estimated
    assert ended.heard == ended.text
    assert len(set(line.output.track())) == 60 + 1


# ----------------------------------------------------------------------------------------------------------- the end


class WatchfulOutput(RecordedOutput):
    """Takes offence at whatever comes after the call."""

    closed = False
    late = 0

    def play(self, epoch: int, samples: Samples) -> None:
        self.late += self.closed
        super().play(epoch, samples)

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()


def test_nothing_is_answered_or_played_once_the_caller_has_hung_up_in_the_middle_of_everything() -> None:
    async def tale(line: Line) -> None:
        line.cascade.narrate("this is a long text that is heard to its very end, or so the host had thought.")
        await line.silence(0.5)
        await line.says("tell", "me", "that")
        await line.silence(2.0)

    line = hold(tale, output=WatchfulOutput)
    (narration,) = line.all(UtteranceEnded)
    assert narration.interrupted
    assert line.committed == []
    assert isinstance(line.output, WatchfulOutput)
    assert line.output.late == 0


def test_a_call_that_is_over_leaves_no_task_and_no_timer_and_takes_nothing_more() -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(1.5)
        await line.says("and", "more")

    async def over(line: Line) -> None:
        await line.call(tale)
        told = len(line.events)
        line.cascade.hear(Frame(np.full(320, 1000, np.int16), 16_000))
        line.cascade.narrate("too late.")
        line.cascade.interrupt()
        line.cascade.commit_turn()
        await line.cascade.aclose()
        await line.clock.sleep(60)
        assert len(line.events) == told
        assert len(asyncio.all_tasks()) == 1

    clock = VirtualClock()
    line = Line(clock, output=WatchfulOutput, answers=(Answer(words=40),))
    clock.run(over(line))
    assert isinstance(line.output, WatchfulOutput)
    assert line.output.late == 0


# ---------------------------------------------------------------------------------------------------------- the host


def test_what_a_host_says_on_hearing_of_a_turn_is_said_after_the_reply_to_it() -> None:
    def narrate(line: Line, event: CallEvent) -> None:
        if isinstance(event, TurnCommitted):
            line.cascade.narrate("and by the way.")

    line = hold(one_turn, host=narrate)
    assert [event.kind for event in line.all(UtteranceStarted)] == ["reply", "narration"]
