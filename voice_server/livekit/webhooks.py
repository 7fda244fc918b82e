"""Webhooks: what LiveKit tells of its rooms, believed when it is signed with our key, and once.

Above: a route receives them. Below: LiveKit's SDK checks the signature.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from voice_server.livekit.access import Access
from voice_server.livekit.tokens import conversation_of

if TYPE_CHECKING:
    from livekit.api import WebhookEvent

__all__ = ["Arrival", "Closing", "ForgedError", "News", "Webhooks"]

REMEMBERED = 10_000
"""Events by whose id a second telling is known: those of the minutes in which a signature is good, on a busy server."""


class ForgedError(Exception):
    """It is not signed by LiveKit's server, or not any more; the message says how so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A caller, in a browser or on the phone, has come into a room."""

    room: str
    identity: str
    conversation: str | None
    """What their token says they go on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A room is no more."""

    room: str
    at: datetime
    """When it was closed, in whole seconds, rounded up."""


News: TypeAlias = Arrival | Closing


class Webhooks:
    """Reads them.

    Args:
        access: whose key they are signed with.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._seen: OrderedDict[str, None] = OrderedDict()
        """Ids of events, the oldest first."""

    def read(self, body: bytes, signature: str) -> News | None:
        """Read one.

        Args:
            body: as it came.
            signature: what its `Authorization` header says.

        Returns:
            What is to be acted upon; ``None``: nothing, or it was told before.

        Raises:
            ForgedError: it cannot be believed.
        """
        event = self._verify(body, signature)
        if event.id in self._seen:
            return None
        self._seen[event.id] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return _news(event)

    def _verify(self, body: bytes, signature: str) -> WebhookEvent:
        from livekit.api import TokenVerifier, WebhookReceiver

        receiver = WebhookReceiver(TokenVerifier(self._access.api_key, self._access.api_secret))
        try:
            return receiver.receive(body.decode(), signature)
        except Exception as error:  # noqa: BLE001 - JWT's, protobuf's and bare ones: each means that it is not genuine
            raise ForgedError(
                "this is not signed with the key of LIVEKIT_API_KEY, was changed on its way, or is minutes old "
                f"({type(error).__name__})"
            ) from None


def _news(event: WebhookEvent) -> News | None:
    kinds = event.participant.Kind
    match event.event:
        case "participant_joined" if event.participant.kind in (kinds.STANDARD, kinds.SIP):
            return Arrival(
                room=event.room.name,
                identity=event.participant.identity,
                conversation=conversation_of(event.participant),
            )
        case "room_finished":
            return Closing(
                room=event.room.name, at=datetime.fromtimestamp(event.created_at, UTC) + timedelta(seconds=1)
            )
        case _:
            return None
