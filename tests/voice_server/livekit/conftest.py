from __future__ import annotations

import pytest

from tests.livekit.server import LiveKitServer
from voice_server.livekit.access import Access


@pytest.fixture(scope="session")
def access(livekit_server: LiveKitServer) -> Access:
    """What opens the server of all tests."""
    return Access(url=livekit_server.url, api_key=livekit_server.api_key, api_secret=livekit_server.api_secret)
