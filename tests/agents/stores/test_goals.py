"""The goal checks that ship, run on every place that ships, and the races that only a database has."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from inspect import iscoroutinefunction
from typing import Any

import pytest

from agents.core.errors import StoreError
from agents.goals import conformance
from agents.goals.adapter import MemoryGoals
from agents.goals.errors import GoalConflictError
from agents.goals.status import ProgramStatus
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.goals import SqlGoals
from agents.stores.sql.schema import goal_hooks, goals
from tests.agents.goals.trip import SCOPE, TRIP, runner


@pytest.mark.parametrize("check", conformance.GOALS, ids=lambda check: check.__name__)
async def test_memory(check: Any) -> None:
    await check(MemoryGoals())


@pytest.mark.parametrize("check", conformance.GOALS, ids=lambda check: check.__name__)
async def test_sql(check: Any, sql: SqlConversations) -> None:
    await _empty(sql)
    await check(SqlGoals(sql.database))


async def _empty(sql: SqlConversations) -> None:
    await sql.database.write(lambda connection: connection.execute(goals.delete()))
    await sql.database.write(lambda connection: connection.execute(goal_hooks.delete()))


def test_every_check_is_run() -> None:
    written = {
        name
        for name, value in vars(conformance).items()
        if iscoroutinefunction(value) and not name.startswith("_") and value.__module__ == conformance.__name__
    }
    assert written == {check.__name__ for check in conformance.GOALS}


async def test_what_two_connections_say_of_different_items_at_once_is_all_kept(database_url: str) -> None:
    async with (
        aclosing(await SqlConversations.connect(database_url)) as one,
        aclosing(await SqlConversations.connect(database_url)) as other,
    ):
        left, right = runner(SqlGoals(one.database)), runner(SqlGoals(other.database))
        await left.start(TRIP)
        outcomes = await asyncio.gather(
            left.update("plan", completed=["route"], reason="one"),
            right.update("plan", completed=["date"], reason="two"),
            left.update("book", completed=["confirmed"], reason="three"),
            right.update("book", deferred=["booked"], reason="four"),
        )
        assert all(isinstance(outcome, ProgramStatus) for outcome in outcomes)
        status = await left.status()
        assert status is not None
        assert (status.version, status.active_goal, len(await right.history())) == (5, "aftercare", 5)


async def test_of_two_connections_that_say_something_of_one_item_at_once_one_is_told_of_the_conflict(
    database_url: str,
) -> None:
    async with (
        aclosing(await SqlConversations.connect(database_url)) as one,
        aclosing(await SqlConversations.connect(database_url)) as other,
    ):
        left, right = runner(SqlGoals(one.database)), runner(SqlGoals(other.database))
        await left.start(TRIP)
        outcomes = await asyncio.gather(
            left.update("plan", completed=["route"], reason="one", if_version=1),
            right.update("plan", declined=["route"], reason="two", if_version=1),
            return_exceptions=True,
        )
        refused = [str(outcome) for outcome in outcomes if isinstance(outcome, GoalConflictError)]
        assert refused == ["Goal version conflict: expected 1, found 2. Read status and retry."]


async def test_an_entry_that_cannot_be_read_is_refused_with_a_sentence(sqlite_url: str) -> None:
    async with aclosing(await SqlConversations.connect(sqlite_url)) as place:
        kept = SqlGoals(place.database)
        await runner(kept).start(TRIP)
        await place.database.write(lambda connection: connection.execute(goals.update().values(payload="{}")))
        with pytest.raises(StoreError, match="a stored entry cannot be read"):
            await kept.get(SCOPE)
