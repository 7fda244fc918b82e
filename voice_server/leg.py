"""A leg: the way between a call and its caller, on whatever transport.

Above: :class:`~voice_server.live.LiveCall` has one for as long as it lasts. Below: a socket's, and a room's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from pipelines.playout.output import AudioOutput
from voice_server.ending import Ending

__all__ = ["Leg", "Transport"]


class Transport(StrEnum):
    """By what a call comes."""

    SOCKET = "socket"
    ROOM = "room"


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

    def begin(self) -> None:
        """The call hears from now on."""
        ...

    async def run(self) -> None:
        """Do what the leg does by itself, from the beginning of the call until this is cancelled."""
        ...

    async def aclose(self, ending: Ending) -> None:
        """The call is over, and its last event told: let the caller go. Idempotent; bounded in time."""
        ...
