"""A model that reads facts for a preparation: a fact's value says which requirements it answers, and how."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from agents.core.glove import Glove
from agents.core.messages import ToolCall
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.selection import ToolSelection
from agents.facts.preparation.preparer import SUBMIT_TOOL, FactPreparation
from agents.facts.record import Fact, FactInput, FactSource
from agents.facts.store import FactStore


class Reader:
    """Proposes what the current facts' values say, as sufficient.

    Attributes:
        read: the data of every preparation, in order.
        meanwhile: done while it reads, once.
        wording: of its explanations.
        failing: raised instead of an answer.
    """

    name = "reader"

    def __init__(self) -> None:
        self.read: list[dict[str, Any]] = []
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.wording = "a fact says so"
        self.failing: Exception | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        last = request.messages[-1]
        if last.tool_results:
            yield TextChunk(text="Done.")
        else:
            data = json.loads(last.text.split("DATA:\n")[1])
            self.read.append(data)
            if self.failing is not None:
                raise self.failing
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                await meanwhile()
            submission = {"requestId": data["requestId"], "proposals": [*self._proposals(data)]}
            yield ToolCalled(call=ToolCall(id=f"c{len(self.read)}", tool_name=SUBMIT_TOOL, input_args=submission))
        yield ModelFinished()

    def _proposals(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        for requirement in data["requirements"]:
            saying = [fact for fact in data["facts"] if requirement["id"] in (fact["value"] or {})]
            if saying:
                found.append(
                    {
                        "requirement": requirement["id"],
                        "value": saying[-1]["value"][requirement["id"]],
                        "refs": [{"id": fact["id"], "revision": fact["revision"]} for fact in saying],
                        "derivation": "explicit" if len(saying) == 1 else "synthesized",
                        "strength": "sufficient",
                        "explanation": self.wording,
                    }
                )
        return found


def reading(facts: FactStore) -> tuple[FactPreparation, Reader]:
    """A preparer whose agent reads so."""
    reader = Reader()
    agent = Glove(model=reader, framework_tools=ToolSelection(allow=()))
    return FactPreparation(facts, agent=agent), reader


async def learn(facts: FactStore, *, supersedes: Fact | None = None, says: dict[str, Any], **more: Any) -> Fact:
    """Record a verified fact that answers requirements."""
    known = FactInput(
        text=json.dumps(says),
        value=says,
        source=FactSource(kind="document", id="letter"),
        **{"verification": "verified", **more},
    )
    operation = f"learn {len((await facts.inspect()).facts)}"
    return await facts.record(known, operation_id=operation, supersedes=None if supersedes is None else supersedes.ref)
