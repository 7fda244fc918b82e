"""A secret with which a device talks to a provider: minted here, by whoever has the key."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pipelines.realtime.base import SessionSetup

__all__ = ["Minting", "Secret"]


class Secret(Protocol):
    """What a device needs to connect."""

    @property
    def value(self) -> str:
        """In place of a key."""
        ...

    @property
    def expires_at(self) -> int:
        """Seconds since 1970: until then sessions may be opened with it."""
        ...

    @property
    def model(self) -> str:
        """To be named when connecting."""
        ...


@runtime_checkable
class Minting(Protocol):
    """An adapter whose provider lets devices in."""

    async def mint_client_secret(self, setup: SessionSetup, *, expires_s: int = 600) -> Secret:
        """Have a secret made with which a device opens a session.

        Raises:
            RealtimeError: the provider cannot be reached, or refuses.
        """
        ...
