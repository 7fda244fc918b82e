"""Goals on an agent: the tools, the snapshot with every model call, and what is to be done before a request."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.core.selection import ToolSelection
from agents.facts.preparation.render import render_preparation
from agents.goals.adapter import GoalAdapter
from agents.goals.hooks import GoalHooks
from agents.goals.preparation import GoalPreparation
from agents.goals.record import GoalScope
from agents.goals.runner import Follow, GoalRunner, Validate
from agents.goals.snapshot import render_goals, render_running
from agents.goals.status import ProgramStatus
from agents.goals.tools import goal_tools, status_data

__all__ = ["Configure", "MountedGoals", "use_goal_runner"]

Configure: TypeAlias = Callable[[Glove, ProgramStatus | None], Awaitable[None] | None]
"""Brings an agent's tools, model or prompt in line with its goals. Called often, so that it must be idempotent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedGoals:
    """An agent with goals."""

    glove: Glove
    runner: GoalRunner

    async def refresh(self) -> None:
        """Configure the agent for how the goals stand now."""
        await self.runner.refresh()


def use_goal_runner(
    glove: Glove,
    adapter: GoalAdapter,
    *,
    scope: GoalScope | Callable[[], GoalScope],
    hooks: GoalHooks | None = None,
    configure: Configure | None = None,
    inject_status: bool = True,
    tools: ToolSelection | None = None,
    preparation: GoalPreparation | None = None,
    actor: str = "agent",
    source: str | None = None,
    validate_change: Validate | None = None,
    on_change: Follow | None = None,
    now: Callable[[], datetime] | None = None,
) -> MountedGoals:
    """Give an agent goals.

    Args:
        glove: the agent.
        adapter: where they are kept.
        scope: whose they are; a function is asked anew each time.
        hooks: called when a goal is entered, completed or reopened.
        configure: called after every change that was saved and before its hooks, before every request, and by
            :meth:`MountedGoals.refresh`.
        inject_status: whether the model is shown the snapshot with every call.
        tools: which of the five tools the model has; without ``start`` and ``revise`` the program is the host's alone.
        preparation: what facts may settle, before every request and every change.
        actor: who changes goals, for the record.
        source: where changes come from, for the record.
        validate_change: called before a change is saved; refuses it by raising.
        on_change: called after it was saved.
        now: dates changes.

    Raises:
        ToolSelectionError: the selection names a tool there is not; nothing was mounted.
        DefinitionError: a tool of such a name is there already, or the agent is to prepare its own goals.
    """
    if preparation is not None:
        preparation.preparer.serve(glove)

    async def follow(status: ProgramStatus) -> None:
        changed()
        if on_change is not None and inspect.isawaitable(outcome := on_change(status)):
            await outcome

    async def read() -> dict[str, Any] | None:
        status = await runner.status()
        return None if status is None else status_data(status)

    changed = glove.progress.register("goals", read)
    dated: dict[str, Any] = {} if now is None else {"now": now}
    runner = GoalRunner(
        adapter,
        scope,
        hooks=hooks,
        actor=actor,
        source=source,
        validate_change=validate_change,
        on_change=follow,
        configure=None if configure is None else lambda status: configure(glove, status),
        preparation=preparation,
        glove=glove,
        **dated,
    )
    glove.fold(*goal_tools(runner), selection=tools)

    async def prepare(signal: AbortSignal) -> None:
        await runner.prepare(signal)
        # Those that another worker runs, or ran when it died, are not waited for: the model is told.
        await runner.resume_hooks()
        await runner.refresh()

    async def render(_signal: AbortSignal | None) -> str:
        goals = render_goals(await runner.status())
        running = render_running(await runner.running_elsewhere())
        return "\n".join(part for part in (goals, running, render_preparation(runner.prepared)) if part)

    glove.mounts.add(runner)
    glove.add_preparation(prepare)
    if inject_status:
        glove.add_context_provider(render)
    return MountedGoals(glove=glove, runner=runner)
