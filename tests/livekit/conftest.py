from __future__ import annotations

from pathlib import Path

import pytest

from voice_server.house import House
from voice_server.settings import Settings


@pytest.fixture(scope="session")
def house() -> House:
    return House.load(Settings(model="offline"))


_HERE = Path(__file__).parent

_UPSTREAM = "ignore:Exception ignored in. <function FfiHandle.__del__"
"""The SDK's native side drops some handles by itself, and its Python side then complains of itself, in a finaliser."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.filterwarnings(_UPSTREAM))
