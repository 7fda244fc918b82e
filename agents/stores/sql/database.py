"""A database: opened, examined, migrated, read from and written to. What is in it is the stores' business."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Executable, Row, event, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from agents.core.errors import ConfigurationError, StoreError
from agents.stores.sql.failures import explain
from agents.stores.sql.migrations import VERSION, migrate, read_version, verify

__all__ = ["Database"]

T = TypeVar("T")

BUSY_S = 5.0
"""Seconds to wait for another process's transaction; ours take milliseconds."""

CONNECT_S = 5.0
"""Seconds to wait for a PostgreSQL server to take a connection."""

COMMAND_S = 10.0
"""Seconds a statement may take on PostgreSQL: a caller on the phone has hung up by then."""

POOL_SIZE = 4
"""Connections per process; a connection to SQLite is a thread. Work beyond them waits."""

CHECKED_BYTES = 32 * 2**20
"""A SQLite file up to this size is read through when it is opened; damage in a larger one shows in use."""

_MIGRATION_LOCK = 0x676C6F7665
"""The advisory lock (the letters "glove") under which a PostgreSQL database is migrated."""

_DRIVERS = {"sqlite": "aiosqlite", "postgresql": "asyncpg"}

_SPELLINGS = "sqlite:///calls.db, sqlite:////var/lib/calls.db or postgresql://user:password@host/name"


class Database:
    """One database, for any number of conversations on one event loop. Open it with :meth:`connect`.

    Attributes:
        place: its URL without the password.
        dialect: ``sqlite`` or ``postgresql``.
    """

    def __init__(self, url: URL) -> None:
        self.dialect = url.get_backend_name()
        self.place = url.set(drivername=self.dialect).render_as_string(hide_password=True)
        self._file = Path(url.database or "") if self.dialect == "sqlite" else None
        self._engine = _sqlite_engine(url) if self._file else _postgres_engine(url)
        self._reader = self._engine.execution_options(
            **{"reads": True} if self._file else {"isolation_level": "AUTOCOMMIT"}
        )
        # Inside one process writers to a SQLite file queue here, because its own lock is waited for by polling.
        self._turnstile = asyncio.Semaphore(1 if self._file else POOL_SIZE)
        self._failures: tuple[type[Exception], ...] = (SQLAlchemyError, OSError, *_driver_errors(self.dialect))

    @classmethod
    async def connect(cls, url: str) -> Database:
        """Open a database and bring it to the newest schema; an empty one is set up.

        Args:
            url: ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or ``postgresql://user:password@host/name``.

        Raises:
            ConfigurationError: the URL is none of these, or the driver is not installed.
            StoreError: it cannot be reached, or is newer than this program, or damaged; it is left as it is.
        """
        database = cls(_parse(url))
        try:
            with database._explained():
                await _finish(database._prepare())
        except BaseException:
            await database.aclose()
            raise
        return database

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await _finish(self._engine.dispose())

    async def read(self, statement: Executable) -> Sequence[Row[Any]]:
        """Run one query, which sees the database at one moment.

        Raises:
            StoreError: it failed.
        """

        async def work() -> Sequence[Row[Any]]:
            async with self._reader.connect() as connection:
                return (await connection.execute(statement)).all()

        with self._explained():
            return await _finish(work())

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run work in a transaction: all of it happens, or, when it raises, nothing.

        Raises:
            StoreError: the database failed.
        """

        async def whole() -> T:
            async with self._turnstile, self._engine.begin() as connection:
                return await work(connection)

        with self._explained():
            return await _finish(whole())

    async def _prepare(self) -> None:
        if self._file is not None:
            # First without aiosqlite: its thread outlives a connection that fails, and complains when the loop is gone.
            await asyncio.to_thread(_try_to_open, self._file)
        async with self._reader.connect() as connection:
            if self._file is not None and self._file.stat().st_size <= CHECKED_BYTES:
                await self._check(connection)
            found = await read_version(connection, self.place)
            # Only now, for nothing is written to a database that is refused.
            if self._file is not None and (mode := await connection.scalar(text("PRAGMA journal_mode=WAL"))) != "wal":
                raise StoreError(f"the database {self.place} lies where SQLite cannot use WAL (it says {mode!r})")
            if found == VERSION:
                await verify(connection)
                return
        async with self._engine.begin() as connection:
            if self._file is None:
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await migrate(connection, await read_version(connection, self.place))
            await verify(connection)

    async def _check(self, connection: AsyncConnection) -> None:
        verdict = await connection.scalar(text("PRAGMA quick_check(1)"))
        if verdict != "ok":
            raise StoreError(
                f"the database {self.place} is damaged; it was left as it is: restore it from a copy, or name another "
                "file"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._failures as exc:
            # Without its cause, which may quote what is stored.
            raise explain(exc, self.place) from None


def _try_to_open(file: Path) -> None:
    sqlite3.connect(file).close()


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = {"postgres": "postgresql"}.get(parsed.get_backend_name(), parsed.get_backend_name())
    except ArgumentError:
        backend = ""
    if backend not in _DRIVERS:
        shown = repr(url) if "@" not in url else "this"
        raise ConfigurationError(f"{shown} is no database URL; write {_SPELLINGS}")
    if backend == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise ConfigurationError(f"{url!r} names no file; write {_SPELLINGS}")
    driver = _DRIVERS[backend]
    if find_spec(driver) is None:
        raise ConfigurationError(
            f"{backend} needs {driver}, which is not installed: pip install 'glove-voice[postgres]'"
        )
    return parsed.set(drivername=f"{backend}+{driver}")


def _sqlite_engine(url: URL) -> AsyncEngine:
    engine = create_async_engine(
        url, pool_size=POOL_SIZE, max_overflow=0, connect_args={"timeout": BUSY_S}, hide_parameters=True
    )

    @event.listens_for(engine.sync_engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # Python's driver begins transactions its own way, too late
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        if not connection.get_execution_options().get("reads"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres_engine(url: URL) -> AsyncEngine:
    return create_async_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_pre_ping=True,  # a server that was started anew must not cost a call its next sentence
        connect_args={"timeout": CONNECT_S, "command_timeout": COMMAND_S},
        hide_parameters=True,
    )


def _driver_errors(dialect: str) -> tuple[type[Exception], ...]:
    if dialect == "sqlite":
        return (sqlite3.Error,)
    import asyncpg

    return (asyncpg.PostgresError, asyncpg.InterfaceError)


async def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Carry work through even when whoever waits for it is cancelled; the cancellation is passed on afterwards.

    So a commit is never left in doubt, and no connection is thrown away because a caller interrupted.
    """
    done = asyncio.Event()
    results: list[T] = []
    failures: list[Exception] = []

    async def whole() -> None:
        try:
            results.append(await work)
        except Exception as exc:  # noqa: BLE001 - raised below, in the task that waits
            failures.append(exc)
        finally:
            done.set()

    try:
        await asyncio.shield(whole())
    except asyncio.CancelledError:
        while not done.is_set():
            with suppress(asyncio.CancelledError):
                await done.wait()
        raise
    if failures:
        raise failures.pop()
    return results.pop()
