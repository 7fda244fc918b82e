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
    """The caller did not come, or did not come back."""
    REMOVED = "removed"
    """The agent was put out of the room, or the room was closed."""
    MEDIA_LOST = "media_lost"
    """The media server went away and did not come back."""
    TRANSFERRED = "transferred"
    """The caller was put through to somebody else."""
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
