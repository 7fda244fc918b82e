"""The window of a conversation, read so that only what is new travels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlalchemy import CompoundSelect, Row, literal, select, union_all

from agents.core.messages import Message, Settlement
from agents.core.store import Window
from agents.stores.sql.codec import Codec
from agents.stores.sql.schema import conversations, messages, settlements

__all__ = ["MESSAGE", "SETTLEMENT", "Seen"]

MESSAGE = Codec(Message)
SETTLEMENT = Codec(Settlement)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a store has read of its conversation's window. Immutable; :meth:`merge` makes the next one."""

    born: str = ""
    """When the conversation was created: a deleted one may begin anew under its old name."""
    version: int = 0
    messages: tuple[tuple[int, Message], ...] = ()
    """With the versions they made, in order."""
    settlements: dict[str, Settlement] = field(default_factory=dict)

    def query(self, identifier: str) -> CompoundSelect[Any]:
        """Ask for the conversation's row and everything in its window that is newer; one statement, one moment.

        Rows are ``(kind, version, compacted_at, written)``; what is written in kind ``c``, the conversation, is its
        birth.
        """
        here = conversations.c.identifier == identifier
        window = select(conversations.c.compacted_at).where(here).scalar_subquery()
        conversation = select(
            literal("c").label("kind"),
            conversations.c.version,
            conversations.c.compacted_at,
            conversations.c.created_at.label("written"),
        ).where(here)
        said = select(literal("m"), messages.c.version, literal(0), messages.c.payload).where(
            messages.c.conversation == identifier, messages.c.version > self.version, messages.c.version >= window
        )
        heard = select(literal("s"), settlements.c.version, literal(0), settlements.c.payload).where(
            settlements.c.conversation == identifier,
            settlements.c.message_version >= window,
            settlements.c.version > self.version,
        )
        return union_all(conversation, said, heard)

    def merge(self, rows: Sequence[Row[Any]]) -> Seen | None:
        """Take in what the query gave.

        Returns:
            What is seen now; ``None`` when the conversation is not the one that was seen, and has to be read anew.
        """
        row = next((row for row in rows if row.kind == "c"), None)
        if row is None:
            return Seen()
        if self.version and (row.written != self.born or row.version < self.version):
            return None
        if row.version == self.version:
            return self
        said = sorted(((row.version, MESSAGE.read(row.written)) for row in rows if row.kind == "m"), key=itemgetter(0))
        heard = [SETTLEMENT.read(row.written) for row in rows if row.kind == "s"]
        kept = tuple(entry for entry in (*self.messages, *said) if entry[0] >= row.compacted_at)
        settled = {**self.settlements, **{settlement.message_id: settlement for settlement in heard}}
        return Seen(
            born=row.written,
            version=row.version,
            messages=kept,
            settlements={message.id: settled[message.id] for _, message in kept if message.id in settled},
        )

    def window(self) -> Window:
        """Give it to whoever asked; the mapping is theirs."""
        return Window(
            version=self.version,
            messages=tuple(message for _, message in self.messages),
            settlements=dict(self.settlements),
        )
