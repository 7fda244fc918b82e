"""A conversation kept in memory: gone with the process."""

from __future__ import annotations

from collections.abc import Sequence

from agents.core.messages import Message, Settlement, Usage

__all__ = ["MemoryStore"]


class MemoryStore:
    """The store for tests, and for calls that need not outlive the process.

    Args:
        identifier: which conversation.
    """

    def __init__(self, identifier: str = "memory") -> None:
        self._identifier = identifier
        self._messages: list[Message] = []
        self._ids: set[str] = set()
        self._settlements: dict[str, Settlement] = {}
        self._tokens = 0
        self._turns = 0

    @property
    def identifier(self) -> str:
        """Which conversation."""
        return self._identifier

    async def get_messages(self) -> list[Message]:
        """All messages in order."""
        return list(self._messages)

    async def append_messages(self, messages: Sequence[Message]) -> None:
        """Add messages at the end.

        Raises:
            ValueError: an id is empty or already taken; nothing was added.
        """
        ids = [message.id for message in messages]
        for message_id in ids:
            if not message_id or message_id in self._ids or ids.count(message_id) > 1:
                raise ValueError(f"message id {message_id!r} is empty or taken; every message needs an id of its own")
        self._ids.update(ids)
        self._messages.extend(messages)

    async def get_settlements(self) -> dict[str, Settlement]:
        """What was heard, by message id."""
        return dict(self._settlements)

    async def settle(self, message_id: str, heard: str, interrupted: bool) -> None:
        """Record what was heard of a message."""
        if message_id not in self._ids:
            raise KeyError(message_id)
        self._settlements[message_id] = Settlement(message_id=message_id, heard=heard, interrupted=interrupted)

    async def add_tokens(self, usage: Usage) -> None:
        """Count what a model call used."""
        self._tokens += usage.tokens_in + usage.tokens_out

    async def get_token_count(self) -> int:
        """Tokens used since the last reset."""
        return self._tokens

    async def increment_turn(self) -> None:
        """Count a model response."""
        self._turns += 1

    async def get_turn_count(self) -> int:
        """Model responses since the last reset."""
        return self._turns

    async def reset_counters(self) -> None:
        """Set both counts to zero."""
        self._tokens = 0
        self._turns = 0
