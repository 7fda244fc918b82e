"""Connections to a PostgreSQL server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import asyncpg
from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

__all__ = ["PostgresConnections"]

T = TypeVar("T")

CONNECT_S = 5.0
"""Seconds to wait for a server to take a connection."""

COMMAND_S = 10.0
"""Seconds a statement may take: a caller on the phone has hung up by then."""

POOL_SIZE = 4
"""Connections per process; work beyond them waits."""

MIGRATION_LOCK = 0x676C6F7665
"""The advisory lock (the letters "glove") under which a database is migrated."""


class PostgresConnections:
    """Runs work on a server.

    Args:
        url: names the server, the user and the database.
    """

    failures: tuple[type[Exception], ...] = (
        SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError,
    )  # fmt: skip

    def __init__(self, url: URL) -> None:
        self._engine = create_async_engine(
            url,
            pool_size=POOL_SIZE,
            max_overflow=0,
            pool_pre_ping=True,  # A server that was started anew must not cost a call its next sentence.
            connect_args={"timeout": CONNECT_S, "command_timeout": COMMAND_S},
            hide_parameters=True,
        )
        self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._turnstile = asyncio.Semaphore(POOL_SIZE)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads, outside a transaction: each of its statements sees one moment."""
        async with self._turnstile, self._reader.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in a transaction."""
        async with self._turnstile, self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def aclose(self) -> None:
        """Close everything."""
        await self._engine.dispose()

    def accept(self, connection: Connection) -> None:
        """Look whether the database is whole: the server does."""

    def adopt(self, connection: Connection) -> None:
        """Set what lasts in the database: nothing."""

    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else migrate until this transaction ends."""
        connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
