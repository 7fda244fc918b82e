"""Forgetting: everything that went with a conversation in a database goes with it."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete

from agents.stores.sql.codec import as_key
from agents.stores.sql.database import Database
from agents.stores.sql.schema import (
    context,
    facts,
    form_dispatches,
    form_leases,
    form_revisions,
    forms,
    goal_hooks,
    goals,
)

__all__ = ["forget"]


async def forget(database: Database, conversation: str) -> None:
    """Delete the forms, goals, facts and notes whose subject or namespace is a conversation.

    Args:
        database: where they are.
        conversation: its id.

    Raises:
        StoreError: the database failed.
    """
    # The scopes of goals and facts are JSON arrays that begin with the subject.
    subject = json.dumps([conversation], separators=(",", ":"))[:-1] + ","

    def work(connection: Connection) -> None:
        for table in (goals, goal_hooks, facts):
            connection.execute(delete(table).where(table.c.scope.startswith(subject, autoescape=True)))
        for table in (form_leases, form_dispatches, form_revisions, forms):
            connection.execute(delete(table).where(table.c.namespace == as_key(conversation)))
        connection.execute(delete(context).where(context.c.namespace == as_key(conversation)))

    await database.write(work)
