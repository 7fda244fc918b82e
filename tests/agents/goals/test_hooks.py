from datetime import timedelta

import pytest

from agents.goals.adapter import Claim, DispatchState, MemoryGoals
from agents.goals.errors import GoalError, GoalHookError, GoalPostCommitError
from agents.goals.hooks import LEASE_S, GoalHooks, HookContext
from agents.goals.record import GoalScope
from agents.goals.runner import GoalRunner
from tests.agents.goals.trip import SCOPE, TRIP, Time, goal, item, program, runner


class Diary:
    """Hooks that write down what they were called for."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.keys: list[str] = []
        self.fail: str | None = None

    def __call__(self, ctx: HookContext) -> None:
        line = f"{ctx.goal.key} {ctx.transition.kind} {ctx.status.version}"
        self.keys.append(ctx.idempotency_key)
        if line == self.fail:
            raise ValueError("the line is down")
        self.lines.append(line)

    @property
    def hooks(self) -> GoalHooks:
        return GoalHooks(on_enter=self, on_complete=self, on_reopen=self)


async def test_edges_are_told_in_the_order_saved_and_a_repetition_tells_nothing() -> None:
    diary = Diary()
    goals = runner(hooks=diary.hooks)
    await goals.start(TRIP)
    for _ in range(2):
        await goals.update("plan", completed=["route", "date"], reason="said")
    assert diary.lines == ["plan enter 1", "plan complete 2", "book enter 2"]
    assert (await goals.resume_hooks()).ran == 0


async def test_a_key_names_the_scope_the_change_and_the_edge() -> None:
    diary = Diary()
    await runner(hooks=diary.hooks).start(TRIP)
    assert diary.keys == ['["conversation-1","trip",null,1,"plan","enter"]']


async def test_a_hook_that_failed_runs_again_with_the_same_key_and_the_change_is_kept() -> None:
    diary = Diary()
    diary.fail = "plan complete 2"
    goals = runner(hooks=diary.hooks)
    await goals.start(TRIP)
    with pytest.raises(GoalPostCommitError) as failed:
        await goals.update("plan", completed=["route", "date"], reason="said")
    assert isinstance(failed.value.__cause__, GoalHookError)
    assert diary.lines == ["plan enter 1"]
    diary.fail = None
    assert (await goals.resume_hooks()).ran == 2
    assert diary.lines == ["plan enter 1", "plan complete 2", "book enter 2"]
    assert diary.keys[1] == diary.keys[2]
    assert [one.attempts for one in await goals.hook_dispatches()] == [1, 2, 1]


async def test_a_worker_that_finds_another_at_work_waits_and_does_not_overtake() -> None:
    adapter = MemoryGoals()
    goals = runner(adapter)
    await goals.start(TRIP)
    diary = Diary()
    first = GoalRunner(adapter, SCOPE, now=Time(), owner="one")
    await first.update("plan", completed=["route"], reason="said")
    edge = (await _unfinished_after_a_revision(adapter))[0]
    assert await adapter.claim(SCOPE, edge, owner="one", lease_s=LEASE_S, now=Time()()) is Claim.CLAIMED
    second = runner(adapter, hooks=diary.hooks, owner="two")
    blocked_by = (await second.resume_hooks()).blocked_by
    assert blocked_by is not None and blocked_by.id == edge
    assert diary.lines == []


async def _unfinished_after_a_revision(adapter: MemoryGoals) -> list[str]:
    class Crashed(Exception):
        pass

    def crash(_ctx: HookContext) -> None:
        raise Crashed

    crashing = runner(adapter, hooks=GoalHooks(on_enter=crash, on_complete=crash))
    with pytest.raises(GoalPostCommitError):
        await crashing.update("plan", completed=["date"], reason="said")
    return [one.transition.id for one in await adapter.dispatches(SCOPE, unfinished=True)]


async def test_a_lease_that_ran_out_can_be_taken_and_its_old_owner_settles_nothing() -> None:
    adapter = MemoryGoals()
    await runner(adapter).start(TRIP)
    await runner(adapter).update("plan", completed=["route"], reason="said")
    edge = (await _unfinished_after_a_revision(adapter))[0]
    now = Time()()
    assert await adapter.claim(SCOPE, edge, owner="one", lease_s=60, now=now) is Claim.CLAIMED
    assert await adapter.claim(SCOPE, edge, owner="two", lease_s=60, now=now + timedelta(seconds=59)) is Claim.BUSY
    assert await adapter.claim(SCOPE, edge, owner="two", lease_s=60, now=now + timedelta(seconds=61)) is Claim.CLAIMED
    assert not await adapter.settle(SCOPE, edge, owner="one")
    assert await adapter.settle(SCOPE, edge, owner="two")
    assert await adapter.claim(SCOPE, edge, owner="one", lease_s=60, now=now) is Claim.COMPLETED


async def test_an_edge_of_another_scope_is_unknown() -> None:
    adapter = MemoryGoals()
    await runner(adapter).start(TRIP)
    edge = (await adapter.dispatches(SCOPE))[0].transition.id
    with pytest.raises(GoalError, match="no transition"):
        await adapter.claim(GoalScope(subject="x", key="trip"), edge, owner="one", lease_s=1, now=Time()())


async def test_a_hook_sees_the_goal_as_it_was_defined_then() -> None:
    adapter = MemoryGoals()
    plain = runner(adapter)
    await plain.start(TRIP)
    await plain.update("plan", completed=["route"], reason="said")
    await _unfinished_after_a_revision(adapter)
    seen: list[tuple[str, str]] = []
    late = runner(adapter, hooks=GoalHooks(on_complete=lambda ctx: seen.append((ctx.goal.title, ctx.status.program))))
    await late.resume_hooks()
    assert seen == [("plan it", "trip")]


async def test_a_hook_may_advance_the_goals_itself() -> None:
    goals: GoalRunner

    async def advance(ctx: HookContext) -> None:
        if ctx.goal.key == "book":
            await goals.update("book", completed=["confirmed", "booked"], reason="by itself")

    diary = Diary()
    goals = runner(hooks=GoalHooks(on_enter=advance, on_complete=diary))
    await goals.start(TRIP)
    status = await goals.update("plan", completed=["route", "date"], reason="said")
    assert (status.version, status.active_goal) == (3, "aftercare")
    assert diary.lines == ["plan complete 2", "book complete 3"]


async def test_running_hooks_changes_no_version() -> None:
    goals = runner(hooks=Diary().hooks)
    await goals.start(TRIP)
    assert [one.state for one in await goals.hook_dispatches()] == [DispatchState.COMPLETED]
    assert len(await goals.history()) == 1


async def test_receipts_outlive_later_changes() -> None:
    diary = Diary()
    goals = runner(hooks=diary.hooks)
    await goals.start(program(goal("plan", "a")))
    await goals.update("plan", completed=["a"], reason="done")
    await goals.revise(program(goal("plan", "a", "b")), if_version=2, reason="more")
    assert [one.state for one in await goals.hook_dispatches()] == [DispatchState.COMPLETED] * 4


async def test_only_a_goal_whose_completion_was_told_is_reopened() -> None:
    diary = Diary()
    goals = runner(hooks=diary.hooks)
    nothing_left = program(goal("plan", item("a", retired=True)))
    await goals.start(nothing_left)
    await goals.revise(program(goal("plan", "b")), if_version=1, reason="more")
    await goals.update("plan", completed=["b"], reason="done")
    await goals.revise(program(goal("plan", "b", "c")), if_version=3, reason="still more")
    assert [line for line in diary.lines if "enter" not in line] == ["plan complete 3", "plan reopen 4"]
    await goals.revise(nothing_left, if_version=4, reason="less")
    await goals.revise(program(goal("plan", "b", "d")), if_version=5, reason="more again")
    assert [line for line in diary.lines if "enter" not in line] == ["plan complete 3", "plan reopen 4"]


class _Dying(MemoryGoals):
    """Its first worker dies before it says that it is done."""

    died = False

    async def settle(self, scope: GoalScope, transition: str, *, owner: str, error: str | None = None) -> bool:
        if not self.died:
            self.died = True
            raise KeyboardInterrupt
        return await super().settle(scope, transition, owner=owner, error=error)


async def test_an_edge_without_a_hook_blocks_nobody_when_its_worker_dies() -> None:
    adapter, time = _Dying(), Time()
    with pytest.raises(KeyboardInterrupt):
        await runner(adapter, owner="dead", now=time).start(TRIP)
    assert (await runner(adapter, owner="next", now=time).resume_hooks()).blocked_by is None
