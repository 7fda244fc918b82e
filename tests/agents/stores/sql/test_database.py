from __future__ import annotations

import sqlite3
from contextlib import aclosing, closing
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import inspect, text

from agents.core.errors import ConfigurationError, StoreError
from agents.core.messages import Message, Settlement
from agents.stores.sql.conversations import SqlConversations
from agents.stores.sql.migrations import STEPS, VERSION
from agents.stores.sql.schema import TABLES


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.db"


async def filled(url: str, count: int = 3) -> None:
    async with aclosing(await SqlConversations.connect(url)) as conversations:
        store = conversations.open("c")
        await store.append_messages([Message(sender="user", text=f"Said {n}", id=str(n)) for n in range(count)])


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("calls.db", "is no database URL"),
        ("mysql://host/name", "is no database URL"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
async def test_a_url_that_cannot_be_used_is_refused_with_those_that_can(url: str, fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault) as caught:
        await SqlConversations.connect(url)
    assert "sqlite:///calls.db" in str(caught.value) and "postgresql://" in str(caught.value)


async def test_a_password_is_never_shown() -> None:
    for url in ("mysql://me:hunter2@host/name", "postgresql://me:hunter2@127.0.0.1:1/name"):
        with pytest.raises((ConfigurationError, StoreError)) as caught:
            await SqlConversations.connect(url)
        assert "hunter2" not in str(caught.value)


async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(StoreError, match=r"postgresql://127\.0\.0\.1:1/name cannot be reached .*start it"):
        await SqlConversations.connect("postgresql://127.0.0.1:1/name")


@pytest.mark.store
async def test_a_database_or_user_the_server_does_not_know_is_said(postgres_server: str) -> None:
    with pytest.raises(StoreError, match="does not exist; create it with `createdb`"):
        await SqlConversations.connect(postgres_server.replace("/postgres?", "/nowhere?"))
    with pytest.raises(StoreError, match="refuses the user or password"):
        await SqlConversations.connect(postgres_server.replace("//glove@", "//nobody@"))


@pytest.mark.store
async def test_connections_that_the_server_closed_are_made_anew(postgres_url: str) -> None:
    async with aclosing(await SqlConversations.connect(postgres_url)) as conversations:
        await conversations.open("c").increment_turn()
        await change(
            postgres_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        await conversations.open("c").increment_turn()
        assert await conversations.open("c").get_turn_count() == 2


async def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="its folder has to exist"):
        await SqlConversations.connect(f"sqlite:///{tmp_path}/nowhere/conversations.db")


async def test_sqlite_writes_ahead_and_syncs_every_commit(path: Path) -> None:
    await filled(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    async with aclosing(await SqlConversations.connect(f"sqlite:///{path}")) as conversations:
        database = conversations.database
        assert (await database.read(text("PRAGMA synchronous")))[0][0] == 2
        assert (await database.read(text("PRAGMA busy_timeout")))[0][0] == 5000


async def test_a_database_that_is_set_up_has_the_tables_the_program_uses(database_url: str) -> None:
    await filled(database_url)
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        found = await conversations.database.write(
            lambda connection: {
                table: {column["name"] for column in inspect(connection).get_columns(table)}
                for table in inspect(connection).get_table_names()
            }
        )
    assert found == {name: set(table.columns.keys()) for name, table in TABLES.tables.items()}


async def test_a_database_of_version_1_is_brought_to_the_newest_with_everything_in_it(database_url: str) -> None:
    await make_version_1(database_url)
    for _ in range(2):
        async with aclosing(await SqlConversations.connect(database_url)) as conversations:
            store = conversations.open("old")
            assert await store.get_messages() == [Message(sender="agent", text="Said before", id="1")]
            heard = {"1": Settlement(message_id="1", heard="Said", interrupted=True)}
            assert (await store.get_window()).settlements == heard
            assert (await store.get_token_count(), await store.get_turn_count()) == (7, 1)
            assert (await store.get_token_consumption()).tokens_in == 0
            assert [line.identifier for line in await conversations.list_conversations()] == ["old"]
            assert (await conversations.database.read(text("SELECT version FROM glove_schema")))[0][0] == VERSION
            await store.set_permission("tool", "granted")


async def test_a_migration_that_fails_leaves_the_database_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_version_1(f"sqlite:///{path}")
    before = bytes_of(path)
    broken = (STEPS[0], (*STEPS[1][:-1], "CREATE TABLE broken ("))
    monkeypatch.setattr("agents.stores.sql.migrations.STEPS", broken)
    with pytest.raises(StoreError):
        await SqlConversations.connect(f"sqlite:///{path}")
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version FROM glove_schema").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'glove_tasks'").fetchone() == (0,)
    await filled(f"sqlite:///{path}")
    assert bytes_of(path) != before


async def test_a_newer_database_is_refused_untouched(database_url: str) -> None:
    await filled(database_url)
    await change(database_url, f"UPDATE glove_schema SET version = {VERSION + 1}")
    before = await content(database_url)
    with pytest.raises(StoreError, match=f"has schema version {VERSION + 1}.*left as it is.*newer glove-voice"):
        await SqlConversations.connect(database_url)
    assert await content(database_url) == before


async def test_a_newer_sqlite_file_keeps_its_bytes(path: Path) -> None:
    await filled(f"sqlite:///{path}")
    await change(f"sqlite:///{path}", f"UPDATE glove_schema SET version = {VERSION + 1}")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    before = bytes_of(path)
    with pytest.raises(StoreError, match="schema version"):
        await SqlConversations.connect(f"sqlite:///{path}")
    assert bytes_of(path) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


async def test_tables_of_somebody_else_are_refused_untouched(database_url: str) -> None:
    await change(database_url, "CREATE TABLE glove_messages (note TEXT)")
    with pytest.raises(StoreError, match="tables named glove_messages but no schema version"):
        await SqlConversations.connect(database_url)
    await change(database_url, "INSERT INTO glove_messages VALUES ('still here')")


async def test_other_tables_beside_ours_are_let_be(database_url: str) -> None:
    await change(database_url, "CREATE TABLE messages (note TEXT)", "INSERT INTO messages VALUES ('mine')")
    await filled(database_url)
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        assert (await conversations.database.read(text("SELECT note FROM messages")))[0][0] == "mine"


async def test_a_table_that_lacks_is_said_before_the_first_call(database_url: str) -> None:
    await filled(database_url)
    await change(database_url, "ALTER TABLE glove_inbox DROP COLUMN payload")
    with pytest.raises(StoreError, match=r"lacks tables or columns it should have.*left as it is"):
        await SqlConversations.connect(database_url)


@pytest.mark.parametrize("damage", ["text", "truncated", "overwritten"])
async def test_a_damaged_file_is_refused_untouched(path: Path, damage: str) -> None:
    await filled(f"sqlite:///{path}", count=2_000)
    before = damaged(path, damage)
    with pytest.raises(StoreError, match="left as it is") as caught:
        await SqlConversations.connect(f"sqlite:///{path}")
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert bytes_of(path) == before


async def test_a_damaged_message_is_said_without_its_text(database_url: str) -> None:
    await filled(database_url)
    await change(database_url, 'UPDATE glove_messages SET payload = \'{"sender": "Susan", "text": 5}\'')
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        for reading in (conversations.open("c").get_window(), conversations.open("c").get_messages()):
            with pytest.raises(StoreError, match="a stored message cannot be read") as caught:
                await reading
            assert "Susan" not in str(caught.value)


async def test_a_lock_that_is_not_given_up_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.stores.sql.sqlite.BUSY_S", 0.05)
    await filled(f"sqlite:///{path}")
    async with aclosing(await SqlConversations.connect(f"sqlite:///{path}")) as conversations:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert len(await conversations.open("c").get_messages()) == 3
            with pytest.raises(StoreError, match="locked by another process"):
                await conversations.open("c").increment_turn()
            other.execute("ROLLBACK")
        await conversations.open("c").increment_turn()
        assert await conversations.open("c").get_turn_count() == 1


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def damaged(path: Path, damage: str) -> bytes:
    whole = path.read_bytes()
    match damage:
        case "text":
            path.write_text("Dear diary,\n" * 1_000)
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case _:
            path.write_bytes(whole[:40_000] + b"\xa5" * 4_096 + whole[44_096:])
    return path.read_bytes()


async def make_version_1(url: str) -> None:
    """What the first version would have left behind."""
    when = "'2026-03-03T12:00:00.000000+00:00'"
    await change(
        url,
        *STEPS[0],
        "UPDATE glove_schema SET version = 1",
        f"INSERT INTO glove_conversations VALUES ('old', 2, 0, 1, 7, 1, {when}, {when})",
        "INSERT INTO glove_messages VALUES"
        """ ('old', 1, '1', '{"sender":"agent","text":"Said before","id":"1"}')""",
        "INSERT INTO glove_settlements VALUES"
        """ ('old', 1, 2, '{"message_id":"1","heard":"Said","interrupted":true}')""",
    )


async def change(url: str, *statements: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return
    server = await asyncpg.connect(url)
    for statement in statements:
        await server.execute(statement)
    await server.close()


async def content(url: str) -> list[list[tuple[object, ...]]]:
    queries = [f"SELECT * FROM {name}" for name in TABLES.tables]
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return [connection.execute(query).fetchall() for query in queries]
    server = await asyncpg.connect(url)
    rows = [[tuple(row.values()) for row in await server.fetch(query)] for query in queries]
    await server.close()
    return rows
