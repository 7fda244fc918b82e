"""What a driver reports, as one sentence for whoever runs the program. Nothing stored and no password is quoted."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from agents.core.errors import StoreError

__all__ = ["explain"]

_SQLITE = {
    "SQLITE_BUSY": "is locked by another process for longer than 5 s; let it finish or end it",
    "SQLITE_NOTADB": "is no SQLite database; it was left as it is: name another file, or restore this one from a copy",
    "SQLITE_CORRUPT": "is damaged; it was left as it is: restore it from a copy, or name another file",
    "SQLITE_CANTOPEN": "cannot be opened; its folder has to exist and be writable",
    "SQLITE_READONLY": "cannot be written; let this user write the file and its folder",
    "SQLITE_PERM": "cannot be opened; let this user read and write the file",
    "SQLITE_FULL": "cannot grow: the disk is full; make room",
    "SQLITE_ERROR": "lacks tables or columns it should have; it was left as it is: restore it from a copy",
    "SQLITE_IOERR": "cannot be read or written by the operating system; look at the disk",
}
"""By the beginning of SQLite's error name."""

_POSTGRES = {
    "28": "refuses the user or password; mend the URL",
    "3D": "does not exist; create it with `createdb`",
    "53": "has no room or no free connection; look at the server",
    "57": "is shutting down or starting; try again",
    "42": "lacks tables or columns it should have, or rights to them; it was left as it is: restore it from a copy",
    "XX": "is damaged; restore it from a copy",
}
"""By the class of PostgreSQL's SQLSTATE."""


def explain(error: Exception, place: str) -> StoreError:
    """Say what is wrong.

    Args:
        error: from SQLAlchemy, a driver or a socket.
        place: the database's URL without its password.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return StoreError(f"the database {place} {_problem(cause)}")


def _problem(cause: BaseException) -> str:
    while cause.__cause__ is not None:  # SQLAlchemy's adapters wrap the driver's own error once more
        cause = cause.__cause__
    name = getattr(cause, "sqlite_errorname", None) or ""
    for beginning, problem in _SQLITE.items():
        if name.startswith(beginning):
            return problem
    state = getattr(cause, "sqlstate", None) or ""
    if state[:2] in _POSTGRES:
        return _POSTGRES[state[:2]]
    match cause:
        case PoolTimeoutError():
            return "has no free connection left in this process; more work waits for it than it can do"
        case TimeoutError():
            return "does not answer; look at the server and the network"
        case OSError():
            return f"cannot be reached ({cause.strerror or type(cause).__name__}); start it, or mend the URL"
        case SQLAlchemyError():
            return f"cannot be used ({type(cause).__name__})"
        case _:
            return f"failed ({type(cause).__name__}{f', {name or state}' if name or state else ''})"
