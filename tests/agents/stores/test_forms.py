"""The checks that ship for forms, run on everything that ships."""

from __future__ import annotations

from collections import defaultdict
from inspect import iscoroutinefunction
from typing import Any

import pytest
from sqlalchemy import Table, select

from agents.core.errors import StoreError
from agents.forms import conformance
from agents.forms.adapter import MemoryForms
from agents.forms.registry import FormRegistry
from agents.forms.runner import FormRunner
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.forms import SqlForms
from agents.stores.sql.schema import form_revisions, forms
from tests.agents.forms.trip import Desk, booking


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


@pytest.mark.parametrize("table", [forms, form_revisions], ids=lambda table: table.name)
async def test_a_form_that_is_damaged_in_the_database_is_told_and_left_as_it_is(
    table: Table, sql: SqlConversations
) -> None:
    await sql.database.write(lambda connection: connection.execute(forms.delete()))
    runner = FormRunner(FormRegistry(booking), SqlForms(sql.database, "c"), subject="caller", deps=Desk())
    await runner.start("trip-booking", {"origin": "Nairobi"})
    await sql.database.write(lambda connection: connection.execute(table.update().values(payload='{"id": 5')))
    again = FormRunner(FormRegistry(booking), SqlForms(sql.database, "c"), subject="caller", deps=Desk())
    for attempt in (again.status(), again.fill({"origin": "Mombasa"})):
        with pytest.raises(StoreError, match="cannot be read"):
            await attempt
    rows = await sql.database.read(select(table.c.payload))
    assert [row.payload for row in rows] == ['{"id": 5']
