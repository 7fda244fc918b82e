import asyncio
from collections.abc import Callable, Coroutine

import pytest

from agents.goals.adapter import MemoryGoals
from agents.goals.definition import GoalProgram
from agents.goals.errors import GoalConflictError, GoalError, GoalPostCommitError
from agents.goals.record import Disposition, Entry, GoalScope
from agents.goals.runner import ATTEMPTS, GoalRunner, Proposal
from agents.goals.status import GoalStatus, ProgramStatus
from tests.agents.goals.trip import SCOPE, TRIP, Time, all_edges, edges, goal, item, program, runner


async def _started(adapter: MemoryGoals | None = None, wanted: GoalProgram = TRIP) -> GoalRunner:
    goals = runner(adapter)
    await goals.start(wanted)
    return goals


async def _status(goals: GoalRunner) -> ProgramStatus:
    status = await goals.status()
    assert status is not None
    return status


def _standing(status: ProgramStatus) -> dict[str, str]:
    return {view.definition.key: view.status.value for view in status.goals}


# ------------------------------------------------------------------------------------------------------------- starting


async def test_starting_again_changes_nothing_and_never_resets() -> None:
    goals = await _started()
    await goals.update("plan", completed=["route"], reason="said")
    status = await goals.start(TRIP)
    assert status.version == 2
    assert len(await goals.history()) == 2


async def test_another_program_is_not_started_over_the_first() -> None:
    goals = await _started()
    with pytest.raises(GoalError, match="revise it, with ifVersion 1"):
        await goals.start(program(goal("plan", "route")))


@pytest.mark.parametrize(
    "other",
    [
        GoalScope(subject="conversation-2", key="trip"),
        GoalScope(subject="conversation-1", key="hotel"),
        GoalScope(subject="conversation-1", key="trip", agent="ann"),
    ],
)
async def test_every_part_of_a_scope_keeps_goals_apart(other: GoalScope) -> None:
    adapter = MemoryGoals()
    await _started(adapter)
    assert await runner(adapter, scope=other).status() is None


async def test_who_starts_at_the_same_time_starts_once() -> None:
    adapter = _Slow()
    one, two = runner(adapter), runner(adapter)
    first, second = await asyncio.gather(one.start(TRIP), two.start(TRIP))
    assert first == second
    assert len(await one.history()) == 1


# -------------------------------------------------------------------------------------------------- saying what became


async def test_done_deferred_and_declined_settle_an_item_and_are_told_apart() -> None:
    goals = await _started(wanted=program(goal("plan", "a", "b", "c"), goal("next", "d")))
    status = await goals.update("plan", completed=["a"], deferred=["b"], declined=["c"], reason="so it is")
    assert _standing(status) == {"plan": "completed", "next": "active"}
    assert [view.disposition.value for view in status.goals[0].items] == ["done", "deferred", "declined"]
    assert [(one.item_key, one.note) for one in status.deferred] == [("b", "so it is")]


async def test_a_deferral_is_listed_after_everything_is_completed() -> None:
    goals = await _started(wanted=program(goal("plan", "a")))
    status = await goals.update("plan", deferred=["a"], reason="later")
    assert status.status is GoalStatus.COMPLETED
    assert [one.item_key for one in status.deferred] == ["a"]


async def test_reopening_an_item_reopens_its_goal_and_settling_it_completes_it_again() -> None:
    goals = await _started(wanted=program(goal("plan", "a")))
    await goals.update("plan", deferred=["a"], reason="later")
    assert (await goals.update("plan", reopened=["a"], reason="now after all")).active_goal == "plan"
    assert (await goals.update("plan", completed=["a"], reason="done")).deferred == ()
    assert await all_edges(goals) == [
        ["plan enter"],
        ["plan complete"],
        ["plan reopen", "plan enter"],
        ["plan complete"],
    ]


async def test_a_later_goal_may_be_settled_first_and_is_skipped_when_its_turn_comes() -> None:
    goals = await _started()
    assert (await goals.update("book", completed=["confirmed", "booked"], reason="said")).active_goal == "plan"
    assert (await goals.update("plan", completed=["route", "date"], reason="said")).active_goal == "aftercare"


