"""A call that goes on with a conversation hears its first utterance as the answer it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.reading.digits import read_digits
from pipelines.trace import Trace
from tests.e2e.agents import DIGITS, YES_NO
from tests.e2e.stage import Stage
from tests.fixtures.catalogue import fixture
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import CallerTurn
from voice_server.settings import Settings
from voice_server.turn import run

pytestmark = [pytest.mark.engine, pytest.mark.e2e]


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/calls.db"


def call(stage: Stage, database: str, conversation: str, agent: str, says: str) -> CallerTurn:
    options = TurnOptions(
        recordings=(RecordedTurn(path=fixture(says).path),),
        settings=Settings(agent=f"tests.e2e.agents:{agent}", model="offline", database=database),
        conversation=conversation,
    )
    (turn,) = run(options, Trace(), stage.house).turns
    return turn


def test_a_yes_answers_at_once_what_an_earlier_call_ended_on(stage: Stage, database: str) -> None:
    assert call(stage, database, "ann", "quizmaster", "what-can-you-do").agent.strip() == YES_NO
    answered = call(stage, database, "ann", "quizmaster", "yes").latency_ms
    nothing_asked = call(stage, database, "bob", "quizmaster", "yes").latency_ms
    assert answered.endpoint is not None and answered.stt is not None and nothing_asked.endpoint is not None
    assert answered.endpoint <= max(300, answered.stt) + 50
    assert nothing_asked.endpoint >= 500


def test_a_number_with_pauses_is_one_answer_to_what_an_earlier_call_ended_on(stage: Stage, database: str) -> None:
    assert call(stage, database, "ann", "counter", "what-can-you-do").agent.strip() == DIGITS
    assert read_digits(call(stage, database, "ann", "counter", "number-in-groups").caller) == "14297"
