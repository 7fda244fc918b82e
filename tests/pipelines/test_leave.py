"""Leave asked by voice: only who has heard the question has answered it."""

from __future__ import annotations

import pytest

from agents.models.scripted import ScriptedCall
from pipelines.clock import VirtualClock, fixed
from pipelines.events import UtteranceEnded
from pipelines.glove import GloveResponder
from tests.agents.core.scenes import asking, talking
from tests.pipelines.line import Line

BOOK = ScriptedCall(name="book", input={"word": "Rome"})
QUESTION = "Shall I book Rome?"


@pytest.mark.parametrize(
    ("pause_s", "answer", "decided"), [(1.6, "no", "unset"), (6.0, "no", "denied"), (6.0, "yes", "granted")]
)
def test_a_word_into_the_beginning_of_the_question_decides_nothing(pause_s: float, answer: str, decided: str) -> None:
    glove, _ = talking(
        [BOOK], f"Well let me see what there is to do. {QUESTION}", "All right.",
        tools=(asking(permission_question=QUESTION),),
    )  # fmt: skip
    clock = VirtualClock(fixed(model=0.1))
    line = Line(clock, responder=lambda clock, _: GloveResponder(glove, clock), drafts=0)

    async def tale(line: Line) -> None:
        await line.says("book", "it")
        await line.silence(pause_s)
        await line.says(answer)
        await line.silence(6)

    clock.run(line.call(tale))
    assert line.committed == ["book it", answer]
    first, *_ = line.all(UtteranceEnded)
    assert (QUESTION in first.heard) == (decided != "unset"), "or the scene is another one"

    async def status() -> object:
        return await glove.store.get_permission("book", {"word": "Rome"})  # type: ignore[attr-defined]

    assert VirtualClock().run(status()) == decided
