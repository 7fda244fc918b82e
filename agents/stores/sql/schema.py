"""The tables of the newest schema. What brings a database here is in ``migrations``, which a test compares with this.

Everything that somebody outside wrote is JSON text in ``payload``; columns hold only what is searched for.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table, Text

__all__ = [
    "TABLES",
    "context",
    "conversations",
    "facts",
    "form_dispatches",
    "form_leases",
    "form_revisions",
    "forms",
    "goal_hooks",
    "goals",
    "inbox",
    "messages",
    "permissions",
    "results",
    "schema_version",
    "settlements",
    "tasks",
]

TABLES = MetaData()

schema_version = Table("glove_schema", TABLES, Column("version", BigInteger))

conversations = Table(
    "glove_conversations",
    TABLES,
    Column("identifier", Text, primary_key=True),
    Column("owner", Text),  # the conversation whose sub-agent this is, at any depth
    Column("version", BigInteger),
    Column("compacted_at", BigInteger),  # the version of the last compaction; 0 when there is none
    Column("messages", BigInteger),
    Column("tokens", BigInteger),
    Column("turns", BigInteger),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("cache_read", BigInteger),
    Column("cache_creation", BigInteger),
    Column("created_at", Text),  # ISO 8601, UTC, with microseconds: the order of the text is that of time
    Column("updated_at", Text),
)

messages = Table(
    "glove_messages",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),  # the conversation's version that this message made
    Column("message_id", Text),
    Column("payload", Text),
)

settlements = Table(
    "glove_settlements",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("message_version", BigInteger, primary_key=True),
    Column("version", BigInteger),
    Column("payload", Text),
)

results = Table(
    "glove_results",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("message_version", BigInteger, primary_key=True),
    Column("call_id", Text, primary_key=True),
    Column("payload", Text),
)

tasks = Table(
    "glove_tasks",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("position", BigInteger),
    Column("payload", Text),
)

permissions = Table(
    "glove_permissions",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("status", Text),
)

inbox = Table(
    "glove_inbox",
    TABLES,
    Column("conversation", Text, primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("position", BigInteger),
    Column("status", Text),
    Column("payload", Text),
)

goals = Table(
    "glove_goals",
    TABLES,
    Column("scope", Text, primary_key=True),  # JSON: subject, key, agent
    Column("version", BigInteger, primary_key=True),
    Column("payload", Text),
)

goal_hooks = Table(
    "glove_goal_hooks",
    TABLES,
    Column("scope", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),  # of the entry that brought the transition
    Column("position", BigInteger, primary_key=True),  # within it
    Column("transition", Text),
    Column("payload", Text),
    Column("state", Text),
    Column("attempts", BigInteger),
    Column("owner", Text),
    Column("leased_until", Text),  # an instant, as above
    Column("error", Text),
)

context = Table(
    "glove_context",
    TABLES,
    Column("namespace", Text, primary_key=True),
    Column("payload", Text),  # all entries: a few dozen short notes that are always read together
)

facts = Table(
    "glove_facts",
    TABLES,
    Column("scope", Text, primary_key=True),  # JSON: subject, context; hashed where it is long
    Column("version", BigInteger),
    Column("payload", Text),  # every revision: what one person says, always read together
)

forms = Table(
    "glove_forms",
    TABLES,
    Column("namespace", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("subject", Text),
    Column("form", Text),
    Column("status", Text),
    Column("version", BigInteger),
    Column("journal", BigInteger),  # how often the table of dispatches was written to, beside commits
    Column("updated_at", Text),  # an instant, as above
    Column("cursors", Text),  # by field: which revision is in force
    Column("payload", Text),  # the instance without what the two tables below hold
)

form_revisions = Table(
    "glove_form_revisions",
    TABLES,
    Column("namespace", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("payload", Text),
)

form_dispatches = Table(
    "glove_form_dispatches",
    TABLES,
    Column("namespace", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("payload", Text),
)

form_leases = Table(
    "glove_form_leases",
    TABLES,
    Column("namespace", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("batch", Text, primary_key=True),
    Column("owner", Text),  # the worker that runs the batch's executors
    Column("leased_until", Text),  # an instant, as above
)
