"""Leases of batches: who runs which executors, and until when nobody else may. All in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, text

from agents.forms.adapter import Lease
from agents.stores.sql.row import as_instant
from agents.stores.sql.schema import form_leases as table

__all__ = ["give_up", "lease_batches", "take"]

_HERE = (table.c.namespace == bindparam("at_namespace"), table.c.instance == bindparam("at_instance"))
_BATCH = table.c.batch == bindparam("at_batch")
_GO = delete(table).where(*_HERE, _BATCH)
_GIVE_UP = delete(table).where(*_HERE, _BATCH, table.c.owner == bindparam("of_owner"))
_COME = insert(table)
_TAKE = text(
    "INSERT INTO glove_form_leases (namespace, instance, batch, owner, leased_until)"
    " VALUES (:namespace, :instance, :batch, :owner, :leased_until)"
    " ON CONFLICT (namespace, instance, batch) DO UPDATE"
    " SET owner = excluded.owner, leased_until = excluded.leased_until"
    " WHERE glove_form_leases.owner = excluded.owner OR glove_form_leases.leased_until <= :now"
)
"""One statement, so that of those who come at once one has it, whatever the database locks."""


def lease_batches(connection: Connection, here: Mapping[str, str], *, gone: Sequence[str], lease: Lease | None) -> None:
    """Lease a batch that comes, and forget the leases of those that go.

    Args:
        connection: in a transaction that holds the instance.
        here: ``at_namespace`` and ``at_instance``.
        gone: ids of batches that go.
        lease: of one that comes; ``None``: nobody has it yet, or none comes.
    """
    if gone:
        connection.execute(_GO, [{**here, "at_batch": batch_id} for batch_id in gone])
    if lease is not None:
        connection.execute(_COME, _row(here, lease))


def take(connection: Connection, here: Mapping[str, str], lease: Lease, now: datetime) -> bool:
    """Take a batch, or renew the lease of one's own; whether it could be."""
    return connection.execute(_TAKE, {**_row(here, lease), "now": as_instant(now)}).rowcount == 1


def give_up(connection: Connection, here: Mapping[str, str], batch_id: str, owner: str) -> None:
    """Give up a batch, if it is the owner's."""
    connection.execute(_GIVE_UP, {**here, "at_batch": batch_id, "of_owner": owner})


def _row(here: Mapping[str, str], lease: Lease) -> dict[str, Any]:
    return {
        "namespace": here["at_namespace"],
        "instance": here["at_instance"],
        "batch": lease.batch,
        "owner": lease.owner,
        "leased_until": as_instant(lease.until),
    }
