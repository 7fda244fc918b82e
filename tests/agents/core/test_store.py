from __future__ import annotations

from typing import Any

from agents.core.store import inbox_of, permissions_of, results_of, sub_agents_of, tasks_of, usage_of
from agents.stores.memory import MemoryStore

GROUPS = (usage_of, results_of, tasks_of, permissions_of, inbox_of, sub_agents_of)


def test_a_store_with_all_methods_is_given_as_every_group() -> None:
    store = MemoryStore()
    assert all(group(store) is store for group in GROUPS)


def test_a_group_is_there_only_with_all_its_methods() -> None:
    class Half:
        async def get_tasks(self) -> list[Any]:
            return []

        async def add_tasks(self, tasks: list[Any]) -> None: ...

        update_task = None

    assert tasks_of(Half()) is None
    assert all(group(object()) is None for group in GROUPS)


def test_a_wrapper_that_hands_everything_on_has_the_groups_of_what_it_wraps() -> None:
    class Wrapper:
        def __init__(self, store: object) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

    wrapped = Wrapper(MemoryStore())
    assert all(group(wrapped) is wrapped for group in GROUPS)
    assert all(group(Wrapper(object())) is None for group in GROUPS)
