"""Whatever is said of goals, in any order and of any program, nothing that was said is lost."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agents.goals.adapter import DispatchState, MemoryGoals
from agents.goals.definition import Goal, GoalProgram, define_goal_program
from agents.goals.errors import GoalError
from agents.goals.hooks import GoalHooks
from agents.goals.record import Entry, TransitionKind
from agents.goals.status import GoalStatus, status_of
from tests.agents.goals.trip import goal, item, runner

KEYS = ("a", "b", "c")
DISPOSITIONS = {"completed": "done", "deferred": "deferred", "declined": "declined", "reopened": "pending"}

_items = st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)
_retired = st.sampled_from([False, False, False, True])
_goals = st.builds(
    lambda key, items, retired, gone: goal(
        key, *(item(one, retired=one == gone and not retired) for one in items), retired=retired
    ),
    st.sampled_from(KEYS),
    _items,
    _retired,
    st.sampled_from([None, *KEYS]),
)
_programs = st.lists(_goals, max_size=3, unique_by=lambda one: one.key).map(
    lambda goals: define_goal_program(GoalProgram(key="trip", goals=tuple(goals)))
)


class Goals(RuleBasedStateMachine):
    """Goals, beside a dictionary of what was last said."""

    def __init__(self) -> None:
        super().__init__()
        self.adapter = MemoryGoals()
        self.told: list[str] = []
        hook = self.told.append
        self.goals = runner(
            self.adapter,
            hooks=GoalHooks(
                on_enter=lambda ctx: hook(ctx.idempotency_key),
                on_complete=lambda ctx: hook(ctx.idempotency_key),
                on_reopen=lambda ctx: hook(ctx.idempotency_key),
            ),
        )
        self.said: dict[tuple[str, str], str] = {}
        self.seen: list[Entry] = []

    def run(self, work: Any) -> Any:
        return asyncio.run(work)

    @initialize(program=_programs)
    def start(self, program: GoalProgram) -> None:
        self.run(self.goals.start(program))

    @rule(goal_key=st.sampled_from(KEYS), keys=_items, how=st.sampled_from(sorted(DISPOSITIONS)))
    def update(self, goal_key: str, keys: list[str], how: str) -> None:
        before = self.run(self.goals.inspect())
        change: dict[str, Any] = {how: keys}
        try:
            self.run(self.goals.update(goal_key, **change, reason="said so"))
        except GoalError:
            assert self.run(self.goals.inspect()) == before, "what was refused changed something"
        else:
            self.said |= {(goal_key, key): DISPOSITIONS[how] for key in keys}

    @rule(program=_programs)
    def revise(self, program: GoalProgram) -> None:
        entry = self.run(self.goals.inspect())
        self.run(self.goals.revise(program, if_version=entry.version, reason="circumstances"))
        assert self.run(self.goals.inspect()).program == program

    @invariant()
    def nothing_that_was_said_is_lost(self) -> None:
        if (entry := self.run(self.goals.inspect())) is None:
            return
        kept = {(g, i): state.disposition.value for g, items in entry.progress.items() for i, state in items.items()}
        assert kept == {key: said for key, said in self.said.items() if key in kept}
        assert all(said == "pending" for key, said in self.said.items() if key not in kept)
        deferred = {(one.goal_key, one.item_key) for one in status_of(entry).deferred}
        assert deferred == {key for key, said in self.said.items() if said == "deferred"}

    @invariant()
    def history_only_grows_and_versions_count_it(self) -> None:
        history = self.run(self.goals.history())
        assert history[: len(self.seen)] == self.seen
        assert [entry.version for entry in history] == list(range(1, len(history) + 1))
        self.seen = history

    @invariant()
    def the_first_goal_that_is_not_settled_is_active_and_no_other(self) -> None:
        if (entry := self.run(self.goals.inspect())) is None:
            return
        status = status_of(entry)
        unsettled = [view for view in status.goals if _open(view.definition, entry)]
        assert status.active_goal == (unsettled[0].definition.key if unsettled else None)
        assert [view.status for view in unsettled] == [GoalStatus.ACTIVE, *[GoalStatus.PENDING] * 9][: len(unsettled)]

    @invariant()
    def every_edge_is_told_once_and_in_order(self) -> None:
        dispatches = self.run(self.goals.hook_dispatches())
        assert self.told == [one.transition.id for one in dispatches]
        assert {one.state for one in dispatches} <= {DispatchState.COMPLETED}
        last: dict[str, TransitionKind] = {}
        for one in dispatches:
            edge = one.transition
            if edge.kind is not TransitionKind.ENTER:
                assert (last.get(edge.goal.key), edge.kind) != (TransitionKind.REOPEN, TransitionKind.REOPEN)
                last[edge.goal.key] = edge.kind


def _open(definition: Goal, entry: Entry) -> bool:
    said = entry.progress.get(definition.key, {})
    waiting = [one for one in definition.items if not one.retired]
    pending = [one for one in waiting if one.key not in said or said[one.key].disposition.value == "pending"]
    return not definition.retired and bool(pending)


Goals.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestGoals = Goals.TestCase
