"""The checks that ship, run on every store that ships."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any

import pytest

from agents.core.store import Conversations
from agents.stores import conformance
from agents.stores.conformance import groups, messages
from agents.stores.memory import MemoryConversations, MemoryStore
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.store import SqlStore


@pytest.mark.parametrize("check", conformance.checks_for(MemoryStore), ids=lambda check: check.__name__)
async def test_memory(check: Any) -> None:
    await check(MemoryConversations().open)


@pytest.mark.parametrize("check", conformance.checks_for(SqlStore), ids=lambda check: check.__name__)
async def test_sql(check: Any, sql: SqlConversations) -> None:
    await check(sql.open)


@pytest.mark.parametrize("check", conformance.CONVERSATIONS, ids=lambda check: check.__name__)
async def test_memory_conversations(check: Any) -> None:
    await check(MemoryConversations())


@pytest.mark.parametrize("check", conformance.CONVERSATIONS, ids=lambda check: check.__name__)
async def test_sql_conversations(check: Any, sql: SqlConversations) -> None:
    place: Conversations = sql
    await check(place)


def test_every_check_is_in_a_group_and_both_stores_have_them_all() -> None:
    written = {
        name
        for module in (messages, groups)
        for name, value in vars(module).items()
        if iscoroutinefunction(value) and value.__module__ == module.__name__
    }
    for store in (MemoryStore, SqlStore):
        assert written == {check.__name__ for check in conformance.checks_for(store)}


def test_a_store_without_a_group_is_not_checked_for_it() -> None:
    class Bare:
        get_tasks = add_tasks = None

    assert conformance.checks_for(Bare) == conformance.MESSAGES
