from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import delete, text
from sqlalchemy.ext.asyncio import create_async_engine

from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.schema import conversations
from tests.agents.stores import cluster

pytest.register_assert_rewrite("agents.stores.conformance")

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    programs = cluster.find_programs()
    if programs is None:
        pytest.skip(f"there is no PostgreSQL server here; it needs: {cluster.INSTALL}")
    with cluster.running(programs) as url:
        yield url


@asynccontextmanager
async def postgres_database(server: str) -> AsyncIterator[str]:
    name = f"test{next(_numbers)}"
    engine = create_async_engine(server.replace("postgresql:", "postgresql+asyncpg:"), isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.replace("/postgres?", f"/{name}?")
    async with engine.connect() as connection:
        await connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    await engine.dispose()


@pytest.fixture
async def postgres_url(postgres_server: str) -> AsyncIterator[str]:
    """A new database."""
    async with postgres_database(postgres_server) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A file that is not there yet."""
    return f"sqlite:///{tmp_path}/conversations.db"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.store)])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new database of either kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="session")
def lasting_sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('lasting')}/conversations.db"


@pytest.fixture(scope="session")
def lasting_postgres_url(postgres_server: str) -> str:
    # The server's own: it goes with the server.
    return postgres_server


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.store)])
async def sql(request: pytest.FixtureRequest) -> AsyncIterator[SqlConversations]:
    """An empty database of either kind; emptied, which is faster than made."""
    async with aclosing(
        await SqlConversations.connect(request.getfixturevalue(f"lasting_{request.param}_url"))
    ) as place:
        await place.database.write(lambda connection: connection.execute(delete(conversations)))
        yield place
