from __future__ import annotations

import pytest

from voice_server.house import House
from voice_server.settings import Settings


@pytest.fixture(scope="session")
def house() -> House:
    return House.load(Settings(model="offline"))