async def test_a_repetition_changes_nothing_and_keeps_the_old_reason() -> None:
    goals = await _started()
    await goals.update("plan", completed=["route"], reason="first")
    status = await goals.update("plan", completed=["route"], reason="second")
    assert status.version == 2
    assert status.goals[0].items[0].note == "first"


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ({"goal_key": "nowhere", "completed": ["a"]}, "the goals are plan, book, aftercare"),
        ({"goal_key": "plan", "completed": ["route", "nothing"]}, "its items are route, date"),
        ({"goal_key": "plan", "completed": ["route"], "deferred": ["route"]}, "only once"),
        ({"goal_key": "plan", "completed": ["route", "route"]}, "only once"),
        ({"goal_key": "plan"}, "at least one"),
        ({"goal_key": "plan", "completed": ["route"], "reason": "  "}, "reason"),
        ({"goal_key": "plan", "completed": ["route"], "reason": "x" * 4001}, "reason"),
    ],
)
async def test_an_update_that_does_not_fit_is_refused_whole(given: dict[str, object], about: str) -> None:
    goals = await _started()
    with pytest.raises(GoalError, match=about):
        await goals.update(**{"reason": "said", **given})  # type: ignore[arg-type]
    assert (await _status(goals)).version == 1


# ------------------------------------------------------------------------------------------------------------- revising


async def test_a_revision_keeps_progress_by_key_also_over_removal_and_return() -> None:
    goals = await _started()
    await goals.update("plan", completed=["route"], reason="said")
    await goals.revise(program(goal("book", "booked")), if_version=2, reason="shorter")
    status = await goals.revise(TRIP, if_version=3, reason="longer")
    assert status.goals[0].items[0].disposition is Disposition.DONE


async def test_a_new_item_reopens_a_completed_goal() -> None:
    goals = await _started(wanted=program(goal("plan", "a")))
    await goals.update("plan", completed=["a"], reason="done")
    status = await goals.revise(program(goal("plan", "a", "b")), if_version=2, reason="more")
    assert status.active_goal == "plan"
    assert edges((await goals.history())[-1]) == ["plan reopen", "plan enter"]


async def test_the_same_program_is_no_revision() -> None:
    goals = await _started()
    assert (await goals.revise(TRIP, if_version=1, reason="nothing")).version == 1


async def test_goals_in_another_order_change_what_is_active() -> None:
    goals = await _started()
    turned = program(*reversed(TRIP.goals))
    assert (await goals.revise(turned, if_version=1, reason="turned")).active_goal == "aftercare"


async def test_a_programs_key_does_not_change() -> None:
    goals = await _started()
    with pytest.raises(GoalError, match="identity cannot change"):
        await goals.revise(TRIP.model_copy(update={"key": "other"}), if_version=1, reason="other")


async def test_what_is_retired_keeps_its_deferral_which_can_be_closed_and_not_reopened() -> None:
    goals = await _started(wanted=program(goal("plan", "a", "b")))
    await goals.update("plan", deferred=["a"], reason="later")
    await goals.revise(
        program(goal("plan", "a", "b", retired=True), goal("follow", "c")), if_version=2, reason="follow-up"
    )
    status = await _status(goals)
    assert [(one.label, one.retired) for one in status.deferred] == [("The a", True)]
    with pytest.raises(GoalError, match="retired"):
        await goals.update("plan", reopened=["a"], reason="again")
    with pytest.raises(GoalError, match="retired"):
        await goals.update("plan", deferred=["b"], reason="later")
    assert (await goals.update("plan", completed=["a"], reason="done")).deferred == ()


async def test_a_deferral_outlives_the_removal_of_its_item_under_its_last_label() -> None:
    goals = await _started(wanted=program(goal("plan", "a", "b")))
    await goals.update("plan", deferred=["a"], reason="later")
    status = await goals.revise(program(goal("plan", "b")), if_version=2, reason="shorter")
    assert [(one.label, one.retired) for one in status.deferred] == [("The a", True)]
    assert (await goals.update("plan", declined=["a"], reason="not any more")).deferred == ()


