"""Where a conversation is kept, as the loop needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.core.messages import Message, Settlement, Usage

__all__ = ["Store"]


class Store(Protocol):
    """One conversation. Append-only: nothing that was stored is changed."""

    @property
    def identifier(self) -> str:
        """Which conversation."""
        ...

    async def get_messages(self) -> list[Message]:
        """All messages in order; the list is the caller's own."""
        ...

    async def append_messages(self, messages: Sequence[Message]) -> None:
        """Add messages at the end, all or none. Each has an id that no other message here has."""
        ...

    async def get_settlements(self) -> dict[str, Settlement]:
        """What was heard, by message id; messages heard whole may be absent."""
        ...

    async def settle(self, message_id: str, heard: str, interrupted: bool) -> None:
        """Record what was heard of an agent message; the latest record of a message holds.

        Raises:
            KeyError: there is no such message.
        """
        ...

    async def add_tokens(self, usage: Usage) -> None:
        """Count what a model call used."""
        ...

    async def get_token_count(self) -> int:
        """Tokens used since the last reset, in and out."""
        ...

    async def increment_turn(self) -> None:
        """Count a model response."""
        ...

    async def get_turn_count(self) -> int:
        """Model responses since the last reset."""
        ...

    async def reset_counters(self) -> None:
        """Set both counts to zero."""
        ...
