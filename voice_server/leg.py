"""A leg: the way between a call and its caller, on whatever transport.

Above: :class:`~voice_server.live.LiveCall` has one for as long as it lasts. Below: a socket's, and a room's.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from pipelines.playout.output import AudioOutput
from voice_server.clients.events import ClientEvent
from voice_server.ending import Ending

__all__ = ["Leg", "LegError", "Transport"]


class Transport(StrEnum):
    """By what a call comes."""

    SOCKET = "socket"
    ROOM = "room"


class LegError(Exception):
    """There is no way to the caller.

    Args:
        code: of the error event; stable.
        message: one sentence, which may be shown.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Leg(Protocol):
    """What a call needs of the way to its caller. What comes over it, the leg gives the call by itself."""

    @property
    def transport(self) -> Transport:
        """By what it comes."""
        ...

    @property
    def output(self) -> AudioOutput:
        """Where the agent's voice goes; always the same."""
        ...

    @property
    def hears(self) -> int:
        """Hertz of what the caller sends."""
        ...

    @property
    def attached(self) -> bool:
        """Whether the caller is there, and not only awaited."""
        ...

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the caller's end, as :class:`~agents.core.line.Line` has it."""
        ...

    async def transfer(self, to: str) -> None:
        """Put the caller through to somebody else; then they are gone.

        Raises:
            LineError: it cannot be done, and what can.
        """
        ...

    def begin(self) -> None:
        """The call hears from now on."""
        ...

    def notice(self, event: ClientEvent) -> None:
        """Clients are told of something, which the leg may also show in a way of its own."""
        ...

    async def run(self) -> None:
        """Do what the leg does by itself, from the beginning of the call until this is cancelled.

        Raises:
            LegError: there is no way to the caller: the call fails.
        """
        ...

    async def aclose(self, ending: Ending) -> None:
        """The call is over, and its last event told: let the caller go. Idempotent; bounded in time."""
        ...
