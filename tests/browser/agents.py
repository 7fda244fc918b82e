"""Agents for callers who have a screen; each is named to the server as ``tests.browser.agents:NAME``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.model import Model
from agents.core.tools import Tool, ToolContext

__all__ = ["desk_with_a_screen"]


class _Nothing(BaseModel):
    """No input."""


class _Message(BaseModel):
    """What is left."""

    urgent: bool = False


async def _have_a_day_chosen(_: _Nothing, ctx: ToolContext) -> dict[str, str]:
    if ctx.display is None:
        return {"say": "I cannot show you the days."}
    card = {"title": "Which day?", "options": ["Monday", "Tuesday"], "openFrom": "09:00"}
    day = await ctx.display.push_and_wait("choose_day", card, answer=str)
    return {"say": f"{day} it is."}


def desk_with_a_screen(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Ask on the screen: whether a message may be kept, and for which day."""
    glove = Glove(model=model, system_prompt="You are a front desk with a screen.")
    return glove.fold(
        Tool(
            name="leave_message",
            description="Keep a message.",
            input=_Message,
            do=lambda _, ctx: {"say": "The message is kept."},
            requires_permission=True,
            examples=("I would like to leave a message.",),
        ),
        Tool(
            name="choose_day",
            description="Have a day chosen.",
            input=_Nothing,
            do=_have_a_day_chosen,
            examples=("What day is it today?",),
        ),
    )
