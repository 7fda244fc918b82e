"""`make livekit`: a LiveKit server for whoever develops, built when it is not there yet, until Ctrl-C."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
from contextlib import suppress
from pathlib import Path

from tests.livekit.program import VERSION, BuildError, build, cache, find
from tests.livekit.server import LiveKitServer, Ports


def main() -> int:
    """Build it, and run it unless only the former was asked for. The status is 1 when it cannot be had."""
    asked = _arguments()
    try:
        if find() is None:
            _say(f"Building LiveKit's server {VERSION} (two minutes, once)")
        program = build()
    except BuildError as error:
        _say(f"make: {error}")
        return 1
    return 0 if asked.build else _run(program, asked)


def _run(program: Path, asked: argparse.Namespace) -> int:
    server = LiveKitServer(
        program,
        cache(),
        ports=Ports(http=asked.port, tcp=asked.tcp_port, udp=asked.udp_port),
        api_key="devkey",
        api_secret=_secret(),
        webhooks=asked.webhook,
    )
    server.log_file.unlink(missing_ok=True)
    try:
        server.start()
    except RuntimeError as error:
        _say(f"make: {error}")
        return 1
    print(f"export LIVEKIT_URL={server.url}")
    print(f"export LIVEKIT_API_KEY={server.api_key}")
    print(f"export LIVEKIT_API_SECRET={server.api_secret}", flush=True)
    _say(f"LiveKit {VERSION} runs, on this machine only, until Ctrl-C; it writes {server.log_file}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be told to go is as good as Ctrl-C
    with suppress(KeyboardInterrupt):
        return server.wait()
    server.stop()
    return 0


def _secret() -> str:
    """Give this machine's secret, so that what was set once goes on to fit."""
    kept = cache() / "secret"
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_hex(24))
    return kept.read_text()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make livekit", description=main.__doc__)
    parser.add_argument("--build", action="store_true", help="only build it")
    parser.add_argument("--port", type=int, default=7880, help="for clients (7880)")
    parser.add_argument("--tcp-port", type=int, default=7881, help="for media where UDP does not get through (7881)")
    parser.add_argument("--udp-port", type=int, default=7882, help="for media (7882)")
    parser.add_argument(
        "--webhook", metavar="URL", action="append", default=[], help="whom to tell what happens in rooms"
    )
    return parser.parse_args()


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