async def test_what_is_restored_can_be_reopened() -> None:
    goals = await _started(wanted=program(goal("plan", "a", "b")))
    await goals.update("plan", deferred=["a"], reason="later")
    await goals.revise(program(goal("plan", item("a", retired=True), "b")), if_version=2, reason="less")
    await goals.revise(program(goal("plan", "a", "b")), if_version=3, reason="more")
    assert (await goals.update("plan", reopened=["a"], reason="now")).goals[0].items[0].disposition.value == "pending"


async def test_retiring_is_not_completing() -> None:
    goals = await _started(wanted=program(goal("plan", "a", "b"), goal("next", "c")))
    await goals.update("plan", completed=["a"], reason="done")
    await goals.revise(program(goal("plan", "a", item("b", retired=True)), goal("next", "c")), if_version=2, reason="x")
    assert await all_edges(goals) == [["plan enter"], [], ["next enter"]]


async def test_a_program_is_completed_when_nothing_is_left_in_force() -> None:
    goals = await _started(wanted=program())
    assert (await _status(goals)).status is GoalStatus.COMPLETED
    assert (await goals.revise(program(goal("plan", "a")), if_version=1, reason="m")).status is GoalStatus.ACTIVE
    retired = program(goal("plan", "a", retired=True))
    assert (await goals.revise(retired, if_version=2, reason="less")).status is GoalStatus.COMPLETED


_LOCKED = program(goal("law", "a", "b", locked=True), goal("plan", item("must", locked=True), "may"))


@pytest.mark.parametrize(
    "wanted",
    [
        program(_LOCKED.goals[1]),
        program(goal("law", "a", locked=True), _LOCKED.goals[1]),
        program(goal("law", "a", "b"), _LOCKED.goals[1]),
        program(_LOCKED.goals[0], goal("plan", "may")),
        program(_LOCKED.goals[0], goal("plan", "must", "may")),
        program(_LOCKED.goals[0], goal("plan", item("must", locked=True), "may", retired=True)),
        program(_LOCKED.goals[0]),
    ],
    ids=["removed", "changed", "unlocked", "item removed", "item unlocked", "its goal retired", "its goal removed"],
)
async def test_what_is_locked_stays(wanted: GoalProgram) -> None:
    goals = await _started(wanted=_LOCKED)
    with pytest.raises(GoalError, match="locked"):
        await goals.revise(wanted, if_version=1, reason="away with it")
    assert (await _status(goals)).version == 1


async def test_what_is_locked_may_be_settled_and_stand_elsewhere() -> None:
    goals = await _started(wanted=_LOCKED)
    await goals.update("law", completed=["a", "b"], reason="done")
    status = await goals.revise(program(*reversed(_LOCKED.goals)), if_version=2, reason="order")
    assert _standing(status) == {"plan": "active", "law": "completed"}


# ----------------------------------------------------------------------------------------------------- at the same time


class _Slow(MemoryGoals):
    """Lets everybody else run between a read and a write."""

    async def get(self, scope: GoalScope) -> Entry | None:
        found = await super().get(scope)
        for _ in range(3):
            await asyncio.sleep(0)
        return found


async def test_changes_of_different_items_at_the_same_time_are_both_kept() -> None:
    adapter = _Slow()
    goals = await _started(adapter)
    other = runner(adapter)
    await asyncio.gather(
        goals.update("plan", completed=["route"], reason="one"), other.update("plan", completed=["date"], reason="two")
    )
    status = await runner(adapter).status()
    assert status is not None
    assert status.version == 3
    assert status.active_goal == "book"


