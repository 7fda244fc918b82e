"""Small agents that tests talk to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from typing import Any

from pydantic import BaseModel

from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.messages import Message
from agents.core.selection import ToolSelection
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedModel, ScriptedResponse


class Anything(BaseModel):
    word: str = ""


class Diary:
    """Remembers events, and the size of the store at each."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        self.events.append((type, data))

    def types(self) -> list[str]:
        return [type for type, _ in self.events]

    def of(self, type: str) -> list[dict[str, Any]]:
        return [data for kind, data in self.events if kind == type]


def talking(*responses: ScriptedResponse, tools: tuple[Tool, ...] = (), **options: Any) -> tuple[Glove, ScriptedModel]:
    model = ScriptedModel(responses)
    ids = count(1)
    options.setdefault("framework_tools", ToolSelection(allow=()))
    glove = Glove(model=model, new_id=lambda: f"m{next(ids)}", **options).fold(*tools)
    return glove, model


def echo(name: str = "echo") -> Tool:
    def do(given: Anything, ctx: ToolContext) -> str:
        return f"{name}:{given.word}"

    return Tool(name=name, description="Says it again.", input=Anything, do=do)


def asking(name: str = "book", **options: Any) -> Tool:
    """An echo that needs permission."""
    return replace(echo(name), requires_permission=options.pop("requires_permission", True), **options)


def hanging(name: str = "hang") -> tuple[Tool, asyncio.Event, list[str]]:
    """A tool that never ends by itself, an event for when it runs, and a list for how it ended."""
    started = asyncio.Event()
    ended: list[str] = []

    async def do(given: Anything, ctx: ToolContext) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        return "never"

    return Tool(name=name, description="Hangs.", input=Anything, do=do), started, ended


def outline(messages: list[Message] | tuple[Message, ...]) -> list[str]:
    """Messages in short: who said what, which calls, which results."""
    lines = []
    for message in messages:
        if message.tool_results:
            lines.append("results " + ",".join(f"{r.tool_name}={r.result.status}" for r in message.tool_results))
        elif message.framework_context:
            lines.append(f"[{message.framework_context}] {message.text}")
        else:
            calls = "".join(f" +{call.tool_name}" for call in message.tool_calls)
            lines.append(f"{message.sender}: {message.text}{calls}")
    return lines
