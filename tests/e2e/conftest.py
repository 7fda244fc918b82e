from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.stage import Stage
from tests.fixtures.human import MissingPackageError, spelled
from voice_server.house import House
from voice_server.settings import Settings

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def house() -> House:
    return House.load(Settings(model="offline"))


@pytest.fixture(scope="session")
def stage(house: House, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(house, tmp_path_factory.mktemp("callers"))


@pytest.fixture(scope="session")
def people() -> None:
    """Skip where the recordings of people are not installed."""
    try:
        spelled("a")
    except MissingPackageError as missing:
        pytest.skip(str(missing))
