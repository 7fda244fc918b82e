"""LiveKit's rooms, to ask the agent into; its calls are then among all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from pipelines.turns.settings import TurnTaking
from voice_server.calls import CallRefusedError, Refusal
from voice_server.livekit.access import NotConfiguredError
from voice_server.livekit.server import Trouble, TroubleError, find_conversation
from voice_server.livekit.ticket import NAME
from voice_server.loading import Wanted
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.service import RETRY_AFTER_S, Shared
from voice_server.settings import PipelineKind

__all__ = ["answering_for_livekit", "router"]

LARGEST_REQUEST = 16_000

router = APIRouter(prefix="/api/rooms", tags=["rooms"], route_class=bounded(LARGEST_REQUEST))


class RoomWish(BaseModel):
    """With whom, and to go on with what."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{}, {"conversation": "ann-7", "listen_to": "ann"}]}
    )

    conversation: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.:-]{1,128}$",
        description="what to go on with; none: what goes on there, else what the token of a caller who is there says, "
        "else a new one",
    )
    listen_to: str | None = Field(
        default=None, pattern=NAME, description="the identity of who is talked to; none: the first caller who comes"
    )
    mode: TurnTaking | None = Field(
        default=None, description="who says where a turn of the caller ends; none: as the server is set"
    )
    pipeline: PipelineKind | None = Field(
        default=None,
        description="whether a recogniser, a language model and a voice answer, or a speech-to-speech model; none: as "
        "the server is set",
    )
    agent: str | None = Field(
        default=None, max_length=100, description="who answers, by a name of `VOICE_AGENTS`; none: the server's own"
    )
    inputs: dict[str, JsonValue] = Field(
        default_factory=dict, max_length=100, description="what that agent is told beforehand"
    )


class RoomCall(BaseModel):
    """The agent is in the room, or on its way."""

    id: str = Field(description="the call's, for `/api/calls`")
    room: str
    conversation: str


@router.post(
    "/{room}/calls",
    operation_id="joinRoom",
    summary="Have the agent in a room",
    status_code=HTTPStatus.CREATED,
    responses={
        HTTPStatus.OK.value: {"model": RoomCall, "description": "It is there already"},
        **refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.BAD_GATEWAY),
    },
)
async def join_room(
    room: Annotated[str, Path(pattern=NAME, description="the room's name", examples=["lobby"])],
    wish: RoomWish,
    service: Shared,
    response: Response,
) -> RoomCall:
    """Make the agent join a room, unless it is there. Listing, steering and ending its call is as with any other.

    404: there is no LiveKit server. 409: the conversation is in another call, the room in another conversation, or the
    server lacks what that pipeline needs. 502: LiveKit's server cannot be used, the message says why. 503 `busy`: there
    are as many calls as are taken.
    """
    with answering_for_livekit():
        brought = await find_conversation(service.rooms.access, room, wish.listen_to)
        if wish.conversation is None and service.rooms.find(room) is not None:
            brought = None  # whoever came later does not change what goes on there
        call, new = service.rooms.invite(
            room,
            wish.conversation or brought,
            wish.listen_to,
            mode=wish.mode,
            pipeline=wish.pipeline,
            wanted=Wanted(agent=wish.agent, inputs=wish.inputs),
        )
    if not new:
        response.status_code = HTTPStatus.OK
    return RoomCall(id=call.id, room=room, conversation=call.conversation)


@contextmanager
def answering_for_livekit() -> Iterator[None]:
    """Refuse what cannot be done in rooms.

    Raises:
        Refused: it cannot be done.
    """
    try:
        yield
    except NotConfiguredError as error:
        raise Refused(HTTPStatus.NOT_FOUND, "not_configured", str(error)) from None
    except TroubleError as error:
        status = HTTPStatus.CONFLICT if error.trouble is Trouble.FULL else HTTPStatus.BAD_GATEWAY
        raise Refused(status, error.trouble.value, error.message) from None
    except CallRefusedError as error:
        if error.refusal in (Refusal.TAKEN, Refusal.UNABLE):
            raise Refused(HTTPStatus.CONFLICT, error.refusal.value, error.message) from None
        later = {"Retry-After": str(RETRY_AFTER_S)}
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, error.refusal.value, error.message, later) from None
