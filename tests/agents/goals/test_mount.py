from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.core.errors import ToolSelectionError
from agents.core.glove import Glove
from agents.core.selection import ToolSelection
from agents.goals.adapter import MemoryGoals
from agents.goals.errors import GoalPostCommitError
from agents.goals.hooks import LEASE_S, GoalHooks, HookContext
from agents.goals.mount import MountedGoals, use_goal_runner
from agents.goals.snapshot import GUIDANCE
from agents.goals.status import GoalStatus, ProgramStatus
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from pipelines.clock import VirtualClock
from tests.agents.core.scenes import Diary, echo, talking
from tests.agents.goals.trip import SCOPE, TRIP, goal, program, runner

_READ = {"ifVersion": 1, "reason": "The caller said so"}


def _mounted(
    *responses: ScriptedResponse, adapter: MemoryGoals | None = None, **options: Any
) -> tuple[MountedGoals, ScriptedModel, Diary]:
    glove, model = talking(*responses)
    diary = Diary()
    glove.add_subscriber(diary)
    mounted = use_goal_runner(
        glove, adapter or MemoryGoals(), scope=SCOPE, now=lambda: datetime(2026, 11, 2, tzinfo=UTC), **options
    )
    return mounted, model, diary


def _call(tool: str, **given: Any) -> ScriptedCall:
    return ScriptedCall(name=f"glove_goal_{tool}", input=given)


def _seen(model: ScriptedModel, call: int) -> str:
    """The snapshot a model call was shown."""
    texts = [message.text for message in model.requests[call].messages if message.text.startswith("GOALS")]
    return texts[-1] if texts else ""


def _results(diary: Diary) -> list[Any]:
    return [data["result"] for data in diary.of("tool_use_result")]


async def test_every_model_call_is_shown_how_the_goals_stand_just_then() -> None:
    mounted, model, _ = _mounted([_call("update", goalKey="plan", completed=["route"], **_READ)], "Noted.")
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("From Nairobi to Lisbon")
    assert _seen(model, 0).startswith(f"GOALS — trip (version 1; active)\n{GUIDANCE}")
    assert "(version 2; active)" in _seen(model, 1)
    assert "- route: The route [done] — The caller said so" in _seen(model, 1)


async def test_the_snapshot_is_never_kept_and_never_in_the_system_prompt() -> None:
    mounted, model, _ = _mounted("Hello.")
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("Hello")
    assert "GOALS" not in model.requests[0].system_prompt
    assert [message.text for message in await mounted.glove.store.get_messages()] == ["Hello", "Hello."]


async def test_goals_that_are_not_to_be_shown_are_not() -> None:
    mounted, model, _ = _mounted("Hello.", inject_status=False)
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("Hello")
    assert _seen(model, 0) == ""


async def test_a_model_can_do_all_of_it() -> None:
    shorter = {"key": "trip", "goals": [goal.model_dump(mode="json") for goal in TRIP.goals[:1]]}
    mounted, _, diary = _mounted(
        [_call("status")],
        [_call("start", program=TRIP.model_dump(mode="json"), reason="A trip")],
        [_call("revise", program=shorter, ifVersion=1, reason="Only the plan")],
        [_call("update", goalKey="plan", completed=["route"], declined=["date"], ifVersion=2, reason="Said")],
        [_call("history")],
        "Done.",
    )
    await mounted.glove.process_request("Plan a trip")
    read, began, revised, updated, history = (result.data for result in _results(diary))
    assert read == {"program": None}
    assert (began["version"], revised["version"], updated["version"], updated["status"]) == (1, 2, 3, "completed")
    assert [entry["kind"] for entry in history["history"]] == ["start", "revise", "update"]


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ({"goalKey": "plan", "completed": ["route"], "reason": "said"}, "ifVersion"),
        ({"goalKey": "plan", "completed": ["route"], "scope": "x", **_READ}, "scope"),
        ({"goalKey": "plan", "completed": ["route"], **_READ, "ifVersion": 9}, "Goal version conflict: expected 9"),
        ({"goalKey": "plan", "completed": "route", **_READ}, "completed"),
        ({"goalKey": "plan", "completed": ["route", "route"], **_READ}, "only once"),
    ],
)
async def test_what_a_model_gets_wrong_is_an_error_it_can_act_on(given: dict[str, Any], about: str) -> None:
    mounted, _, diary = _mounted([_call("update", **given)], "Sorry.")
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("So it is")
    result = _results(diary)[0]
    assert result.status == "error"
    assert about in f"{result.message} {result.data}"
    status = await mounted.runner.status()
    assert status is not None
    assert status.version == 1


