"""Hooks: what an application does when a goal is entered, completed or reopened. Each edge runs until it was completed.

At least once, in the order saved, by one worker at a time: what a hook does to the world takes its idempotency key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from agents.goals.adapter import Claim, GoalAdapter
from agents.goals.definition import Goal
from agents.goals.errors import GoalHookError
from agents.goals.record import GoalScope, Transition, TransitionKind
from agents.goals.status import ProgramStatus

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["Drained", "GoalHooks", "HookContext", "HookDrain"]

LEASE_S = 60.0
"""Seconds a hook may take before another worker may think that the one that runs it has died."""

ERROR_LIMIT = 500
"""Characters kept of what a hook raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext:
    """What a hook is given."""

    status: ProgramStatus
    """As it was after the change."""
    goal: Goal
    """As it was defined then."""
    transition: Transition
    glove: Glove | None
    """The agent the goals are mounted on."""

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt: give it to whoever must not do a thing twice."""
        return self.transition.id


Hook: TypeAlias = Callable[[HookContext], Awaitable[None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalHooks:
    """Called after a change is saved, and after a crash, with what was left over."""

    on_enter: Hook | None = None
    on_complete: Hook | None = None
    on_reopen: Hook | None = None

    def of(self, kind: TransitionKind) -> Hook | None:
        """The hook for a kind of edge."""
        return {
            TransitionKind.ENTER: self.on_enter,
            TransitionKind.COMPLETE: self.on_complete,
            TransitionKind.REOPEN: self.on_reopen,
        }[kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What running hooks came to."""

    ran: int
    blocked_by: Transition | None = None
    """Another worker runs its hook just now; later ones wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDrain:
    """Runs the hooks that are due, one after the other.

    A hook may change the goals itself; the edges of that follow in their turn.
    """

    adapter: GoalAdapter
    hooks: GoalHooks
    """What is leased is a hook: an edge without one blocks nobody, whoever dies in the middle."""
    owner: str
    """This worker's name, unlike any other's."""
    now: Callable[[], datetime]
    lease_s: float = LEASE_S

    async def run(self, scope: GoalScope, call: Callable[[Transition], Awaitable[None]]) -> Drained:
        """Run what is due.

        Args:
            scope: whose.
            call: runs the hook of a transition, if there is one.

        Raises:
            GoalHookError: one failed; those behind it did not run.
        """
        ran = 0
        while unfinished := await self.adapter.dispatches(scope, unfinished=True):
            for dispatch in unfinished:
                transition = dispatch.transition
                lease_s = self.lease_s if self.hooks.of(transition.kind) is not None else 0.0
                claim = await self.adapter.claim(
                    scope, transition.id, owner=self.owner, lease_s=lease_s, now=self.now()
                )
                if claim is Claim.BUSY:
                    return Drained(ran=ran, blocked_by=transition)
                if claim is Claim.CLAIMED:
                    await self._run(scope, transition, call)
                    ran += 1
        return Drained(ran=ran)

    async def _run(
        self, scope: GoalScope, transition: Transition, call: Callable[[Transition], Awaitable[None]]
    ) -> None:
        try:
            await call(transition)
        except Exception as exc:
            error = f"{type(exc).__name__}: {exc}"[:ERROR_LIMIT]
            await self.adapter.settle(scope, transition.id, owner=self.owner, error=error)
            raise GoalHookError(transition.id, exc) from exc
        await self.adapter.settle(scope, transition.id, owner=self.owner)
