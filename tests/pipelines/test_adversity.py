"""Calls on lines, engines, agents and hosts that do not keep their promises: the call goes on, and ends when it must."""

from __future__ import annotations

from typing import Any

from pipelines.events import UtteranceEnded
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
