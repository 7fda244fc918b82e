"""A LiveKit server on this machine: everything on loopback, nothing asked of the network."""

from __future__ import annotations

import json
import random
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

__all__ = ["LiveKitServer", "Ports"]

NOT_GIVEN_OUT = range(20_000, 32_000)
"""Ports below those that Linux gives to outgoing connections by itself (32768 and above)."""

START_S = 20.0
"""Seconds it may take to answer; under one on a machine with nothing else to do."""


def _free(kind: socket.SocketKind) -> int:
    """Find a free port that no outgoing connection is given meanwhile: a server that was killed needs it again."""
    for port in random.sample(NOT_GIVEN_OUT, 100):
        with socket.socket(socket.AF_INET, kind) as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"of 100 ports between {NOT_GIVEN_OUT[0]} and {NOT_GIVEN_OUT[-1]} none is free")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where it listens; free ones by default."""

    http: int = field(default_factory=lambda: _free(socket.SOCK_STREAM))
    tcp: int = field(default_factory=lambda: _free(socket.SOCK_STREAM))
    udp: int = field(default_factory=lambda: _free(socket.SOCK_DGRAM))


class LiveKitServer:
    """One server, which can be killed and started again: on the same ports, with the same key, knowing nothing more.

    Args:
        program: what is run.
        folder: where its configuration and its log are.
        ports: where it listens.
        api_key: by default one of its own.
        api_secret: by default one of its own; at least 32 characters.
        webhooks: URLs that are told, signed with the key, what happens in rooms.

    Attributes:
        url: for clients.
        api_key: who may make tokens.
        api_secret: what they are signed with.
        log_file: what it writes.
    """

    def __init__(
        self,
        program: Path,
        folder: Path,
        *,
        ports: Ports | None = None,
        api_key: str | None = None,
        api_secret: str | None = None,
        webhooks: Sequence[str] = (),
    ) -> None:
        self.ports = ports or Ports()
        self.url = f"ws://127.0.0.1:{self.ports.http}"
        self.api_key = api_key or f"key-{secrets.token_hex(4)}"
        self.api_secret = api_secret or secrets.token_hex(24)
        self.log_file = folder / "livekit.log"
        self._program = program
        self._folder = folder
        self._webhooks = tuple(webhooks)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """What it wrote until now."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    @property
    def settings(self) -> dict[str, Any]:
        """What our server is told, to use it."""
        return {
            "livekit_url": self.url,
            "livekit_api_key": self.api_key,
            "livekit_api_secret": SecretStr(self.api_secret),
        }

    def start(self) -> None:
        """Start it, and wait until it answers. Blocking: on a loop use a thread.

        Raises:
            RuntimeError: it does not.
        """
        if self._process is not None:
            raise RuntimeError("it runs already")
        if self._answers():
            raise RuntimeError(f"another program is at {self.url}; end that one, or take other ports")
        self._process = self._run()
        given_up = time.monotonic() + START_S
        while time.monotonic() < given_up and self._process.poll() is None:
            if self._answers():
                return
            time.sleep(0.02)
        self.kill()
        raise RuntimeError(f"LiveKit's server did not start: {self.log[-2_000:]}")

    def kill(self) -> None:
        """End it as a crash does: nobody is told. Idempotent."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as it is meant to: it tells its clients. Idempotent."""
        self._end(signal.SIGTERM)

    def wait(self) -> int:
        """Wait until it ends by itself, and give its status."""
        assert self._process is not None
        return self._process.wait()

    def configuration(self) -> dict[str, Any]:
        """What it is told; LiveKit's names."""
        told: dict[str, Any] = {
            "port": self.ports.http,
            "bind_addresses": ["127.0.0.1"],
            "keys": {self.api_key: self.api_secret},
            "rtc": {
                "tcp_port": self.ports.tcp,
                "udp_port": self.ports.udp,
                "node_ip": "127.0.0.1",
                "use_external_ip": False,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": ["lo"]},
                "stun_servers": [],
            },
            "logging": {"level": "info"},
            "room": {"auto_create": True},
        }
        if self._webhooks:
            told["webhook"] = {"api_key": self.api_key, "urls": list(self._webhooks)}
        return told

    def _run(self) -> subprocess.Popen[bytes]:
        configuration = self._folder / "livekit.yaml"
        configuration.touch(mode=0o600)
        configuration.write_text(json.dumps(self.configuration()))  # which is YAML, too
        with self.log_file.open("ab") as log:
            return subprocess.Popen(
                [str(self._program), "--config", str(configuration)],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _answers(self) -> bool:
        with (
            suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(self.url.replace("ws:", "http:"), timeout=1) as answer,
        ):
            return bool(answer.status == 200)
        return False

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
