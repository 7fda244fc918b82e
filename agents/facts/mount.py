"""Facts on an agent: the tool with which it records what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.facts.errors import FactCaptureError, FactError
from agents.facts.record import Fact, FactInput, FactSource, Text
from agents.facts.store import FactStore

__all__ = ["FactOrigin", "Origin", "use_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactOrigin:
    """Where the facts of a tool call come from."""

    source: FactSource
    operation_id: str
    """The same when the call is tried again."""


Origin: TypeAlias = Callable[[ToolContext], FactOrigin]


class Recording(BaseModel):
    """A fact; where it comes from and how far it can be relied on is not the model's to say."""

    model_config = ConfigDict(extra="forbid")

    fact: Text = Field(description="one thing that is known, in a sentence that can be understood by itself")
    urgent: bool = Field(default=False, description="whether somebody has to know at once")


def _from_call(ctx: ToolContext) -> FactOrigin:
    key = ctx.idempotency_key
    return FactOrigin(source=FactSource(kind="message", id=key[:512]), operation_id=key)


def use_facts(glove: Glove, facts: FactStore, *, origin: Origin = _from_call) -> FactStore:
    """Let an agent record what it is told.

    Args:
        glove: the agent.
        facts: where.
        origin: says where a call's facts come from; the conversation and the call, by default.

    Returns:
        The facts.
    """

    async def do(given: Recording, ctx: ToolContext) -> Any:
        where = origin(ctx)
        # Several facts of one message are different acts; the same one tried again is the same act.
        operation = json.dumps([where.operation_id, given.fact])
        try:
            fact = await facts.record(
                FactInput(text=given.fact, urgent=given.urgent, source=where.source), operation_id=operation
            )
        except FactCaptureError as exc:
            data = {"recorded": True, "fact": _shown(exc.fact)}
            return ToolResultData(status="error", message=str(exc), data=data)
        except FactError as exc:
            return ToolResultData(status="error", message=str(exc), data={"recorded": False})
        return {"recorded": True, "fact": _shown(fact)}

    glove.fold(
        Tool(
            name="record_fact",
            description=(
                "Record something you were told that may matter later, as soon as you hear it. It completes nothing "
                "and fills nothing in by itself."
            ),
            input=Recording,
            do=do,
        )
    )
    return facts


def _shown(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "revision": fact.revision,
        "text": fact.text,
        "verification": fact.verification.value,
        "urgent": fact.urgent,
    }
