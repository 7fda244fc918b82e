"""Drafts on the voice path: the model's time hides in the wait for more words."""

from __future__ import annotations

import pytest

from agents.models.scripted import ScriptedModel
from pipelines.clock import VirtualClock
from pipelines.events import ReplyWorded, TurnCommitted
from pipelines.glove import GloveResponder
from tests.agents.core.scenes import talking
from tests.pipelines.line import Line

MODEL_S = 0.15
"""What an item of the model's stream costs; a reply here is text and an end."""


def hold(*phrases: tuple[str, ...], drafts: int, pause_s: float = 4.0) -> tuple[Line, ScriptedModel]:
    glove, model = talking(*["I see. Very well."] * 9)
    clock = VirtualClock(lambda holder, _: MODEL_S if holder == "model" else 0.0)
    line = Line(clock, responder=lambda clock, _: GloveResponder(glove, clock), drafts=drafts)

    async def tale(line: Line) -> None:
        for phrase in phrases:
            await line.says(*phrase)
            await line.silence(pause_s)
        await line.silence(4)

    clock.run(line.call(tale))
    return line, model


def model_s(line: Line) -> list[float]:
    worded = {event.turn: at for at, event in line.events if isinstance(event, ReplyWorded)}
    return [worded[event.turn] - at for at, event in line.events if isinstance(event, TurnCommitted)]


def test_the_model_has_answered_when_the_turn_is_committed() -> None:
    line, model = hold(("tell", "me"), ("and", "more"), drafts=2)
    plain, _ = hold(("tell", "me"), ("and", "more"), drafts=0)
    assert model_s(plain) == [pytest.approx(MODEL_S), pytest.approx(MODEL_S)]
    assert model_s(line) == [pytest.approx(0.0, abs=0.01), pytest.approx(0.0, abs=0.01)]
    assert line.committed == plain.committed
    assert len(model.requests) == 2


def test_a_draft_on_words_that_were_not_all_is_dropped_and_only_the_whole_turn_is_answered() -> None:
    line, model = hold(("tell", "me", "and"), ("this", "too"), drafts=2, pause_s=0.7)
    assert line.committed == ["tell me and this too"]
    assert len(model.requests) == 2
    assert [message.text for message in model.requests[-1].messages] == ["tell me and this too"]
