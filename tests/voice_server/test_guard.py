from __future__ import annotations

import pytest
from pydantic import SecretStr
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from voice_server.guard import LoopbackOnly, fits, is_loopback


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.1", "::1", "[::1]"])
def test_what_can_only_be_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", "0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", "127.0.0.1.example.org", "2130706433"],
)
def test_what_may_be_another_machine(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("offered", [None, "", "open", "open sesame ", "open sesamé"])
def test_a_wrong_key_does_not_fit(offered: str | None) -> None:
    assert not fits(SecretStr("open sesame"), offered)


def test_the_right_key_fits_and_without_one_any_does() -> None:
    assert fits(SecretStr("open sesame"), "open sesame")
    assert fits(None, None)
    assert fits(None, "whatever")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "localhost:8080"}, 200),
        ({"host": "127.0.0.1"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "localhost", "origin": "http://localhost:5173"}, 200),
        ({"host": "rebound.example.org"}, 403),
        ({"host": "[::1"}, 403),
        ({"host": "localhost", "origin": "https://example.org"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
        ({"host": "localhost", "origin": "http://localhost.example.org"}, 403),
    ],
)
def test_a_server_without_key_talks_to_this_machine_only(headers: dict[str, str], status: int) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("hello")(scope, receive, send)

    answer = TestClient(LoopbackOnly(application)).get("/", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "forbidden"
        assert "VOICE_KEY" in answer.json()["message"]
