"""The checks that ship for forms, run on everything that ships."""

from __future__ import annotations

from collections import defaultdict
from inspect import iscoroutinefunction
from typing import Any

import pytest

from agents.forms import conformance
from agents.forms.adapter import MemoryForms
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.forms import SqlForms
from agents.stores.sql.schema import forms


@pytest.mark.parametrize("check", conformance.FORMS, ids=lambda check: check.__name__)
async def test_memory(check: Any) -> None:
    places: dict[str, MemoryForms] = defaultdict(MemoryForms)
    await check(places.__getitem__)


def test_every_check_is_run() -> None:
    written = {
        name for name, value in vars(conformance).items() if iscoroutinefunction(value) and not name.startswith("_")
    }
    assert written == {check.__name__ for check in conformance.FORMS}


@pytest.mark.parametrize("check", conformance.FORMS, ids=lambda check: check.__name__)
async def test_sql(check: Any, sql: SqlConversations) -> None:
    await sql.database.write(lambda connection: connection.execute(forms.delete()))
    await check(lambda namespace: SqlForms(sql.database, namespace))
