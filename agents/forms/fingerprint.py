"""What a confirmation was given for: a fingerprint of the answers that a caller gave, or the host for the caller."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from agents.forms.record import Entry, Revision

__all__ = ["fingerprint"]


def fingerprint(entries: Mapping[str, Entry], counted: Iterable[str]) -> str:
    """Make the fingerprint of some fields' answers and refusals; equal answers make equal ones.

    What an executor wrote over an answer does not count; the answer does.

    Args:
        entries: all there are.
        counted: ids of the fields whose answers hold, in any order.
    """
    given = {}
    for field_id in counted:
        revision = _given(entries[field_id])
        if revision is not None:
            given[field_id] = [revision.written, revision.skipped is not None]
    return sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:32]


def _given(entry: Entry) -> Revision | None:
    """The latest revision up to the cursor that no executor made, unless it is a withdrawal."""
    for revision in reversed(entry.revisions[: entry.cursor + 1]):
        if revision.effect_id is None:
            return None if revision.retracted else revision
    return None
