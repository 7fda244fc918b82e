from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

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


@pytest.fixture
async def postgres_url(postgres_server: str) -> AsyncIterator[str]:
    """An empty database."""
    name = f"test{next(_numbers)}"
    engine = create_async_engine(
        postgres_server.replace("postgresql:", "postgresql+asyncpg:"), isolation_level="AUTOCOMMIT"
    )
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    yield postgres_server.replace("/postgres?", f"/{name}?")
    async with engine.connect() as connection:
        await connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    await engine.dispose()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/conversations.db"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.store)])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database of either kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
