"""A real server for the browser to talk to, and a cable between them that can be cut."""

from __future__ import annotations

import os
import re
import selectors
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Cable", "serve"]

READY_WITHIN_S = 60.0
"""Seconds: engines are loaded in three, on a machine with nothing else to do."""


@contextmanager
def serve(
    folder: Path, *, web: Path | None = None, livekit: Mapping[str, str] | None = None, **settings: str
) -> Iterator[str]:
    """Run `voice-server serve` on a port of its own until the block ends.

    Args:
        folder: where its log is written.
        web: where its page is; by default that of the product.
        livekit: ``LIVEKIT_…`` variables; by default it has no rooms.
        settings: ``VOICE_…`` variables, in lower case and without the prefix; the desk answers by default.

    Yields:
        Its address, once it is ready.
    """
    ours = ("VOICE_", "LIVEKIT_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= livekit or {}
    settings = {"model": "offline", "agent": "agents.desk:create", **settings}
    environment |= {f"VOICE_{name.upper()}": value for name, value in settings.items()}
    log = folder / "server.log"
    with log.open("wb") as written:
        program = [str(Path(sys.executable).with_name("voice-server"))]
        if web is not None:
            program = [sys.executable, "-m", "tests.browser.unbuilt", str(web)]
        process = subprocess.Popen(
            [*program, "serve", "--port", "0"], env=environment, stdout=written, stderr=subprocess.STDOUT
        )
        try:
            yield _await_ready(process, log)
        finally:
            process.kill()
            process.wait()


def _await_ready(process: subprocess.Popen[bytes], log: Path) -> str:
    given_up = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < given_up and process.poll() is None:
        if (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())) and _ready(found[0]):
            return found[0]
        time.sleep(0.1)
    raise RuntimeError(f"the server did not get ready: {log.read_text()}")


def _ready(url: str) -> bool:
    with suppress(urllib.error.URLError), urllib.request.urlopen(f"{url}/ready", timeout=5) as answer:
        return bool(answer.status == 200)
    return False


class Cable:
    """Passes bytes between a browser and a server, until it is cut; then nobody is told, and nothing gets through.

    Args:
        to: the server's address.
    """

    def __init__(self, to: str) -> None:
        self._to = ("127.0.0.1", int(to.rpartition(":")[2]))
        self._selector = selectors.DefaultSelector()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._whole = threading.Event()
        self._whole.set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cable")
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection, and refuse new ones."""
        self._whole.clear()

    def mend(self) -> None:
        """Take new connections again."""
        self._whole.set()

    def close(self) -> None:
        """Take it away."""
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.is_set():
            for key, _ in self._selector.select(timeout=0.02):
                self._carry(key)
            if not self._whole.is_set():
                self._break()
        self._break()
        self._selector.close()
        self._listening.close()

    def _carry(self, key: selectors.SelectorKey) -> None:
        if key.data is None:
            return self._connect()
        data = b""
        with suppress(OSError):
            data = key.fileobj.recv(65536)  # type: ignore[union-attr]
            key.data.sendall(data)
        if not data:
            self._drop(key.fileobj, key.data)  # type: ignore[arg-type]
        return None

    def _connect(self) -> None:
        near, _ = self._listening.accept()
        if not self._whole.is_set():
            near.close()
            return
        far = socket.create_connection(self._to)
        self._selector.register(near, selectors.EVENT_READ, far)
        self._selector.register(far, selectors.EVENT_READ, near)

    def _break(self) -> None:
        for key in tuple(self._selector.get_map().values()):
            if key.data is not None:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]

    def _drop(self, *ends: socket.socket) -> None:
        for end in ends:
            self._selector.unregister(end)
            end.close()
