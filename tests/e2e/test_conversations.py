"""A conversation outlives its call, and its process."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.trace import Trace
from tests.e2e.stage import Stage
from tests.fixtures.catalogue import fixture
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import TurnReport
from voice_server.settings import Settings
from voice_server.turn import run


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/calls.db"


def call(stage: Stage, database: str, conversation: str, *says: str) -> TurnReport:
    options = TurnOptions(
        recordings=tuple(RecordedTurn(path=fixture(name).path) for name in says),
        settings=Settings(agent="agents.desk:create", model="offline", database=database),
        conversation=conversation,
    )
    return run(options, Trace(), stage.house)


def test_a_conversation_continued_by_its_id_knows_what_was_said_before(stage: Stage, database: str) -> None:
    before = call(stage, database, "ann", "leave-a-message", "near-speech")
    assert "phone" in before.turns[-1].agent and "mail" in before.turns[-1].agent
    after = call(stage, database, "ann", "by-phone")
    assert after.conversation == before.conversation == "ann"
    assert "number" in after.turns[0].agent, "the desk goes on where the first call ended"
    (tool,) = after.turns[0].tools
    assert tool.status == "success"
    stranger = call(stage, database, "bob", "by-phone")
    assert "number" not in stranger.turns[0].agent


def test_the_same_call_without_a_database_says_the_same(stage: Stage, database: str) -> None:
    says = ("what-can-you-do", "twelve-times-seven")
    kept, forgotten = (call(stage, where, "ann", *says) for where in (database, "memory"))
    assert [turn.agent for turn in kept.turns] == [turn.agent for turn in forgotten.turns]
    assert [turn.heard for turn in kept.turns] == [turn.heard for turn in forgotten.turns]
