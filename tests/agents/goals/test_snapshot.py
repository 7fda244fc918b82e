from agents.goals.definition import define_goal_program
from agents.goals.snapshot import GUIDANCE, render_goals
from tests.agents.goals.trip import goal, item, program, runner


def test_without_a_program_there_is_nothing_to_show() -> None:
    assert render_goals(None) == ""


async def test_the_snapshot_is_written_as_documented() -> None:
    goals = runner()
    await goals.start(
        define_goal_program(
            program(
                goal("plan", "route"),
                goal("old", "x", retired=True),
                goal("book", item("confirmed", locked=True), "booked", item("gone", retired=True)),
                goal("aftercare", "seats", locked=True),
            )
        )
    )
    await goals.update("plan", completed=["route"], reason="Said")
    await goals.update("book", deferred=["booked"], reason="Tomorrow")
    assert render_goals(await goals.status()) == "\n".join(
        [
            "GOALS — trip (version 3; active)",
            GUIDANCE,
            "1. plan it [plan; completed]",
            "3. book it [book; active]",
            "   Objective: Have the book",
            "   - confirmed: The confirmed [pending] (locked)",
            "   - booked: The booked [deferred] — Tomorrow",
            "4. aftercare it [aftercare; pending] (locked)",
            "   Objective: Have the aftercare",
            "   - seats: The seats [pending]",
            "Deferred follow-ups (remain visible after completion):",
            "- book/booked: The booked — Tomorrow",
        ]
    )
