from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable

import pytest

from tests.livekit.server import LiveKitServer, Ports

pytestmark = pytest.mark.room


def _status(server: LiveKitServer) -> int | None:
    try:
        with urllib.request.urlopen(server.url.replace("ws:", "http:"), timeout=2) as answer:
            return int(answer.status)
    except urllib.error.URLError:
        return None


def test_the_server_of_all_tests_answers(livekit_server: LiveKitServer) -> None:
    assert _status(livekit_server) == 200
    assert len(livekit_server.api_secret) >= 32


def test_a_server_of_one_s_own_is_killed_and_comes_back_where_it_was(
    livekit_server: LiveKitServer, start_livekit: Callable[..., LiveKitServer]
) -> None:
    own = start_livekit()
    assert own.url != livekit_server.url
    own.kill()
    assert _status(own) is None
    own.start()
    assert _status(own) == 200
    assert _status(livekit_server) == 200


def test_a_server_that_cannot_start_says_why(
    livekit_server: LiveKitServer, start_livekit: Callable[..., LiveKitServer]
) -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        start_livekit(ports=Ports(udp=livekit_server.ports.udp))


def test_a_server_is_not_taken_for_another_one(
    livekit_server: LiveKitServer, start_livekit: Callable[..., LiveKitServer]
) -> None:
    with pytest.raises(RuntimeError, match="another program is at"):
        start_livekit(ports=livekit_server.ports)
