from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import pytest

from agents.core.messages import Message, Settlement
from agents.stores.sql.window import MESSAGE, SETTLEMENT, Seen


class Row(NamedTuple):
    kind: str
    version: int
    compacted_at: int
    written: str


def conversation(version: int, *, compacted_at: int = 0, born: str = "today") -> Row:
    return Row("c", version, compacted_at, born)


def said(version: int) -> Row:
    return Row("m", version, 0, MESSAGE.write(Message(sender="user", id=f"m{version}")))


def heard(version: int, message: int, text: str = "") -> Row:
    written = SETTLEMENT.write(Settlement(message_id=f"m{message}", heard=text, interrupted=True))
    return Row("s", version, 0, written)


def merged(seen: Seen, *rows: Row) -> Seen:
    after = seen.merge(cast(Sequence[Any], rows))
    assert after is not None
    return after


def shown(seen: Seen) -> tuple[int, list[str], dict[str, str]]:
    window = seen.window()
    heard = {message: settlement.heard for message, settlement in window.settlements.items()}
    return window.version, [message.id for message in window.messages], heard


def test_rows_in_any_order_become_messages_in_theirs() -> None:
    seen = merged(Seen(), said(3), heard(4, 1, "a"), conversation(4), said(1), said(2))
    assert shown(seen) == (4, ["m1", "m2", "m3"], {"m1": "a"})


def test_only_what_is_new_has_to_come() -> None:
    seen = merged(Seen(), conversation(2), said(1), said(2))
    seen = merged(seen, conversation(5), said(4), heard(3, 1, "a"), heard(5, 2, "b"))
    assert shown(seen) == (5, ["m1", "m2", "m4"], {"m1": "a", "m2": "b"})
    assert merged(seen, conversation(5)) is seen
    assert shown(merged(seen, conversation(6), heard(6, 1, "ab")))[2] == {"m1": "ab", "m2": "b"}


def test_a_compaction_ends_what_lies_before_it() -> None:
    seen = merged(Seen(), conversation(3), said(1), said(2), heard(3, 1))
    seen = merged(seen, conversation(5, compacted_at=4), said(4), said(5))
    assert shown(seen) == (5, ["m4", "m5"], {})


@pytest.mark.parametrize("row", [conversation(5, born="tomorrow"), conversation(1)])
def test_a_conversation_that_began_anew_is_read_anew(row: Row) -> None:
    seen = merged(Seen(), conversation(2), said(1), said(2))
    assert seen.merge(cast(Sequence[Any], [row])) is None
    assert shown(merged(seen)) == (0, [], {}), "and one that is gone is empty"


async def test_a_query_asks_for_what_is_newer_than_what_was_seen() -> None:
    seen = merged(Seen(), conversation(7), said(7))
    assert 7 in seen.query("c").compile().params.values()
