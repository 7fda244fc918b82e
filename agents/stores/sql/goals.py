"""Goals in a database: entries are only added; what changes is how far the hooks of their transitions are."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from agents.goals.adapter import Claim, Dispatch, DispatchState, check_commit
from agents.goals.errors import GoalConflictError, GoalError
from agents.goals.record import Entry, GoalScope, Transition
from agents.stores.sql.codec import Codec
from agents.stores.sql.database import Database
from agents.stores.sql.row import as_instant, upsert
from agents.stores.sql.schema import goal_hooks as hooks
from agents.stores.sql.schema import goals as table

__all__ = ["SqlGoals"]

ENTRY = Codec(Entry)
TRANSITION = Codec(Transition)


class SqlGoals:
    """The goals of any number of scopes; several processes may work on the same ones.

    Args:
        database: where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: GoalScope) -> Entry | None:
        """Read the latest entry."""
        wanted = _entries(scope).order_by(table.c.version.desc()).limit(1)
        rows = await self._database.read(wanted)
        return ENTRY.read(rows[0].payload) if rows else None

    async def history(self, scope: GoalScope) -> list[Entry]:
        """Read all entries, in order."""
        rows = await self._database.read(_entries(scope).order_by(table.c.version))
        return [ENTRY.read(row.payload) for row in rows]

    async def commit(self, scope: GoalScope, entry: Entry, *, if_version: int | None) -> None:
        """Append an entry and the dispatches of its transitions, all or nothing."""
        here = _key(scope)
        row = {"scope": here, "version": entry.version, "payload": ENTRY.write(entry)}
        edges = [
            {
                "scope": here,
                "version": entry.version,
                "position": position,
                "transition": edge.id,
                "payload": TRANSITION.write(edge),
                "state": DispatchState.PENDING.value,
                "attempts": 0,
            }
            for position, edge in enumerate(entry.transitions)
        ]

        def work(connection: Connection) -> None:
            found = connection.scalar(select(func.max(table.c.version)).where(table.c.scope == here)) or 0
            check_commit(entry, if_version=if_version, found=found)
            if not connection.execute(upsert(self._database.dialect, table, row, update=())).rowcount:
                # Somebody else took this version after it was looked at.
                raise GoalConflictError(found, entry.version)
            if edges:
                connection.execute(insert(hooks), edges)

        await self._database.write(work)

    async def dispatches(self, scope: GoalScope, *, unfinished: bool = False) -> list[Dispatch]:
        """Read the dispatches, in the order saved."""
        wanted = select(hooks).where(hooks.c.scope == _key(scope)).order_by(hooks.c.version, hooks.c.position)
        if unfinished:
            wanted = wanted.where(hooks.c.state != DispatchState.COMPLETED.value)
        return [_dispatch(row) for row in await self._database.read(wanted)]

    async def claim(self, scope: GoalScope, transition: str, *, owner: str, lease_s: float, now: datetime) -> Claim:
        """Take a transition to run its hook, unless somebody has it."""
        here = (hooks.c.scope == _key(scope), hooks.c.transition == transition)
        until = as_instant(now + timedelta(seconds=lease_s))

        def work(connection: Connection) -> Claim:
            found = connection.execute(
                select(hooks.c.state, hooks.c.leased_until, hooks.c.attempts).where(*here).with_for_update()
            ).one_or_none()
            if found is None:
                raise GoalError(f"there is no transition {transition} in this scope")
            if found.state == DispatchState.COMPLETED.value:
                return Claim.COMPLETED
            if found.state == DispatchState.RUNNING.value and found.leased_until > as_instant(now):
                return Claim.BUSY
            connection.execute(
                update(hooks)
                .where(*here)
                .values(state=DispatchState.RUNNING.value, attempts=found.attempts + 1, owner=owner, leased_until=until)
            )
            return Claim.CLAIMED

        return await self._database.write(work)

    async def settle(self, scope: GoalScope, transition: str, *, owner: str, error: str | None = None) -> bool:
        """Say that a hook was completed, or failed."""
        state = DispatchState.COMPLETED if error is None else DispatchState.FAILED
        statement = (
            update(hooks)
            .where(
                hooks.c.scope == _key(scope),
                hooks.c.transition == transition,
                hooks.c.owner == owner,
                hooks.c.state == DispatchState.RUNNING.value,
            )
            .values(state=state.value, leased_until=None, error=error)
        )
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)


def _key(scope: GoalScope) -> str:
    return json.dumps(scope.parts(), separators=(",", ":"))


def _entries(scope: GoalScope) -> Select[Any]:
    return select(table.c.payload).where(table.c.scope == _key(scope))


def _dispatch(row: Row[Any]) -> Dispatch:
    return Dispatch(
        transition=TRANSITION.read(row.payload),
        state=DispatchState(row.state),
        attempts=row.attempts,
        owner=row.owner,
        leased_until=None if row.leased_until is None else datetime.fromisoformat(row.leased_until),
        error=row.error,
    )
