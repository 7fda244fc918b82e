"""Tokens: what lets somebody into a room, and says what they may do there. Whoever holds one is who it names.

Above: the routes and the command line hand them out; a call joins with one. Below: LiveKit's SDK signs them.

A caller's token names the conversation, in the attribute :data:`CONVERSATION`: attributes may stand beside those of
others, such as SIP's, and metadata may not. Nobody can claim another's conversation: the token is signed, and no caller
may change their own attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from voice_server.livekit.access import Access

if TYPE_CHECKING:
    from livekit.api import AccessToken, VideoGrants
    from livekit.protocol.models import ParticipantInfo

__all__ = ["AGENT", "BEHALF", "CONVERSATION", "agent_token", "avatar_token", "caller_token", "conversation_of"]

AGENT = "agent"
"""The agent's identity in every room."""

CONVERSATION = "glove.conversation"
"""A caller's attribute: the id of the conversation they go on with."""

_CONVERSATION_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")

BEHALF = "lk.publish_on_behalf"
"""An avatar's attribute, LiveKit's: the identity of the agent whose voice it is."""


def caller_token(
    access: Access,
    *,
    room: str,
    identity: str,
    conversation: str,
    lasts_s: float,
    name: str = "",
    kind: Literal["standard", "sip"] = "standard",
    attributes: Mapping[str, str] | None = None,
) -> str:
    """Make a caller's token: to be in one room, hear, publish a microphone and send data, with no say over others.

    Args:
        access: signs it.
        room: the one it opens.
        identity: who it is in the room; whoever joins later with the same takes their place.
        conversation: which they go on with.
        lasts_s: seconds in which it opens the room; who is inside stays.
        name: to be shown to people.
        kind: ``sip`` for a phone.
        attributes: more of them.
    """
    grants = _grants(room)
    grants.can_publish_sources = ["microphone"]
    return _sign(
        access,
        grants,
        identity=identity,
        name=name,
        kind=kind,
        attributes={**(attributes or {}), CONVERSATION: conversation},
        lasts_s=lasts_s,
    )


def agent_token(access: Access, *, room: str, lasts_s: float, identity: str = AGENT) -> str:
    """Make the agent's token: as a caller's, and it may say of itself what it is doing.

    Args:
        access: signs it.
        room: the one it opens.
        lasts_s: seconds in which it opens the room.
        identity: who it is in the room.
    """
    grants = _grants(room)
    grants.can_publish_sources = ["microphone"]
    grants.can_update_own_metadata = True
    return _sign(access, grants, identity=identity, name="", kind="agent", attributes={}, lasts_s=lasts_s)


def avatar_token(access: Access, *, room: str, identity: str, behalf: str = AGENT, lasts_s: float) -> str:
    """Make an avatar's token: it publishes a face and the agent's voice, and LiveKit's attribute tells it from callers.

    Args:
        access: signs it.
        room: the one it opens.
        identity: who it is in the room.
        behalf: the identity of the agent it speaks for.
        lasts_s: seconds in which it opens the room.
    """
    return _sign(
        access, _grants(room), identity=identity, name="", kind="agent", attributes={BEHALF: behalf}, lasts_s=lasts_s
    )


def conversation_of(caller: ParticipantInfo) -> str | None:
    """Read from a participant what their token says they go on with; what cannot be an id is none."""
    conversation = caller.attributes.get(CONVERSATION, "")
    return conversation if _CONVERSATION_ID.fullmatch(conversation) else None


def _grants(room: str) -> VideoGrants:
    from livekit.api import VideoGrants

    return VideoGrants(room_join=True, room=room, can_publish=True, can_subscribe=True, can_publish_data=True)


def _sign(
    access: Access,
    grants: VideoGrants,
    *,
    identity: str,
    name: str,
    kind: AccessToken.ParticipantKind,
    attributes: dict[str, str],
    lasts_s: float,
) -> str:
    from livekit.api import AccessToken

    token = AccessToken(access.api_key, access.api_secret).with_identity(identity).with_name(name).with_kind(kind)
    return token.with_attributes(attributes).with_grants(grants).with_ttl(timedelta(seconds=lasts_s)).to_jwt()
