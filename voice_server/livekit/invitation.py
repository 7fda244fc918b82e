"""An invitation: into which room the agent is asked, by whom, and to go on with what.

Above: whoever asks it in (``rooms``, a worker). Below: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.turns.settings import TurnTaking
from voice_server.livekit.tokens import AGENT
from voice_server.loading import Wanted
from voice_server.settings import PipelineKind

__all__ = ["Invitation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the agent is asked to."""

    room: str
    conversation: str
    """What it goes on with, or begins."""
    listen_to: str | None = None
    """The identity of whoever it talks to; ``None``: the first caller who comes."""
    mode: TurnTaking | None = None
    """Who says where a turn of the caller ends; ``None``: as the server is set."""
    pipeline: PipelineKind | None = None
    """How speech becomes answers; ``None``: as the server is set."""
    wanted: Wanted = field(default_factory=Wanted)
    """Who is to answer, in a new conversation."""
    identity: str = AGENT
    """The agent's, in the room."""
