"""Telephones in LiveKit's rooms: what its SIP service says of them, and how they are put through.

Above: ``leg``. Below: LiveKit's API.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.core.line import LineError
from voice_server.livekit.access import Access
from voice_server.livekit.attendance import PersonKind

__all__ = ["described", "transfer"]

_KNOWN = {
    "number": "sip.phoneNumber",
    "dialled": "sip.trunkPhoneNumber",
    "trunk": "sip.trunkID",
    "call": "sip.callID",
}
"""Our names for LiveKit's attributes."""


def described(kind: PersonKind, attributes: Mapping[str, str]) -> dict[str, str]:
    """Say what is known of a caller, as :class:`~agents.core.line.Line` has it."""
    known = {name: attributes[theirs] for name, theirs in _KNOWN.items() if attributes.get(theirs)}
    return {"kind": kind.value, **known}


async def transfer(access: Access, room: str, identity: str, to: str) -> None:
    """Put a telephone through (a SIP REFER), and wait until somebody has answered.

    Raises:
        LineError: nobody did, or the server cannot.
    """
    from aiohttp import ClientError
    from livekit.api import LiveKitAPI, ServerError, TransferSIPParticipantRequest
    from livekit.protocol.sip import STS_TRANSFER_SUCCESSFUL

    request = TransferSIPParticipantRequest(
        room_name=room, participant_identity=identity, transfer_to=to, play_dialtone=True
    )
    try:
        async with LiveKitAPI(access.url, access.api_key, access.api_secret) as server:
            outcome = await server.sip.transfer_sip_participant(request)
    except ServerError as error:
        raise _failed(str(error.code)) from None
    except (ClientError, OSError, TimeoutError) as error:
        raise _failed(type(error).__name__) from None
    if outcome.status != STS_TRANSFER_SUCCESSFUL:
        raise _failed("nobody answered")


def _failed(why: str) -> LineError:
    return LineError(f"the caller could not be put through ({why}); take a message instead")