@pytest.mark.parametrize("what", ["the same item", "a revision"])
async def test_of_two_changes_that_meet_exactly_one_wins(what: str) -> None:
    adapter = _Slow()
    goals = await _started(adapter)
    other = runner(adapter)
    second: Callable[[], Coroutine[None, None, ProgramStatus]] = (
        (lambda: other.update("plan", deferred=["route"], reason="two"))
        if what == "the same item"
        else (lambda: other.revise(program(goal("plan", "date")), if_version=1, reason="two"))
    )
    outcomes = await asyncio.gather(
        goals.update("plan", completed=["route"], reason="one"),
        second(),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [ProgramStatus, GoalConflictError]


async def test_a_stale_version_is_refused_in_the_documented_words() -> None:
    goals = await _started()
    await goals.update("plan", completed=["route"], reason="said")
    with pytest.raises(GoalConflictError) as refused:
        await goals.update("plan", completed=["date"], reason="said", if_version=1)
    assert str(refused.value) == "Goal version conflict: expected 1, found 2. Read status and retry."
    with pytest.raises(GoalConflictError):
        await goals.revise(program(), if_version=1, reason="away")


class _Contested(MemoryGoals):
    """Somebody else is always first."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0

    async def commit(self, scope: GoalScope, entry: Entry, *, if_version: int | None) -> None:
        if if_version is not None:
            self.commits += 1
            raise GoalConflictError(if_version, if_version + 1)
        await super().commit(scope, entry, if_version=if_version)


async def test_a_conflict_that_does_not_end_is_told_after_five_attempts() -> None:
    adapter = _Contested()
    goals = await _started(adapter)
    with pytest.raises(GoalConflictError):
        await goals.update("plan", completed=["route"], reason="said")
    assert adapter.commits == ATTEMPTS == 5


# -------------------------------------------------------------------------------------------------------- what follows


async def test_a_change_that_is_not_valid_is_not_saved() -> None:
    def refuse(proposal: Proposal) -> None:
        if proposal.before is not None:
            raise GoalError("not today")

    goals = runner(validate_change=refuse)
    await goals.start(TRIP)
    with pytest.raises(GoalError, match="not today"):
        await goals.update("plan", completed=["route"], reason="said")
    assert (await _status(goals)).version == 1


async def test_when_what_follows_fails_it_is_said_that_the_change_was_saved() -> None:
    def fail(status: ProgramStatus) -> None:
        if status.version > 1:
            raise ValueError("no line")

    goals = runner(on_change=fail)
    await goals.start(TRIP)
    with pytest.raises(GoalPostCommitError, match="no line") as failed:
        await goals.update("plan", completed=["route"], reason="said")
    assert failed.value.status.version == (await _status(goals)).version == 2


async def test_configure_calls_end_in_the_order_of_versions() -> None:
    shown: list[int] = []
    gate = asyncio.Event()

    async def configure(status: ProgramStatus | None) -> None:
        version = 0 if status is None else status.version
        if not shown:
            await gate.wait()
        shown.append(version)

    goals = runner(configure=configure)
    async with asyncio.TaskGroup() as group:
        group.create_task(goals.refresh())
        group.create_task(goals.start(TRIP))
        for _ in range(10):
            await asyncio.sleep(0)
        gate.set()
    assert shown == [0, 1]


class _Late(MemoryGoals):
    """Answers with what was so some time ago."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck: list[Entry | None] = []

    async def get(self, scope: GoalScope) -> Entry | None:
        return self.stuck[0] if self.stuck else await super().get(scope)


@pytest.mark.parametrize("there", [True, False], ids=["an old entry", "none yet"])
async def test_nobody_is_shown_an_older_version_however_late_a_read_comes(*, there: bool) -> None:
    adapter = _Late()
    goals = await _started(adapter)
    old = await adapter.get(SCOPE)
    await goals.update("plan", completed=["route"], reason="said")
    adapter.stuck = [old if there else None]
    assert (await _status(goals)).version == 2


async def test_another_scope_begins_anew() -> None:
    scopes = [SCOPE]
    goals = GoalRunner(MemoryGoals(), lambda: scopes[-1], now=Time())
    await goals.start(TRIP)
    scopes.append(GoalScope(subject="conversation-2", key="trip"))
    assert await goals.status() is None


async def test_the_history_holds_every_definition_with_who_and_why() -> None:
    goals = runner(actor="host", source="crm")
    await goals.start(TRIP, "New trip")
    await goals.revise(program(goal("plan", "route")), if_version=1, reason="shorter")
    first, second = await goals.history()
    assert (first.program, first.reason, first.kind.value) == (TRIP, "New trip", "start")
    assert (second.provenance.actor, second.provenance.source, second.version) == ("host", "crm", 2)
    assert first.provenance.timestamp < second.provenance.timestamp