async def test_a_model_does_not_touch_what_is_locked() -> None:
    locked = program(goal("plan", "route", locked=True), goal("book", "booked"))
    for wanted in (program(goal("book", "booked")), program(goal("plan", "route", "date"), goal("book", "booked"))):
        revise = _call("revise", program=wanted.model_dump(mode="json"), **_READ)
        mounted, _, diary = _mounted([revise], "Sorry.")
        await mounted.runner.start(locked)
        await mounted.glove.process_request("Forget the plan")
        (result,) = _results(diary)
        assert (result.status, result.data) == ("error", {})
        assert "goal 'plan' is locked" in result.message
        status = await mounted.runner.status()
        assert status is not None and status.version == 1


async def test_a_model_cannot_bring_hooks() -> None:
    data = TRIP.model_dump(mode="json")
    data["goals"][0]["hooks"] = {"onEnter": "rm"}
    mounted, _, diary = _mounted([_call("start", program=data, reason="x")], "Sorry.")
    await mounted.glove.process_request("Start")
    assert _results(diary)[0].status == "error"
    assert await mounted.runner.status() is None


async def test_every_input_is_a_closed_object() -> None:
    mounted, _, _ = _mounted()
    assert all(tool.spec.input_schema["additionalProperties"] is False for tool in mounted.glove.tools)


async def test_a_change_whose_hook_fails_is_told_as_saved() -> None:
    def fail(_ctx: HookContext) -> None:
        raise ValueError("the line is down")

    mounted, _, diary = _mounted(
        [_call("update", goalKey="plan", completed=["route", "date"], **_READ)],
        "Oh.",
        hooks=GoalHooks(on_complete=fail),
    )
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("So it is")
    result = _results(diary)[0]
    assert result.status == "error"
    assert (result.data["committed"], result.data["status"]["version"]) == (True, 2)


async def test_a_hook_that_failed_runs_before_the_next_request() -> None:
    failing, ran = [True], []

    def hook(ctx: HookContext) -> None:
        if failing:
            raise ValueError(failing.pop())
        ran.append(ctx.idempotency_key)

    mounted, _, _ = _mounted(
        [_call("update", goalKey="plan", completed=["route", "date"], **_READ)],
        "Oh.",
        "Hello.",
        hooks=GoalHooks(on_complete=hook),
    )
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("So it is")
    assert ran == []
    await mounted.glove.process_request("Hello")
    assert len(ran) == 1


async def test_tools_that_a_selection_denies_are_not_there_and_the_rest_keep_their_order() -> None:
    mounted, _, _ = _mounted(tools=ToolSelection(deny=("start", "revise")))
    assert [tool.name for tool in mounted.glove.tools] == [
        "glove_goal_status",
        "glove_goal_update",
        "glove_goal_history",
    ]


async def test_a_selection_that_names_nothing_mounts_nothing() -> None:
    glove, model = talking("Hello.")
    with pytest.raises(ToolSelectionError):
        use_goal_runner(glove, MemoryGoals(), scope=SCOPE, tools=ToolSelection(deny=("begin",)))
    await glove.process_request("Hello")
    assert (glove.tools, _seen(model, 0)) == ((), "")


def _unlock(glove: Glove, status: ProgramStatus | None) -> None:
    done = status is not None and status.goals[0].status is GoalStatus.COMPLETED
    glove.replace_tools(["email"], [echo("email")] if done else [])


async def test_a_tool_that_a_goal_unlocks_is_there_in_the_same_request() -> None:
    mounted, model, _ = _mounted(
        [_call("update", goalKey="plan", completed=["route", "date"], **_READ)], "Done.", configure=_unlock
    )
    await mounted.runner.start(TRIP)
    await mounted.glove.process_request("So it is")
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert "email" not in offered[0]
    assert "email" in offered[1]


