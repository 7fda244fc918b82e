"""A PostgreSQL server of the tests' own: a new cluster in a temporary folder, on a Unix socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INSTALL = "apt-get install postgresql"
LIMIT_S = 60


def find_programs() -> Path | None:
    """Where ``initdb`` and ``pg_ctl`` are; Debian keeps them out of the path, a folder per version."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    if found := shutil.which("initdb"):
        places.append(Path(found).resolve().parent)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


@contextmanager
def running(programs: Path) -> Iterator[str]:
    """Start a server; the value is the URL of its database ``postgres``."""
    user = _unprivileged()
    with tempfile.TemporaryDirectory(prefix="glove-pg-") as folder:
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = f"{folder}/data"
        _run(user, programs / "initdb", "-D", data, "-A", "trust", "-U", "glove", "-E", "UTF8", "--locale=C", "-N")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        control = (programs / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log")
        _run(user, *control, "-o", options, "start")
        try:
            yield f"postgresql://glove@/postgres?host={folder}"
        finally:
            _run(user, *control, "-m", "immediate", "stop")


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run the server as: PostgreSQL refuses to be run by root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no user 'postgres' or 'nobody' to run a PostgreSQL server as")


def _run(user: pwd.struct_passwd | None, *command: str | Path) -> None:
    # Not to a pipe: the server that pg_ctl leaves running would hold it open.
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        timeout=LIMIT_S,
        check=False,
        user=None if user is None else user.pw_uid,
        group=None if user is None else user.pw_gid,
        extra_groups=None if user is None else [],
    )
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} ended with status {done.returncode}")
