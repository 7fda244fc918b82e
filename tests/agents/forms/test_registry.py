from __future__ import annotations

import asyncio

import pytest

from agents.forms.definition import Form
from agents.forms.errors import FormDefinitionError, FormNotFoundError
from agents.forms.registry import FormRegistry, Listing
from tests.agents.forms.trip import Desk, Trip, booking


async def test_telling_what_there_is_loads_nothing_and_a_form_is_loaded_once() -> None:
    loaded: list[str] = []

    async def load() -> Form[Desk]:
        loaded.append("trip-booking")
        await asyncio.sleep(0)
        return booking

    registry = FormRegistry().register("trip-booking", name="Trip", description="A flight.", load=load)
    assert registry.listings == (Listing(id="trip-booking", name="Trip", description="A flight."),)
    assert loaded == []
    assert await asyncio.gather(*(registry.load("trip-booking") for _ in range(3))) == [booking] * 3
    assert loaded == ["trip-booking"]
    registry.invalidate("another")
    await registry.load("trip-booking")
    registry.invalidate()
    await registry.load("trip-booking")
    assert loaded == ["trip-booking"] * 2


async def test_a_form_that_is_unknown_ill_defined_or_another_is_refused() -> None:
    registry = FormRegistry(booking, Form("broken", version=1, steps=[], name="B"))
    registry.register("alias", name="A", load=lambda: booking)
    with pytest.raises(FormNotFoundError, match="'trip-booking', 'broken', 'alias'"):
        await registry.load("nowhere")
    with pytest.raises(FormDefinitionError, match="no steps"):
        await registry.load("broken")
    with pytest.raises(FormDefinitionError) as refused:
        await registry.load("alias")
    assert refused.value.ids == ("alias", "trip-booking")
    with pytest.raises(FormDefinitionError):
        registry.add(Form("trip-booking", version=1, steps=[Trip], name="T"))
