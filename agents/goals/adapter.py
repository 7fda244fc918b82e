"""Where goals are kept: what a store has to do, and one that forgets with the process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from agents.goals.errors import GoalConflictError, GoalError
from agents.goals.record import Entry, GoalScope, Transition

__all__ = ["Claim", "Dispatch", "DispatchState", "GoalAdapter", "MemoryGoals", "check_commit"]


class Claim(StrEnum):
    """What came of claiming a transition."""

    CLAIMED = "claimed"
    COMPLETED = "completed"
    """Its hook has run."""
    BUSY = "busy"
    """Somebody else is at it."""


class DispatchState(StrEnum):
    """How far the hook of a transition is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """The hook of one transition: at most one runs it at a time, and it is run until it was completed."""

    transition: Transition
    state: DispatchState = DispatchState.PENDING
    attempts: int = 0
    owner: str | None = None
    leased_until: datetime | None = None
    error: str | None = None


class GoalAdapter(Protocol):
    """Keeps the goals of any number of scopes. Everything given and returned is immutable."""

    async def get(self, scope: GoalScope) -> Entry | None:
        """Read the latest entry; ``None``: there is no program."""
        ...

    async def history(self, scope: GoalScope) -> list[Entry]:
        """Read all entries, in order."""
        ...

    async def commit(self, scope: GoalScope, entry: Entry, *, if_version: int | None) -> None:
        """Append an entry and the dispatches of its transitions, all or nothing.

        Args:
            scope: whose.
            entry: of the version after ``if_version``.
            if_version: the version there must be; ``None``: there must be no program.

        Raises:
            GoalConflictError: there is another.
        """
        ...

    async def dispatches(self, scope: GoalScope, *, unfinished: bool = False) -> list[Dispatch]:
        """Read the dispatches, in the order saved.

        Args:
            scope: whose.
            unfinished: only those that were not completed.
        """
        ...

    async def claim(self, scope: GoalScope, transition: str, *, owner: str, lease_s: float, now: datetime) -> Claim:
        """Take a transition to run its hook, unless somebody has it: a failed one, or one whose lease ran out.

        Raises:
            GoalError: there is no such transition.
        """
        ...

    async def settle(self, scope: GoalScope, transition: str, *, owner: str, error: str | None = None) -> bool:
        """Say that a hook was completed, or failed.

        Returns:
            Whether the owner still had it; if not, nothing was changed.
        """
        ...


class MemoryGoals:
    """Goals that end with the process."""

    def __init__(self) -> None:
        self._entries: dict[GoalScope, list[Entry]] = {}
        self._dispatches: dict[GoalScope, dict[str, Dispatch]] = {}

    async def get(self, scope: GoalScope) -> Entry | None:
        """Read the latest entry."""
        entries = self._entries.get(scope)
        return entries[-1] if entries else None

    async def history(self, scope: GoalScope) -> list[Entry]:
        """Read all entries, in order."""
        return list(self._entries.get(scope, ()))

    async def commit(self, scope: GoalScope, entry: Entry, *, if_version: int | None) -> None:
        """Append an entry and the dispatches of its transitions."""
        entries = self._entries.setdefault(scope, [])
        check_commit(entry, if_version=if_version, found=len(entries))
        entries.append(entry)
        dispatches = self._dispatches.setdefault(scope, {})
        for transition in entry.transitions:
            dispatches[transition.id] = Dispatch(transition=transition)

    async def dispatches(self, scope: GoalScope, *, unfinished: bool = False) -> list[Dispatch]:
        """Read the dispatches, in the order saved."""
        found = self._dispatches.get(scope, {}).values()
        return [one for one in found if not (unfinished and one.state is DispatchState.COMPLETED)]

    async def claim(self, scope: GoalScope, transition: str, *, owner: str, lease_s: float, now: datetime) -> Claim:
        """Take a transition to run its hook, unless somebody has it."""
        found = self._find(scope, transition)
        if found.state is DispatchState.COMPLETED:
            return Claim.COMPLETED
        if found.state is DispatchState.RUNNING and found.leased_until is not None and found.leased_until > now:
            return Claim.BUSY
        self._dispatches[scope][transition] = replace(
            found,
            state=DispatchState.RUNNING,
            attempts=found.attempts + 1,
            owner=owner,
            leased_until=now + timedelta(seconds=lease_s),
        )
        return Claim.CLAIMED

    async def settle(self, scope: GoalScope, transition: str, *, owner: str, error: str | None = None) -> bool:
        """Say that a hook was completed, or failed."""
        found = self._find(scope, transition)
        if found.state is not DispatchState.RUNNING or found.owner != owner:
            return False
        state = DispatchState.COMPLETED if error is None else DispatchState.FAILED
        self._dispatches[scope][transition] = replace(found, state=state, leased_until=None, error=error)
        return True

    def _find(self, scope: GoalScope, transition: str) -> Dispatch:
        found = self._dispatches.get(scope, {}).get(transition)
        if found is None:
            raise GoalError(f"there is no transition {transition} in this scope")
        return found


def check_commit(entry: Entry, *, if_version: int | None, found: int) -> None:
    """Refuse an entry that does not follow the latest one.

    Args:
        entry: to be appended.
        if_version: the version it was made from.
        found: the version there is; 0: none.

    Raises:
        GoalConflictError: somebody else was first.
        GoalError: the entry is not the next one.
    """
    expected = if_version or 0
    if expected != found:
        raise GoalConflictError(expected, found)
    if entry.version != found + 1:
        raise GoalError(f"an entry of version {entry.version} cannot follow version {found}")
