"""The command `serve`: the application on uvicorn, from the first connection to the last call.

Above: ``cli``. Below: ``app``. Engines are loaded while the port answers already; SIGTERM lets calls end, a second one
does not.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from voice_server.app import create_app
from voice_server.errors import UsageError
from voice_server.guard import is_loopback
from voice_server.service import Front, Readiness
from voice_server.settings import Settings
from voice_server.telemetry.export import export_traces

__all__ = ["address", "check_address", "listen", "run", "server"]

MOST_MESSAGE = 64 * 1024
"""Bytes of a message on a socket: two seconds of audio at 16 kHz, or the longest command."""

SEND_BUFFER = 64 * 1024
"""Bytes the system keeps of what a client does not read: a second of audio, so that a slow reader is noticed."""

UNREAD_MS = 15_000
"""Milliseconds after which a connection whose client takes nothing is given up by the system."""

PING_EVERY_S = 5.0
"""Seconds between two pings of a socket."""

PONG_S = 10.0
"""Seconds a pong may take: longer than a mobile network changes masts. Then the call waits for its client."""

GOING_S = 5.0
"""Seconds that requests may still take when all calls are over."""


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until a signal comes. Blocking.

    Args:
        settings: what was asked.
        say: tells whoever started it, in sentences.

    Raises:
        UsageError: the address cannot be had, the service cannot be opened, or traces are asked for that cannot be
            sent; the sentence says why.
    """
    check_address(settings)
    listening = listen(settings)
    with listening, _traces():
        where = f"http://{address(settings.host, listening.getsockname()[1])}"

        def watch(front: Front) -> None:
            match front.readiness:
                case Readiness.READY:
                    say(f"ready: {where}")
                case Readiness.DRAINING:
                    say(f"going away when calls are over, in {settings.drain_s:g} s at the latest; again: at once")
                case Readiness.FAILED:
                    running.should_exit = True
                case Readiness.LOADING:
                    pass

        front = Front(settings, watch=watch)
        running = server(front)
        say(f"listening on {where}; the engines are being loaded")
        running.run(sockets=[listening])
    if front.readiness is Readiness.FAILED:
        raise UsageError(front.reason)


@contextmanager
def _traces() -> Iterator[None]:
    """Let traces go where OpenTelemetry's variables say, the last ones too."""
    finish = export_traces(os.environ)
    try:
        yield
    finally:
        finish()


def server(front: Front) -> _Server:
    """Make a server; ``run`` or ``serve`` it on sockets of yours."""
    return _Server(
        front,
        uvicorn.Config(
            create_app(front),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nobody asks where a client is
            ws="websockets-sansio",
            ws_max_size=MOST_MESSAGE,
            ws_per_message_deflate=False,  # audio does not shrink, and every connection would keep a window for it
            ws_ping_interval=PING_EVERY_S,
            ws_ping_timeout=PONG_S,
            timeout_graceful_shutdown=round(GOING_S),
        ),
    )


def check_address(settings: Settings) -> None:
    """Refuse to be reached from elsewhere without a key.

    Raises:
        UsageError: it would be.
    """
    if settings.key is None and not is_loopback(settings.host):
        raise UsageError(
            f"--host {settings.host}: a server without a key listens on this machine only, because whoever reaches it "
            "may talk to the agent; set VOICE_KEY, or leave --host out"
        )


def address(host: str, port: int) -> str:
    """Write an address as it stands in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listen(settings: Settings) -> socket.socket:
    """Take the address that was asked for.

    Raises:
        UsageError: it cannot be had.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"--host {settings.host}: {error.strerror}; name an address of this machine") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if sys.platform == "linux":
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listening.bind(place)
    except OSError as error:
        listening.close()
        raise UsageError(_cannot_bind(settings, error)) from error
    return listening


def _cannot_bind(settings: Settings, error: OSError) -> str:
    where = address(settings.host, settings.port)
    if error.errno == errno.EADDRINUSE:
        return f"{where} is taken by another program; end that one, or use another --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{where}: this machine has no such address; use --host 127.0.0.1, or 0.0.0.0 for all it has"
    return f"{where} cannot be listened on: {error.strerror}"


class _Server(uvicorn.Server):
    """Lets calls end before it closes connections."""

    def __init__(self, front: Front, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._front = front

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals as wishes: the process then exits as one that has done its work."""
        loop = asyncio.get_running_loop()
        in_charge = threading.current_thread() is threading.main_thread()
        signals = (signal.SIGINT, signal.SIGTERM) if in_charge else ()
        for number in signals:
            loop.add_signal_handler(number, self._asked_to_go)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, still saying to whoever asks that no calls are taken, then close everything."""
        await self._front.drain()
        await super().shutdown(sockets)

    def _asked_to_go(self) -> None:
        if self.should_exit:
            self._front.hurry()
        self.should_exit = True
