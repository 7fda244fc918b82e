import pytest

from agents.core.errors import DefinitionError
from agents.goals.definition import define_goal_program
from tests.agents.goals.trip import TRIP


def test_a_program_is_read_from_plain_data_and_texts_are_trimmed() -> None:
    read = define_goal_program(
        {
            "key": "trip",
            "goals": [
                {"key": "plan", "title": " Plan ", "objective": "Know it", "items": [{"key": "route", "label": " R "}]}
            ],
        }
    )
    assert (read.goals[0].title, read.goals[0].items[0].label) == ("Plan", "R")


def test_a_program_without_goals_is_one() -> None:
    assert define_goal_program({"key": "empty", "goals": []}).goals == ()


@pytest.mark.parametrize(
    ("where", "value", "about"),
    [
        (("key",), "", "key"),
        (("key",), "-trip", "key"),
        (("key",), "t" * 65, "key"),
        (("goals", 1, "key"), "plan", "two goals 'plan'"),
        (("goals", 0, "items", 1, "key"), "route", "two items 'route'"),
        (("goals", 0, "title"), "  ", "title"),
        (("goals", 0, "objective"), "x" * 4001, "objective"),
        (("goals", 0, "items"), [], "items"),
        (("goals", 0, "hooks"), {"onEnter": "x"}, "hooks"),
        (("goals", 0, "items", 0, "label"), "x" * 1001, "label"),
    ],
)
def test_a_mistake_is_refused_by_name(where: tuple[str | int, ...], value: object, about: str) -> None:
    data = TRIP.model_dump(mode="json")
    at = data
    for step in where[:-1]:
        at = at[step]  # type: ignore[index]
    at[where[-1]] = value  # type: ignore[index]
    with pytest.raises(DefinitionError) as refused:
        define_goal_program(data)
    assert about in str(refused.value)


def test_every_mistake_is_named() -> None:
    with pytest.raises(DefinitionError) as refused:
        define_goal_program({"key": "a b", "goals": [{"key": "x", "items": []}]})
    assert len(refused.value.mistakes) == 4


def test_nothing_is_locked_and_retired() -> None:
    data = TRIP.model_dump(mode="json")
    data["goals"][0] |= {"locked": True, "retired": True}
    with pytest.raises(DefinitionError, match="locked and retired"):
        define_goal_program(data)