async def test_an_agent_made_anew_has_its_tools_back_without_its_hooks_being_told_again() -> None:
    adapter, told = MemoryGoals(), list[str]()
    hooks = GoalHooks(on_complete=lambda ctx: told.append(ctx.goal.key))
    first, _, _ = _mounted(adapter=adapter, hooks=hooks, configure=_unlock)
    await first.runner.start(TRIP)
    await first.runner.update("plan", completed=["route", "date"], reason="said")
    again, model, _ = _mounted("Hello.", adapter=adapter, hooks=hooks, configure=_unlock)
    await again.glove.process_request("Hello")
    assert "email" in [tool.name for tool in model.requests[0].tools]
    assert told == ["plan"]


async def test_a_hook_may_fold_a_tool_and_change_the_model_and_the_next_call_has_both() -> None:
    other = ScriptedModel(["From the other one."])

    def hook(ctx: HookContext) -> None:
        assert ctx.glove is not None
        ctx.glove.fold(echo("email"))
        ctx.glove.model = other

    mounted, _, _ = _mounted(
        [_call("update", goalKey="plan", completed=["route", "date"], **_READ)], hooks=GoalHooks(on_complete=hook)
    )
    await mounted.runner.start(TRIP)
    reply = await mounted.glove.process_request("So it is")
    assert reply.text == "From the other one."
    assert "email" in [tool.name for tool in other.requests[0].tools]


async def _entering(adapter: MemoryGoals) -> str:
    """Begin, so that nobody has told yet that the first goal was entered; its transition."""
    await runner(adapter).start(TRIP)
    await runner(adapter).revise(program(goal("pack", "bag"), *TRIP.goals), if_version=1, reason="first of all")

    def crash(_ctx: HookContext) -> None:
        raise KeyError

    with pytest.raises(GoalPostCommitError):
        await runner(adapter, hooks=GoalHooks(on_enter=crash)).update("pack", completed=["bag"], reason="packed")
    return (await adapter.dispatches(SCOPE, unfinished=True))[0].transition.id


def test_a_hook_of_a_worker_that_died_holds_up_no_request_and_is_run_by_the_first_one_after_its_lease() -> None:
    clock, entered = VirtualClock(), list[float]()

    def now() -> datetime:
        return datetime(2026, 11, 2, 10, tzinfo=UTC) + timedelta(seconds=clock.now())

    async def main() -> None:
        adapter = MemoryGoals()
        edge = await _entering(adapter)
        await adapter.claim(SCOPE, edge, owner="dead", lease_s=LEASE_S, now=now())
        glove, model = talking("Hello.", "Still here.")
        hooks = GoalHooks(on_enter=lambda ctx: entered.append(clock.now()))
        use_goal_runner(glove, adapter, scope=SCOPE, hooks=hooks, now=now)
        await glove.process_request("Hello")
        assert (clock.now(), entered) == (0.0, [])
        assert "\nStill running elsewhere: what follows from goal plan being begun. " in _seen(model, 0)
        await clock.sleep(LEASE_S)
        await glove.process_request("Hello?")
        assert entered == [LEASE_S]
        assert "running elsewhere" not in _seen(model, 1)

    clock.run(main())


async def test_what_another_worker_has_ended_is_not_said_to_run_any_more() -> None:
    adapter = MemoryGoals()
    edge = await _entering(adapter)
    at = datetime(2026, 11, 2, tzinfo=UTC)
    await adapter.claim(SCOPE, edge, owner="other", lease_s=LEASE_S, now=at)

    async def other_ends() -> None:
        await adapter.settle(SCOPE, edge, owner="other")

    hooks = GoalHooks(on_enter=lambda ctx: None)
    mounted, model, _ = _mounted([other_ends, _call("status")], "Hello.", adapter=adapter, hooks=hooks)
    await mounted.glove.process_request("Hello")
    assert ["running elsewhere" in _seen(model, call) for call in (0, 1)] == [True, False]
