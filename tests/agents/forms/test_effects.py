from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agents.forms.effects import Complete, Effect, Fail, Jump, Patch, Terminate, as_effects, read_effects, write_effects
from tests.agents.forms.trip import Trip


@pytest.mark.parametrize(
    "effect", [Patch({"a": [1, None]}), Fail("No."), Jump("trip"), Complete(), Terminate("Enough.")]
)
def test_effects_survive_being_stored(effect: Effect) -> None:
    assert read_effects(write_effects([effect, effect])) == (effect, effect)


def test_what_json_has_no_word_for_becomes_what_it_has() -> None:
    stored = read_effects(write_effects([Patch({"day": date(2026, 11, 2)}), Jump(Trip)]))
    assert stored == (Patch({"day": "2026-11-02"}), Jump("trip"))
    assert read_effects(None) == ()


@pytest.mark.parametrize(
    ("returned", "effects"),
    [
        (None, ()),
        ([], ()),
        (Complete(), (Complete(),)),
        ((Complete(), Jump("a")), (Complete(), Jump("a"))),
        ([Patch({"a": 1}), Fail("No."), Complete()], (Fail("No."),)),
    ],
)
def test_whatever_an_executor_returns_gets_one_shape(returned: Any, effects: Any) -> None:
    assert as_effects(returned) == effects


@pytest.mark.parametrize("returned", ["done", {"patch": {}}, [None], 5])
def test_what_is_no_effect_is_refused(returned: Any) -> None:
    with pytest.raises(TypeError, match="an executor returned"):
        as_effects(returned)
