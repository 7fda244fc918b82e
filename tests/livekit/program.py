"""The program: LiveKit's own server, built from its published source into the user's cache, once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["INSTALL", "VERSION", "BuildError", "build", "cache", "find"]

VERSION = "1.13.5"
INSTALL = "make livekit"
"""What brings it."""

SOURCE = f"github.com/livekit/livekit-server/cmd/server@v{VERSION}"
COMPILER = "1.26.8"
"""Go that builds it where there is only one from before 1.21, which cannot fetch a newer one by itself."""

BUILD_S = 1_200
"""Seconds it may take: two minutes on two cores with nothing else to do."""

WITHOUT_GO = f"""\
LiveKit's server is built with Go, and there is none here. Any of these does:
  a package of Go        apt-get install golang-go, brew install go; then this again
  a package of LiveKit   brew install livekit, then: livekit-server --dev
  a container            docker run --rm --net=host livekit/livekit-server:v{VERSION} --dev
  LiveKit Cloud          make a project there
For the latter three set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET to what they tell you
(with --dev: ws://127.0.0.1:7880, devkey and secret)."""


class BuildError(Exception):
    """It cannot be built; the message says what to do."""


def cache() -> Path:
    """Where it is kept, with what belongs to it."""
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home or Path.home() / ".cache") / "glove-voice" / f"livekit-{VERSION}"


def find() -> Path | None:
    """Find it where it is kept."""
    program = cache() / "server"
    return program if os.access(program, os.X_OK) else None


def build() -> Path:
    """Build it, unless it is there.

    Raises:
        BuildError: there is no Go, or it failed.
    """
    if (program := find()) is not None:
        return program
    go = shutil.which("go")
    if go is None:
        raise BuildError(WITHOUT_GO)
    cache().mkdir(parents=True, exist_ok=True)
    # In a folder of its own and then put in its place: nobody finds half a program.
    with tempfile.TemporaryDirectory(dir=cache(), prefix="build-") as folder:
        _go(_able(go, Path(folder)), "install", SOURCE, GOBIN=folder, CGO_ENABLED="0")  # no C compiler is needed
        return (Path(folder) / "server").rename(cache() / "server")


def _able(go: str, folder: Path) -> str:
    """Give a Go that can build it: what is there, if that can fetch a newer one by itself, else a newer one."""
    version = re.search(r"go(\d+)\.(\d+)", _go(go, "env", "GOVERSION"))
    if version is None or (int(version[1]), int(version[2])) >= (1, 21):
        return go
    system, processor = _go(go, "env", "GOOS", "GOARCH").split()
    name = f"golang.org/toolchain@v0.0.1-go{COMPILER}.{system}-{processor}"
    _go(go, "mod", "download", name)
    return _unpack(Path(_go(go, "env", "GOMODCACHE")) / name, folder / "go")


def _unpack(module: Path, to: Path) -> str:
    """Make of a toolchain's module what Go itself makes of it: modules hold no programs and no modules."""
    shutil.copytree(module, to, copy_function=shutil.copyfile)
    (to / "src" / "_go.mod").rename(to / "src" / "go.mod")
    for program in (*(to / "bin").iterdir(), *(to / "pkg" / "tool").rglob("*")):
        program.chmod(0o755)
    return str(to / "bin" / "go")


def _go(go: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [go, *arguments],
        env={**os.environ, "GOTOOLCHAIN": "auto", **environment},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
        raise BuildError(f"LiveKit's server cannot be built: go {arguments[0]} says: {last}\n\n{WITHOUT_GO}")
    return done.stdout.strip()
