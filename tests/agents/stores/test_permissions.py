from __future__ import annotations

import pytest

from agents.stores.permissions import permission_key


def test_the_same_input_in_another_order_is_the_same_key() -> None:
    assert permission_key("rm", {"a": 1, "b": [2]}) == permission_key("rm", {"b": [2], "a": 1})


def test_tools_and_inputs_have_keys_of_their_own() -> None:
    inputs: tuple[object, ...] = (None, {}, {"a": 1}, {"a": "1"}, {"a": True}, [1], "null::")
    assert len({permission_key(name, value) for name in ("rm", "rm::null") for value in inputs}) == 2 * len(inputs)


def _nested() -> list[object]:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize("value", [object(), {1, 2}, {(1, 2): 3}, _nested()], ids=["object", "set", "key", "depth"])
def test_an_input_that_is_no_json_counts_as_none(value: object) -> None:
    assert permission_key("rm", value) == permission_key("rm")
