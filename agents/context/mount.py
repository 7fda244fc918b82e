"""Notes on an agent: four tools, and what is pinned with every model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from agents.context.notes import Content, ContextAdapter, ContextEntry, ContextError, Link, NewEntry, Section, Title
from agents.context.writer import ContextWriter
from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.selection import ToolSelection
from agents.core.tools import Tool, ToolContext

__all__ = ["use_context"]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Get(_Input):
    """Which notes to read."""

    section: Section | None = None


class Patch(_Input):
    """What is to change of a note; what is left out stays."""

    section: Section | None = None
    title: Title | None = None
    content: Content | None = None
    pinned: bool | None = None
    expiresAt: AwareDatetime | None = None
    links: list[Link] | None = Field(default=None, max_length=20)


class Update(_Input):
    """A note to change."""

    id: str = Field(max_length=100)
    patch: Patch


class Unset(_Input):
    """What to take away: exactly one of the two."""

    id: str | None = Field(default=None, max_length=100)
    section: Section | None = None


def use_context(
    glove: Glove,
    adapter: ContextAdapter,
    *,
    tools: ToolSelection | None = None,
    now: Callable[[], datetime] | None = None,
) -> ContextWriter:
    """Let an agent keep notes about the person it talks to, and see them.

    Args:
        glove: the agent.
        adapter: where they are; its namespace comes from an identity that is trusted.
        tools: which of the four; ``allow=("get",)`` only reads.
        now: dates notes.

    Raises:
        ToolSelectionError: the selection names a tool there is not; nothing was mounted.
    """
    writer = ContextWriter(adapter) if now is None else ContextWriter(adapter, now=now)
    glove.fold(*_tools(writer), selection=tools)

    async def render(_signal: AbortSignal | None) -> str:
        return await writer.render()

    glove.add_context_provider(render)
    glove.mounts.add(writer)
    return writer


def _tools(writer: ContextWriter) -> tuple[Tool, ...]:
    async def get(given: Get, ctx: ToolContext) -> Any:
        return {"entries": [_shown(entry) for entry in await writer.entries(given.section)]}

    async def set_(given: NewEntry, ctx: ToolContext) -> Any:
        return await _told(writer.add(given))

    async def update(given: Update, ctx: ToolContext) -> Any:
        return await _told(writer.update(given.id, given.patch.model_dump(exclude_unset=True)))

    async def unset(given: Unset, ctx: ToolContext) -> Any:
        if given.id is not None and given.section is None:
            return await _told(writer.remove(given.id))
        if given.section is not None and given.id is None:
            return await _told(writer.replace_section(given.section))
        return ToolResultData(status="error", message="give an id or a section, exactly one of the two", data={})

    return (
        Tool(name="glove_context_get", description="Read the notes about the user.", input=Get, do=get),
        Tool(
            name="glove_context_set",
            description="Make a note about the user that is to hold from now on, when they ask for it.",
            input=NewEntry,
            do=set_,
        ),
        Tool(name="glove_context_update", description="Change a note about the user.", input=Update, do=update),
        Tool(
            name="glove_context_unset",
            description="Forget a note about the user, or all of a section.",
            input=Unset,
            do=unset,
        ),
    )


async def _told(work: Awaitable[object]) -> Any:
    try:
        outcome = await work
    except ContextError as exc:
        return ToolResultData(status="error", message=str(exc), data={"code": exc.code})
    except ValidationError as exc:
        problems = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
        return ToolResultData(status="error", message=problems, data={"code": "validation_failed"})
    return {"entry": _shown(outcome)} if isinstance(outcome, ContextEntry) else {"done": True}


def _shown(entry: ContextEntry) -> dict[str, Any]:
    """A note without its provenance, which is for the record."""
    return entry.model_dump(mode="json", by_alias=True, exclude={"source", "actor", "created_at"}, exclude_none=True)
