"""Drafts in a call with real ears and a real voice, and a model over its real wire that takes its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.model import Model
from agents.core.tools import Tool, ToolContext
from pipelines.trace import Trace
from tests.agents.models.completions_server import CompletionsServer, call, text
from tests.agents.models.wire_server import Answer, listening_aside
from tests.agents.models.wires import WIRES
from tests.fixtures.catalogue import fixture
from voice_server.house import House
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import TurnReport
from voice_server.settings import Settings
from voice_server.turn import run

pytestmark = [pytest.mark.engine, pytest.mark.e2e, pytest.mark.wire]

THINKS_S = 0.4
"""How long the model takes to its first word."""

noted: list[str] = []
"""What the tool of the next call noted."""


class Note(BaseModel):
    """What to write down."""

    words: str


class Thinking(CompletionsServer):
    """Answers after a while: by a tool call while the number it is told is too short, then in words."""

    async def _stream(self, writer: asyncio.StreamWriter, answer: Answer, body: dict[str, Any]) -> None:
        await asyncio.sleep(THINKS_S)
        said = WIRES["openai"].outline(body)[-1]
        short = sum(char.isdigit() for char in said) not in (0, 5)
        chunks = [call(0, id="a", name="note", arguments='{"words": "too early"}')] if short else [text("Very well.")]
        await super()._stream(writer, Answer(chunks=chunks, finish="tool_calls" if short else "stop"), body)


def noter(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Write down what the model wants."""

    def note(given: Note, ctx: ToolContext) -> str:
        noted.append(given.words)
        return "noted"

    return Glove(model=model).fold(Tool(name="note", description="Writes something down.", input=Note, do=note))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Thinking]:
    noted.clear()
    with listening_aside(Thinking(answers=[Answer()] * 9)) as thinking:
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{thinking.url}/v1")
        monkeypatch.setenv("OLLAMA_API_KEY", "sk-secret")
        yield thinking


def hold(house: House, says: str, *, drafts: int) -> TurnReport:
    options = TurnOptions(
        recordings=(RecordedTurn(path=fixture(says).path),),
        settings=Settings(agent="tests.e2e.test_drafts:noter", model="ollama:m", drafts=drafts),
    )
    return run(options, Trace(), house)


def test_the_model_s_time_hides_in_the_wait_for_more_words(house: House, service: Thinking) -> None:
    """Words that may go on ("by phone, please") are waited for longer than the model takes."""
    (without,) = hold(house, "by-phone", drafts=0).turns
    (drafted,) = hold(house, "by-phone", drafts=2).turns
    assert drafted.heard == without.heard == "Very well."
    assert without.latency_ms.model is not None and drafted.latency_ms.model is not None
    assert without.latency_ms.model >= THINKS_S * 1000
    assert drafted.latency_ms.model <= 100
    assert drafted.latency_ms.voice_to_voice is not None and without.latency_ms.voice_to_voice is not None
    assert drafted.latency_ms.voice_to_voice <= without.latency_ms.voice_to_voice - 250
    assert len(service.bodies) == 2, "a draft that is taken up is all that is asked"


def test_a_tool_called_by_a_draft_that_is_discarded_never_runs(house: House, service: Thinking) -> None:
    report = hold(house, "number-in-groups", drafts=2)
    (turn,) = report.turns
    assert (turn.agent, turn.tools) == ("Very well.", ())
    assert noted == []
    *drafts, asked = [WIRES["openai"].outline(body)[-1] for body in service.bodies]
    assert len(drafts) > 0 and asked == f"user: {turn.caller}"
    assert all(asked.startswith(words) and asked != words for words in drafts)
