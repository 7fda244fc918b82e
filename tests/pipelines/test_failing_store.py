"""A store that fails in the middle of a call: the caller is told once, and the call goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import iscoroutinefunction
from typing import Any, cast

import pytest

from agents.core.errors import StoreError
from agents.core.store import Store
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from pipelines.clock import VirtualClock, fixed
from pipelines.events import EngineTrouble, UtteranceEnded
from pipelines.glove import GloveResponder
from tests.agents.core.scenes import echo, talking
from tests.pipelines.line import Line

OPERATIONS = 12
"""More than the store does in two turns."""


class Failing:
    """A store of which one operation fails."""

    def __init__(self, at: int) -> None:
        self._store = MemoryStore()
        self._left = at
        self.failed = False

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        return self._counted(attribute) if iscoroutinefunction(attribute) else attribute

    def _counted(self, operation: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                self.failed = True
                raise StoreError("the disk is full")
            return await operation(*args, **kwargs)

        return counted


@pytest.mark.parametrize("at", range(1, OPERATIONS + 1))
def test_whatever_operation_fails_the_next_turn_is_answered(at: int) -> None:
    store = Failing(at)
    glove, _ = talking(tools=(echo(),), store=cast(Store, store))
    glove.model = ScriptedModel([["Let me see. ", ScriptedCall(name="echo")], "It is nine.", "Here I am.", "Bye."])
    clock = VirtualClock(fixed(model=0.1))
    line = Line(clock, responder=lambda clock, _: GloveResponder(glove, clock), drafts=0)

    async def tale(line: Line) -> None:
        for words in (("what", "time"), ("are", "you", "there"), ("good", "bye")):
            await line.says(*words)
            await line.silence(6)

    clock.run(line.call(tale))
    assert line.committed == ["what time", "are you there", "good bye"]
    assert store.failed
    assert [(event.engine, event.reason.partition("the disk")[1:]) for event in line.all(EngineTrouble)] == [
        ("model", ("the disk", " is full"))
    ]
    assert line.apologies <= 1
    replies = [event.heard for event in line.all(UtteranceEnded) if event.kind == "reply" and event.heard]
    assert len(replies) >= 2
