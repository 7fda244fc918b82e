"""A database: opened, examined, migrated, read from and written to. What is in it is the stores' business."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from sqlalchemy import URL, Connection, Executable, Row, make_url
from sqlalchemy.exc import ArgumentError

from agents.core.errors import ConfigurationError
from agents.stores.sql.failures import explain
from agents.stores.sql.migrations import VERSION, migrate, read_version, verify
from agents.stores.sql.sqlite import SqliteConnections

__all__ = ["Connections", "Database"]

T = TypeVar("T")

SPELLINGS = "sqlite:///calls.db, sqlite:////var/lib/calls.db or postgresql://user:password@host/name"


class Connections(Protocol):
    """How work gets to a database of one kind."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What is raised when the database cannot do it."""
        ...

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads, outside a transaction: each of its statements sees one moment."""
        ...

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in a transaction."""
        ...

    async def aclose(self) -> None:
        """Close everything. Once."""
        ...

    def accept(self, connection: Connection) -> None:
        """Look whether the database is whole, changing nothing."""
        ...

    def adopt(self, connection: Connection) -> None:
        """Set what lasts in the database, once it is known to be ours."""
        ...

    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else migrate until this transaction ends."""
        ...


class Database:
    """One database, for any number of conversations on one event loop. Open it with :meth:`connect`.

    Attributes:
        place: its URL without the password.
        dialect: ``sqlite`` or ``postgresql``.
    """

    def __init__(self, url: URL) -> None:
        self.dialect = url.get_backend_name()
        self.place = url.set(drivername=self.dialect).render_as_string(hide_password=True)
        self._connections = self._connect(url)
        self._closed = False

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
        if not self._closed:
            self._closed = True
            await _finish(self._connections.aclose())

    async def read(self, statement: Executable) -> Sequence[Row[Any]]:
        """Run one query, which sees the database at one moment.

        Raises:
            StoreError: it failed.
        """
        with self._explained():
            return await _finish(self._connections.read(lambda connection: connection.execute(statement).all()))

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in a transaction: all of it happens, or, when it raises, nothing.

        Args:
            work: touches nothing but its connection, for it may run in a thread.

        Raises:
            StoreError: the database failed.
        """
        with self._explained():
            return await _finish(self._connections.write(work))

    def _connect(self, url: URL) -> Connections:
        if self.dialect == "sqlite":
            return SqliteConnections(url, self.place)
        from agents.stores.sql.postgres import PostgresConnections

        return PostgresConnections(url)

    async def _prepare(self) -> None:
        if await self._connections.read(self._examine) < VERSION:
            await self._connections.write(self._migrate)

    def _examine(self, connection: Connection) -> int:
        self._connections.accept(connection)
        version = read_version(connection, self.place)
        # Only now, for nothing is written to a database that is refused.
        self._connections.adopt(connection)
        if version == VERSION:
            verify(connection)
        return version

    def _migrate(self, connection: Connection) -> None:
        self._connections.lock_schema(connection)
        migrate(connection, read_version(connection, self.place))
        verify(connection)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._connections.failures as exc:
            # Without its cause, which may quote what is stored.
            raise explain(exc, self.place) from None


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = {"postgres": "postgresql"}.get(parsed.get_backend_name(), parsed.get_backend_name())
    except ArgumentError:
        backend = ""
    if backend not in ("sqlite", "postgresql"):
        shown = repr(url) if "@" not in url else "this"
        raise ConfigurationError(f"{shown} is no database URL; write {SPELLINGS}")
    if backend == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise ConfigurationError(f"{url!r} names no file; write {SPELLINGS}")
        return parsed.set(drivername="sqlite+pysqlite")
    if find_spec("asyncpg") is None:
        raise ConfigurationError("PostgreSQL needs asyncpg: pip install 'glove-voice[postgres]'")
    return parsed.set(drivername="postgresql+asyncpg")


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
