"""The LiveKit server: whether it is there, takes our key, and has a place in a room; in sentences when not.

Above: the routes ask before they send anybody there, and the doctor. Below: LiveKit's SDK.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from voice_server.livekit.access import Access
from voice_server.livekit.tokens import conversation_of

if TYPE_CHECKING:
    from livekit.api import LiveKitAPI
    from livekit.protocol.models import ParticipantInfo

__all__ = ["Trouble", "TroubleError", "check_room", "close_room", "find_conversation", "identify"]

ANSWER_S = 5.0
"""Seconds the server may take: far away it answers within one, and somebody waits for us."""

_CHECK_KEY = "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET to what that server has"
_CHECK_URL = "start it, mend the network, or set LIVEKIT_URL to where it is"


class Trouble(StrEnum):
    """What is wrong."""

    UNREACHABLE = "livekit_unreachable"
    KEY = "livekit_key"
    """The server does not take ours."""
    FULL = "room_full"


class TroubleError(Exception):
    """LiveKit's server cannot be used as it was asked to.

    Args:
        trouble: what is wrong.
        message: one sentence: what was wrong, and what to do.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message


async def check_room(access: Access, room: str) -> None:
    """Ask whether one more caller finds a place in a room; one that nobody is in is made when somebody comes.

    Raises:
        TroubleError: there is none, or the server cannot be asked.
    """
    from livekit.api import ListRoomsRequest

    async with _asking(access) as server:
        found = await server.room.list_rooms(ListRoomsRequest(names=[room]))
        limit = found.rooms[0].max_participants if found.rooms else 0
        if limit and len(await _callers(server, room)) >= limit:
            raise TroubleError(Trouble.FULL, f"the room has the {limit} people it may have; wait until one leaves")


async def find_conversation(access: Access, room: str, identity: str | None) -> str | None:
    """Ask what a caller's token says they go on with.

    Args:
        access: to the server.
        room: in which they are.
        identity: whose; ``None``: that of whoever is there.

    Returns:
        ``None``: nobody of that identity is there, or their token says nothing.

    Raises:
        TroubleError: the server cannot be asked.
    """
    async with _asking(access) as server:
        callers = sorted(await _callers(server, room), key=lambda caller: caller.joined_at_ms)
    named = (conversation_of(caller) for caller in callers if identity in (None, caller.identity))
    return next(filter(None, named), None)


async def close_room(access: Access, room: str, topic: str, parting: Sequence[str]) -> None:
    """Close a room: tell whoever is there why, and let them go.

    Args:
        access: to the server.
        room: which; one that is not there is closed already.
        topic: of what is told.
        parting: what is told, a packet each.

    Raises:
        TroubleError: the server cannot be asked.
    """
    from livekit.api import DeleteRoomRequest, SendDataRequest
    from livekit.protocol.models import DataPacket

    async with _asking(access) as server:
        for packet in parting:
            await server.room.send_data(
                SendDataRequest(room=room, topic=topic, data=packet.encode(), kind=DataPacket.RELIABLE)
            )
        await server.room.delete_room(DeleteRoomRequest(room=room))


async def _callers(server: LiveKitAPI, room: str) -> list[ParticipantInfo]:
    """Who is in a room and counts: agents and recorders do not, for LiveKit neither."""
    from livekit.api import ListParticipantsRequest
    from livekit.protocol.models import ParticipantInfo

    there = await server.room.list_participants(ListParticipantsRequest(room=room))
    uncounted = (ParticipantInfo.Kind.AGENT, ParticipantInfo.Kind.EGRESS)
    return [person for person in there.participants if person.kind not in uncounted]


@asynccontextmanager
async def _asking(access: Access) -> AsyncIterator[LiveKitAPI]:
    from aiohttp import ClientError, ClientTimeout
    from livekit.api import LiveKitAPI, TwirpError

    limit = ClientTimeout(total=ANSWER_S)
    try:
        async with LiveKitAPI(access.url, access.api_key, access.api_secret, timeout=limit) as server:
            yield server
    except TwirpError as error:
        raise _refused(access, error.status) from None
    except (ClientError, OSError, TimeoutError) as error:
        raise _unreachable(access, error) from None


async def identify(access: Access) -> str:
    """Ask the server what it is, as a worker would: over a socket, with the key.

    Returns:
        ``1.13.5``, or ``LiveKit Cloud 1.13.5, Austria``.

    Raises:
        TroubleError: it cannot be asked, does not take the key, or is no LiveKit server.
    """
    from aiohttp import ClientError, ClientSession, WSMsgType, WSServerHandshakeError
    from livekit.api import AccessToken, VideoGrants
    from livekit.protocol.agent import JobType, RegisterWorkerRequest, ServerMessage, WorkerMessage

    token = AccessToken(access.api_key, access.api_secret).with_grants(VideoGrants(agent=True))
    bearer = f"Bearer {token.with_ttl(timedelta(minutes=1)).to_jwt()}"
    # Nobody dispatches to a name that nobody knows.
    register = RegisterWorkerRequest(type=JobType.JT_ROOM, agent_name=f"glove-doctor-{secrets.token_hex(8)}")
    try:
        async with (
            asyncio.timeout(ANSWER_S),
            ClientSession() as session,
            session.ws_connect(f"{access.url}/agent", headers={"Authorization": bearer}) as socket,
        ):
            await socket.send_bytes(WorkerMessage(register=register).SerializeToString())
            answer = await socket.receive()
    except WSServerHandshakeError as error:
        raise _refused(access, error.status) from None
    except (ClientError, OSError, TimeoutError) as error:
        raise _unreachable(access, error) from None
    if answer.type is not WSMsgType.BINARY:
        raise _no_livekit(access)
    info = ServerMessage.FromString(answer.data).register.server_info
    cloud = info.edition == info.Edition.Cloud
    return f"LiveKit Cloud {info.version}, {info.region}" if cloud else info.version


def _refused(access: Access, status: int) -> TroubleError:
    if status in (401, 403):
        return TroubleError(Trouble.KEY, f"LiveKit's server at {access.url} does not take our key; {_CHECK_KEY}")
    return _no_livekit(access)


def _no_livekit(access: Access) -> TroubleError:
    return TroubleError(
        Trouble.UNREACHABLE, f"what is at {access.url} does not answer as a LiveKit server; set LIVEKIT_URL to one"
    )


def _unreachable(access: Access, error: Exception) -> TroubleError:
    reason = (getattr(error, "os_error", None) or error).__class__.__name__
    return TroubleError(
        Trouble.UNREACHABLE, f"LiveKit's server at {access.url} does not answer ({reason}); {_CHECK_URL}"
    )
