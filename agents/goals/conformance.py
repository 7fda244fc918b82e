"""What every place for goals keeps to, as checks that any adapter can be run through.

A check is a coroutine function that raises ``AssertionError``; its name is the sentence it checks. It gets an empty
adapter::

    @pytest.mark.parametrize("check", GOALS, ids=lambda check: check.__name__)
    async def test_my_goals(check):
        await check(MyGoals())
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from agents.goals.adapter import Claim, DispatchState, GoalAdapter
from agents.goals.definition import Goal, GoalItem, GoalProgram
from agents.goals.engine import Change, Stamp, started, updated
from agents.goals.errors import GoalConflictError, GoalError
from agents.goals.record import Entry, GoalScope, Provenance

__all__ = ["GOALS", "GoalCheck"]

GoalCheck: TypeAlias = Callable[[GoalAdapter], Awaitable[None]]

_SCOPE = GoalScope(subject="conversation 1: ¿qué?", key="trip")
_NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)


def _goal(key: str, *items: str) -> Goal:
    made = tuple(GoalItem(key=item, label=item) for item in items)
    return Goal(key=key, title=key, objective=key, items=made)


_PROGRAM = GoalProgram(key="trip", goals=(_goal("plan", "route", "date"), _goal("book", "booked")))


def _stamp(scope: GoalScope = _SCOPE) -> Stamp:
    provenance = Provenance(actor="agent", source="check", timestamp=_NOW)
    return Stamp(scope=scope, reason='Said: "so\x00"\n', provenance=provenance)


def _settled(entry: Entry, *items: str) -> Entry:
    found = updated(entry, Change(goal_key="plan", completed=items), _stamp())
    assert found is not None
    return found


async def _begun(goals: GoalAdapter) -> Entry:
    entry = started(_PROGRAM, _stamp())
    await goals.commit(_SCOPE, entry, if_version=None)
    return entry


async def what_was_committed_is_read_again_whole(goals: GoalAdapter) -> None:
    assert await goals.get(_SCOPE) is None
    assert await goals.history(_SCOPE) == []
    first = await _begun(goals)
    second = _settled(first, "route")
    await goals.commit(_SCOPE, second, if_version=1)
    assert await goals.get(_SCOPE) == second
    assert await goals.history(_SCOPE) == [first, second]


async def every_part_of_a_scope_keeps_goals_apart(goals: GoalAdapter) -> None:
    await _begun(goals)
    for other in (
        _SCOPE.model_copy(update={"subject": "another"}),
        _SCOPE.model_copy(update={"key": "hotel"}),
        _SCOPE.model_copy(update={"agent": "ann"}),
        GoalScope(subject='","', key="trip"),
    ):
        assert await goals.get(other) is None
        assert await goals.dispatches(other) == []


async def who_was_not_first_is_told_what_there_is(goals: GoalAdapter) -> None:
    first = await _begun(goals)
    second = _settled(first, "route")
    await goals.commit(_SCOPE, second, if_version=1)
    for entry, if_version, expected in ((first, None, 0), (_settled(first, "date"), 1, 1)):
        try:
            await goals.commit(_SCOPE, entry, if_version=if_version)
        except GoalConflictError as conflict:
            assert (conflict.expected, conflict.actual) == (expected, 2)
        else:
            raise AssertionError("an entry was committed over a newer one")
    assert await goals.history(_SCOPE) == [first, second]


async def history_is_not_rewritten(goals: GoalAdapter) -> None:
    first = await _begun(goals)
    for version in (1, 3):
        try:
            await goals.commit(_SCOPE, first.model_copy(update={"version": version}), if_version=1)
        except GoalError:
            continue
        raise AssertionError(f"an entry of version {version} was committed behind version 1")


async def of_those_who_commit_at_the_same_time_one_is_first(goals: GoalAdapter) -> None:
    first = await _begun(goals)
    wanted = [_settled(first, "route"), _settled(first, "date"), _settled(first, "route", "date")]
    outcomes = await asyncio.gather(
        *(goals.commit(_SCOPE, entry, if_version=1) for entry in wanted), return_exceptions=True
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["GoalConflictError"] * 2 + ["NoneType"]
    assert [entry.version for entry in await goals.history(_SCOPE)] == [1, 2]


async def dispatches_are_in_the_order_saved_and_finished_ones_can_be_left_out(goals: GoalAdapter) -> None:
    entry = await _begun(goals)
    await goals.commit(_SCOPE, _settled(entry, "route", "date"), if_version=1)
    found = await goals.dispatches(_SCOPE)
    assert [f"{one.transition.goal.key} {one.transition.kind}" for one in found] == [
        "plan enter",
        "plan complete",
        "book enter",
    ]
    assert {one.state for one in found} == {DispatchState.PENDING}
    first = found[0].transition.id
    assert await goals.claim(_SCOPE, first, owner="one", lease_s=60, now=_NOW) is Claim.CLAIMED
    assert await goals.settle(_SCOPE, first, owner="one")
    assert [one.transition.id for one in await goals.dispatches(_SCOPE, unfinished=True)] == [
        one.transition.id for one in found[1:]
    ]


async def one_worker_at_a_time_has_a_transition_until_its_lease_runs_out(goals: GoalAdapter) -> None:
    await _begun(goals)
    edge = (await goals.dispatches(_SCOPE))[0].transition.id
    later = _NOW + timedelta(seconds=61)
    assert await goals.claim(_SCOPE, edge, owner="one", lease_s=60, now=_NOW) is Claim.CLAIMED
    assert await goals.claim(_SCOPE, edge, owner="two", lease_s=60, now=_NOW + timedelta(seconds=59)) is Claim.BUSY
    assert await goals.claim(_SCOPE, edge, owner="two", lease_s=60, now=later) is Claim.CLAIMED
    assert not await goals.settle(_SCOPE, edge, owner="one")
    assert await goals.settle(_SCOPE, edge, owner="two", error="the line is down")
    failed = (await goals.dispatches(_SCOPE))[0]
    assert (failed.state, failed.attempts, failed.error) == (DispatchState.FAILED, 2, "the line is down")
    assert await goals.claim(_SCOPE, edge, owner="one", lease_s=60, now=later) is Claim.CLAIMED
    assert await goals.settle(_SCOPE, edge, owner="one")
    assert await goals.claim(_SCOPE, edge, owner="two", lease_s=60, now=later) is Claim.COMPLETED
    assert not await goals.settle(_SCOPE, edge, owner="one")
    assert (await goals.dispatches(_SCOPE))[0].error is None


async def of_those_who_claim_at_the_same_time_one_has_it(goals: GoalAdapter) -> None:
    await _begun(goals)
    edge = (await goals.dispatches(_SCOPE))[0].transition.id
    claims = await asyncio.gather(
        *(goals.claim(_SCOPE, edge, owner=str(worker), lease_s=60, now=_NOW) for worker in range(3))
    )
    assert sorted(claims) == [Claim.BUSY, Claim.BUSY, Claim.CLAIMED]


async def a_transition_that_is_not_there_cannot_be_claimed(goals: GoalAdapter) -> None:
    await _begun(goals)
    try:
        await goals.claim(_SCOPE, "nothing", owner="one", lease_s=60, now=_NOW)
    except GoalError:
        return
    raise AssertionError("a transition that is not there was claimed")


GOALS: tuple[GoalCheck, ...] = (
    what_was_committed_is_read_again_whole,
    every_part_of_a_scope_keeps_goals_apart,
    who_was_not_first_is_told_what_there_is,
    history_is_not_rewritten,
    of_those_who_commit_at_the_same_time_one_is_first,
    dispatches_are_in_the_order_saved_and_finished_ones_can_be_left_out,
    one_worker_at_a_time_has_a_transition_until_its_lease_runs_out,
    of_those_who_claim_at_the_same_time_one_has_it,
    a_transition_that_is_not_there_cannot_be_claimed,
)
"""Every check."""
