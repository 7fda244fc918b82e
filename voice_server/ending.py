"""How calls end, and how the connection of their client is closed then."""

from __future__ import annotations

from enum import StrEnum

from voice_server.transports.websocket.session import CloseCode

__all__ = ["Ending"]


class Ending(StrEnum):
    """Why a call is over."""

    HUNG_UP = "hung_up"
    """The client said so."""
    ENDED = "ended"
    """Somebody else said so."""
    DISCONNECTED = "disconnected"
    """The client did not come back."""
    DRAINING = "draining"
    """The server is going away."""
    FAILED = "failed"

    @property
    def close(self) -> CloseCode:
        """How the connection is closed."""
        match self:
            case Ending.DRAINING:
                return CloseCode.GOING_AWAY
            case Ending.FAILED:
                return CloseCode.FAILED
            case _:
                return CloseCode.OVER
