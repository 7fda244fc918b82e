"""The steps from an empty database to the newest schema. A step that has been released is never changed again.

Each is plain SQL that SQLite and PostgreSQL both take. All that are missing run in one transaction: a database is
either as it was or at the newest version.
"""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select, text, update

from agents.core.errors import StoreError
from agents.stores.sql.schema import TABLES, schema_version

__all__ = ["STEPS", "VERSION", "migrate", "read_version", "verify"]

MESSAGES_STEP = (
    "CREATE TABLE glove_schema (version BIGINT NOT NULL)",
    "INSERT INTO glove_schema (version) VALUES (0)",
    """
    CREATE TABLE glove_conversations (
        identifier TEXT NOT NULL PRIMARY KEY,
        version BIGINT NOT NULL DEFAULT 0,
        compacted_at BIGINT NOT NULL DEFAULT 0,
        messages BIGINT NOT NULL DEFAULT 0,
        tokens BIGINT NOT NULL DEFAULT 0,
        turns BIGINT NOT NULL DEFAULT 0,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX glove_conversations_updated ON glove_conversations (updated_at)",
    """
    CREATE TABLE glove_messages (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        version BIGINT NOT NULL,
        message_id TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (conversation, version),
        UNIQUE (conversation, message_id)
    )
    """,
    """
    CREATE TABLE glove_settlements (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        message_version BIGINT NOT NULL,
        version BIGINT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (conversation, message_version)
    )
    """,
)

GROUPS_STEP = (
    "ALTER TABLE glove_conversations ADD COLUMN owner TEXT",
    "ALTER TABLE glove_conversations ADD COLUMN tokens_in BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE glove_conversations ADD COLUMN tokens_out BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE glove_conversations ADD COLUMN cache_read BIGINT",
    "ALTER TABLE glove_conversations ADD COLUMN cache_creation BIGINT",
    "CREATE INDEX glove_conversations_owner ON glove_conversations (owner)",
    """
    CREATE TABLE glove_results (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        message_version BIGINT NOT NULL,
        call_id TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (conversation, message_version, call_id)
    )
    """,
    """
    CREATE TABLE glove_tasks (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        task_id TEXT NOT NULL,
        position BIGINT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (conversation, task_id)
    )
    """,
    """
    CREATE TABLE glove_permissions (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        key TEXT NOT NULL,
        status TEXT NOT NULL,
        PRIMARY KEY (conversation, key)
    )
    """,
    """
    CREATE TABLE glove_inbox (
        conversation TEXT NOT NULL REFERENCES glove_conversations (identifier) ON DELETE CASCADE,
        item_id TEXT NOT NULL,
        position BIGINT NOT NULL,
        status TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (conversation, item_id)
    )
    """,
    "CREATE INDEX glove_inbox_status ON glove_inbox (conversation, status, position)",
)

GOALS_STEP = (
    """
    CREATE TABLE glove_goals (
        scope TEXT NOT NULL,
        version BIGINT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (scope, version)
    )
    """,
    """
    CREATE TABLE glove_goal_hooks (
        scope TEXT NOT NULL,
        version BIGINT NOT NULL,
        position BIGINT NOT NULL,
        transition TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts BIGINT NOT NULL DEFAULT 0,
        owner TEXT,
        leased_until TEXT,
        error TEXT,
        PRIMARY KEY (scope, version, position),
        UNIQUE (scope, transition)
    )
    """,
)

CONTEXT_STEP = (
    """
    CREATE TABLE glove_context (
        namespace TEXT NOT NULL PRIMARY KEY,
        payload TEXT NOT NULL
    )
    """,
)

FACTS_STEP = (
    """
    CREATE TABLE glove_facts (
        scope TEXT NOT NULL PRIMARY KEY,
        version BIGINT NOT NULL,
        payload TEXT NOT NULL
    )
    """,
)

FORMS_STEP = (
    """
    CREATE TABLE glove_forms (
        namespace TEXT NOT NULL,
        instance TEXT NOT NULL,
        subject TEXT NOT NULL,
        form TEXT NOT NULL,
        status TEXT NOT NULL,
        version BIGINT NOT NULL,
        journal BIGINT NOT NULL DEFAULT 0,
        updated_at TEXT NOT NULL,
        cursors TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (namespace, instance)
    )
    """,
    "CREATE INDEX glove_forms_updated ON glove_forms (namespace, subject, updated_at)",
    """
    CREATE TABLE glove_form_revisions (
        namespace TEXT NOT NULL,
        instance TEXT NOT NULL,
        seq BIGINT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (namespace, instance, seq),
        FOREIGN KEY (namespace, instance) REFERENCES glove_forms (namespace, instance) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE glove_form_dispatches (
        namespace TEXT NOT NULL,
        instance TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (namespace, instance, key),
        FOREIGN KEY (namespace, instance) REFERENCES glove_forms (namespace, instance) ON DELETE CASCADE
    )
    """,
)

LEASES_STEP = (
    """
    CREATE TABLE glove_form_leases (
        namespace TEXT NOT NULL,
        instance TEXT NOT NULL,
        batch TEXT NOT NULL,
        owner TEXT NOT NULL,
        leased_until TEXT NOT NULL,
        PRIMARY KEY (namespace, instance, batch),
        FOREIGN KEY (namespace, instance) REFERENCES glove_forms (namespace, instance) ON DELETE CASCADE
    )
    """,
)

STEPS = (MESSAGES_STEP, GROUPS_STEP, GOALS_STEP, CONTEXT_STEP, FACTS_STEP, FORMS_STEP, LEASES_STEP)
"""The n-th step leads from version n - 1 to version n."""

VERSION = len(STEPS)
"""The newest version."""


def read_version(connection: Connection, place: str) -> int:
    """Look which version a database has, changing nothing; 0 when it has none of our tables.

    Raises:
        StoreError: it is newer than this program, or is no database of ours although it has tables of our names.
    """
    present = set(inspect(connection).get_table_names())
    ours = present & set(TABLES.tables)
    if not ours:
        return 0
    version = connection.scalar(select(schema_version.c.version)) if schema_version.name in ours else None
    if version is None:
        raise StoreError(
            f"the database {place} has tables named {', '.join(sorted(ours))} but no schema version, so it is not ours "
            "or damaged; it was left as it is: restore it from a copy, or name another database"
        )
    if version > VERSION:
        raise StoreError(
            f"the database {place} has schema version {version}, and this program knows versions up to {VERSION}; it "
            "was left as it is: install the newer glove-voice that made it, or name another database"
        )
    return int(version)


def migrate(connection: Connection, found: int) -> None:
    """Run the steps a database lacks, inside the caller's transaction.

    Args:
        connection: holds the lock against others who would migrate.
        found: the version it has, read under that lock.
    """
    for number, step in enumerate(STEPS[found:], start=found + 1):
        for statement in step:
            connection.execute(text(statement))
        connection.execute(update(schema_version).values(version=number))


def verify(connection: Connection) -> None:
    """Touch every table and column, all at once; the driver's error says that one is missing."""
    connection.execute(text(_TOUCH_ALL))


# Columns are named with their tables: SQLite takes a quoted or bare name that it does not know for a string.
_TOUCH_ALL = "SELECT count(*) FROM " + ", ".join(
    f"(SELECT {', '.join(map(str, table.columns))} FROM {table.name} WHERE 1 = 0) AS {table.name}_"
    for table in TABLES.sorted_tables
)
