"""A server on a loopback port, in a thread of the test's process, and how to ask it something."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voice_server.house import House
from voice_server.serve import server
from voice_server.service import Front, Readiness
from voice_server.settings import Settings, load_settings

__all__ = ["Answer", "Served", "ask", "serving"]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Served:
    port: int
    front: Front

    @property
    def voice(self) -> str:
        return f"ws://127.0.0.1:{self.port}/api/voice"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return ask(self.port, method, path, body, **headers)


@contextmanager
def serving(house: House, **settings: Any) -> Iterator[Served]:
    """Serve with engines that are loaded already; the desk answers unless another agent is named."""
    wanted = load_settings(model="offline", agent="agents.desk:create")
    wanted = wanted.model_copy(update={"drain_s": 0.0, **_secret(settings)})
    front = Front(wanted, load=lambda _: house)
    listening = socket.create_server(("127.0.0.1", 0))
    running = server(front)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, name="server")
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while front.readiness is Readiness.LOADING and time.monotonic() < deadline:
            time.sleep(0.02)
        assert front.readiness is Readiness.READY, front.reason
        yield Served(port=listening.getsockname()[1], front=front)
    finally:
        running.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def ask(port: int, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Make a request."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return Answer(answer.status, dict(answer.headers), _read(answer.read()))
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, dict(refused.headers), _read(refused.read()))


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


def _secret(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: Settings(key=value).key if name == "key" else value for name, value in settings.items()}
