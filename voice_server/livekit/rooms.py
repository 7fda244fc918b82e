"""Rooms: in which of them the agent is, at most one call in each.

Above: the routes ask it in, and webhooks. Below: ``calls`` admits, ``leg`` joins.
"""

from __future__ import annotations

import logging
import uuid

from pipelines.turns.settings import TurnTaking
from voice_server.calls import CallRefusedError, Calls, Refusal
from voice_server.ending import Ending
from voice_server.live import LiveCall
from voice_server.livekit.access import Access
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.leg import RoomLeg, join
from voice_server.livekit.webhooks import Arrival, Closing, Webhooks
from voice_server.loading import Wanted
from voice_server.settings import PipelineKind, Settings, Summons

__all__ = ["Rooms"]

_log = logging.getLogger(__name__)


class Rooms:
    """The rooms of a server.

    Args:
        settings: which LiveKit server there is, and what brings the agent into its rooms.
        calls: admits.
    """

    def __init__(self, settings: Settings, calls: Calls) -> None:
        self._settings = settings
        self._calls = calls
        self._webhooks: Webhooks | None = None

    @property
    def access(self) -> Access:
        """The server whose rooms they are.

        Raises:
            NotConfiguredError: there is none.
        """
        return Access.of(self._settings)

    def find(self, room: str) -> LiveCall | None:
        """Find the call in a room, unless it is about to end."""
        for call in self._calls:
            if isinstance(call.leg, RoomLeg) and call.leg.room == room and call.ending is None:
                return call
        return None

    def invite(
        self,
        room: str,
        conversation: str | None = None,
        listen_to: str | None = None,
        *,
        mode: TurnTaking | None = None,
        pipeline: PipelineKind | None = None,
        wanted: Wanted | None = None,
    ) -> tuple[LiveCall, bool]:
        """Have the agent in a room.

        Args:
            room: which.
            conversation: what it goes on with; ``None``: what is going on there, else a new one.
            listen_to: the identity of whoever it talks to; ``None``: the first caller who comes.
            mode: who says where a turn of the caller ends, in a new call; ``None``: as the server is set.
            pipeline: how speech becomes answers, in a new call; ``None``: as the server is set.
            wanted: who answers, in a new conversation.

        Returns:
            The call, and whether it was not there before.

        Raises:
            NotConfiguredError: there is no LiveKit server.
            CallRefusedError: no calls are taken, the conversation is in another call, or another one in the room.
        """
        access = self.access
        if (there := self.find(room)) is not None:
            if conversation not in (None, there.conversation):
                raise CallRefusedError(
                    Refusal.TAKEN, f"the agent is in this room with another conversation; end its call, {there.id}"
                )
            return there, False
        invitation = Invitation(
            room=room,
            conversation=conversation or uuid.uuid4().hex,
            listen_to=listen_to,
            mode=mode,
            pipeline=pipeline,
            wanted=wanted or Wanted(),
        )
        return join(self._calls, access, invitation), True

    def hear(self, body: bytes, signature: str) -> None:
        """Act upon what LiveKit tells by a webhook.

        Args:
            body: as it came.
            signature: what its `Authorization` header says.

        Raises:
            NotConfiguredError: there is no LiveKit server.
            ForgedError: it is not LiveKit that tells it.
        """
        self._webhooks = self._webhooks or Webhooks(self.access)
        match self._webhooks.read(body, signature):
            case Arrival() as arrival if self._settings.livekit_summons is Summons.JOINED:
                self._welcome(arrival)
            case Closing() as closing:
                self._end(closing)
            case _:
                pass

    def _welcome(self, arrival: Arrival) -> None:
        if self.find(arrival.room) is not None:
            return  # it is there already, and talks to somebody
        try:
            self.invite(arrival.room, arrival.conversation, arrival.identity)
        except CallRefusedError as refused:
            _log.warning("room %r, caller %r: the agent does not come: %s", arrival.room, arrival.identity, refused)

    def _end(self, closing: Closing) -> None:
        call = self.find(closing.room)
        if call is not None and call.since <= closing.at:  # else it is in a new room of the same name
            call.end(Ending.REMOVED)
