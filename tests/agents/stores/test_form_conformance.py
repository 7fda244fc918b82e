"""The checks that ship for forms, run on everything that ships."""

from __future__ import annotations

from collections import defaultdict
from inspect import iscoroutinefunction
from typing import Any

import pytest

from agents.forms.adapter import MemoryForms
from agents.stores.conformance import forms


@pytest.mark.parametrize("check", forms.FORMS, ids=lambda check: check.__name__)
async def test_memory(check: Any) -> None:
    places: dict[str, MemoryForms] = defaultdict(MemoryForms)
    await check(places.__getitem__)


def test_every_check_is_run() -> None:
    written = {
        name for name, value in vars(forms).items() if iscoroutinefunction(value) and value.__module__ == forms.__name__
    }
    assert written == {check.__name__ for check in forms.FORMS}
