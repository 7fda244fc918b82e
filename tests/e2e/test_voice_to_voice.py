"""The wait for an answer, on the wall clock of this machine."""

from __future__ import annotations

import pytest

from tests.bench.latency import AGREEMENT, LONGEST_MS, QUESTIONS, apart, measure, voice_to_voice
from voice_server.house import House

SLACK = 1.5
"""A machine that runs tests does other things too; `make bench` holds the aims themselves."""


@pytest.mark.realtime
def test_short_answers_come_within_the_second_and_charged_time_says_how_soon(house: House) -> None:
    questions = QUESTIONS[1:4]
    charged = measure(house, questions, realtime=False)
    wall = measure(house, questions, realtime=True)
    assert len(charged) == len(wall) == len(questions)
    assert voice_to_voice(wall) <= SLACK * LONGEST_MS, wall
    assert apart(charged, wall) <= SLACK * AGREEMENT, (charged, wall)
