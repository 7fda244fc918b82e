"""A call that goes on with a conversation hears its first utterance as the answer it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.reading.digits import read_digits
from pipelines.trace import Trace
from tests.e2e.agents import DIGITS
from tests.e2e.stage import Stage
from tests.fixtures.catalogue import fixture
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import TurnReport
from voice_server.settings import Settings
from voice_server.turn import run

pytestmark = [pytest.mark.engine, pytest.mark.e2e]


def call(stage: Stage, database: str, conversation: str, says: str) -> TurnReport:
    options = TurnOptions(
        recordings=(RecordedTurn(path=fixture(says).path),),
        settings=Settings(agent="tests.e2e.agents:counter", model="offline", database=database),
        conversation=conversation,
    )
    return run(options, Trace(), stage.house)


def test_a_number_with_pauses_answers_what_another_process_asked_for(stage: Stage, tmp_path: Path) -> None:
    assert max(end - start for start, end in fixture("number-in-groups").pauses) >= 1.19
    database = f"sqlite:///{tmp_path}/calls.db"
    asked = call(stage, database, "ann", "what-can-you-do")
    assert asked.turns[0].agent.strip() == DIGITS
    (answered,) = call(stage, database, "ann", "number-in-groups").turns
    assert read_digits(answered.caller) == "14297"
    stranger = call(stage, database, "bob", "number-in-groups").turns
    assert len(stranger) > 1, "nobody asked them for a number, so every pause is an end"
