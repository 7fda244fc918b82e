"""An agent that sums up its conversation in the middle of a call: it says nothing of it, and the wait is told."""

from __future__ import annotations

from typing import Any

import pytest

from agents.core.compaction import Compaction
from agents.core.errors import ModelError
from agents.core.messages import Usage
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from pipelines.clock import VirtualClock
from pipelines.events import CompactionBegan, CompactionEnded, ToolReturned, UtteranceEnded, UtteranceStarted
from pipelines.glove import GloveResponder
from tests.agents.core.scenes import echo, talking
from tests.pipelines.line import Line

MODEL_S = 0.4
"""What an item of a model's stream costs: a summary of four pieces takes 1.6 s, and its end one more."""

SUMMARY = ["The caller ", "wants ", "secret ", "things."]


def call(*responses: ScriptedResponse, each: int = 50, words: tuple[str, ...], then_s: float = 8.0) -> Line:
    """Say words, one turn each, to an agent whose every response uses so many of the 100 tokens there are."""
    clock = VirtualClock(lambda holder, _: MODEL_S if holder == "model" else 0.0)

    def responder(clock: Any, _: Any) -> GloveResponder:
        compaction = Compaction(instructions="Write down what was agreed.", context_limit=100)
        glove, _model = talking(compaction=compaction, tools=(echo(),))
        glove.model = ScriptedModel(responses, usage=Usage(tokens_in=each * 4 // 5, tokens_out=each // 5))
        return GloveResponder(glove, clock)

    async def tale(line: Line) -> None:
        for word in words:
            await line.says("say", word)
            await line.silence(then_s)

    line = Line(clock, responder=responder, drafts=0)
    clock.run(line.call(tale))
    return line


def said(line: Line) -> str:
    return " ".join(event.text for event in line.all(UtteranceEnded))


def test_nothing_of_a_summary_is_spoken_and_the_wait_for_it_is_told() -> None:
    line = call("One.", "Two.", SUMMARY, "Three.", words=("one", "two", "three"))
    assert said(line) == "One. Two. Three."
    assert not set(line.voice.words) & set("".join(SUMMARY).split())
    ((began_at, began), (ended_at, ended)) = [
        (at, event) for at, event in line.events if isinstance(event, CompactionBegan | CompactionEnded)
    ]
    assert (began, ended) == (CompactionBegan(turn=2), CompactionEnded(turn=2))
    assert ended_at - began_at == pytest.approx(5 * MODEL_S)
    assert line.times(UtteranceStarted)[2] > ended_at


def test_a_summary_between_a_tool_and_the_answer_is_not_spoken_either() -> None:
    looks: ScriptedResponse = ["Let me see. ", ScriptedCall(name="echo", input={"word": "x"})]
    line = call("One.", looks, SUMMARY, "Two.", words=("one", "two"))
    assert said(line) == "One. Let me see. Two."
    assert line.all(CompactionBegan) == [CompactionBegan(turn=1)]
    assert line.all(CompactionEnded) == [CompactionEnded(turn=1)]
    assert len(line.all(ToolReturned)) == 1


def test_a_summary_that_fails_is_over_too_and_the_turn_is_answered() -> None:
    line = call("One.", "Two.", [ModelError("scripted", "down")], "Three.", words=("one", "two", "three"))
    assert said(line) == "One. Two. Three."
    assert len(line.all(CompactionBegan)) == len(line.all(CompactionEnded)) == 1


def test_a_call_that_ends_in_the_middle_of_a_summary_tells_its_end() -> None:
    line = call("One.", "Two.", SUMMARY, words=("one", "two", "three"), then_s=2.5)
    assert said(line).split() == ["One.", "Two."]
    assert len(line.all(CompactionBegan)) == len(line.all(CompactionEnded)) == 1
