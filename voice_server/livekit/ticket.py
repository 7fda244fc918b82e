"""A ticket: a caller's token with what it is for, as LiveKit's clients expect it of a "token endpoint".

Above: a route and the command line issue them. Below: ``tokens`` signs.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Self

from voice_server.livekit.access import Access
from voice_server.livekit.tokens import AGENT, caller_token

__all__ = ["NAME", "Ticket", "TicketError"]

NAME = r"^[A-Za-z0-9_.:+@-]{1,128}$"
"""Names of rooms, and identities in them."""


class TicketError(Exception):
    """Nobody can be let in so; the message is one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What lets a caller into a room."""

    server_url: str
    participant_token: str
    room_name: str
    participant_identity: str
    participant_name: str
    """To be shown to people."""
    conversation: str
    """In the token, too, as the attribute ``glove.conversation``."""
    lasts_s: float
    """Seconds in which the token opens the room; who is inside stays."""

    @classmethod
    def issue(
        cls,
        access: Access,
        *,
        lasts_s: float,
        room: str | None = None,
        identity: str | None = None,
        name: str = "",
        conversation: str | None = None,
    ) -> Self:
        """Issue one. What is ``None`` is made up.

        Raises:
            TicketError: a room or an identity cannot be called so, or the identity is an agent's.
        """
        room = room or f"room-{uuid.uuid4().hex}"
        identity = identity or f"caller-{uuid.uuid4().hex[:12]}"
        conversation = conversation or uuid.uuid4().hex
        for what, given in (("room", room), ("identity", identity)):
            if not re.fullmatch(NAME, given):
                raise TicketError(
                    f"{what} {given[:80]!r}: a name is 1 to 128 letters, digits, '.', '_', ':', '+', '@' or '-'"
                )
        if identity == AGENT or identity.startswith(f"{AGENT}-"):
            raise TicketError(f"identity {identity!r} is an agent's, who would be put out; take another one")
        token = caller_token(
            access, room=room, identity=identity, name=name, conversation=conversation, lasts_s=lasts_s
        )
        return cls(
            server_url=access.url,
            participant_token=token,
            room_name=room,
            participant_identity=identity,
            participant_name=name,
            conversation=conversation,
            lasts_s=lasts_s,
        )
