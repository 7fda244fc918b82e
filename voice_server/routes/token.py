"""Tokens for LiveKit's rooms, as its own clients ask for them: its "token endpoint", with the conversation besides."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from voice_server.livekit.server import check_room
from voice_server.livekit.ticket import NAME, Ticket, TicketError
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.routes.rooms import answering_for_livekit
from voice_server.service import Shared

__all__ = ["router"]

LARGEST_REQUEST = 16_000

router = APIRouter(prefix="/api/token", tags=["rooms"], route_class=bounded(LARGEST_REQUEST))


class Attributes(BaseModel):
    """What others in the room are told of a caller."""

    model_config = ConfigDict(extra="forbid")

    conversation: str | None = Field(
        default=None,
        alias="glove.conversation",
        pattern=r"^[A-Za-z0-9_.:-]{1,128}$",
        description="what the caller goes on with; none: a new one",
    )


class TokenWish(BaseModel):
    """Who wants to come into which room. Whatever is left out is made up."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{}, {"room_name": "lobby", "participant_identity": "ann"}]}
    )

    room_name: str | None = Field(default=None, pattern=NAME, description="none: a new one")
    participant_identity: str | None = Field(
        default=None, pattern=NAME, description="whoever comes with the same takes the place of who is there"
    )
    participant_name: str = Field(
        default="", max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="to be shown to people"
    )
    participant_attributes: Attributes = Field(default_factory=Attributes)


class TokenIssued(BaseModel):
    """What opens the room."""

    model_config = ConfigDict(from_attributes=True)

    server_url: str = Field(description="LiveKit's, for its clients")
    participant_token: str = Field(description="to hear, to publish a microphone, and to send data")
    room_name: str
    participant_identity: str
    participant_name: str
    conversation: str = Field(description="in the token, too, as the attribute `glove.conversation`")
    lasts_s: float = Field(description="seconds in which the token opens the room; who is inside stays")


@router.post(
    "",
    operation_id="issueToken",
    summary="Let a caller into a room",
    status_code=HTTPStatus.CREATED,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.BAD_GATEWAY),
)
async def issue_token(wish: TokenWish, service: Shared) -> TokenIssued:
    """Make a token for one room; the agent is asked into it by another request.

    404: there is no LiveKit server. 409: the room is full. 502: LiveKit's server cannot be used, the message says why.
    """
    with answering_for_livekit():
        access = service.rooms.access
        try:
            ticket = Ticket.issue(
                access,
                lasts_s=service.settings.livekit_token_s,
                room=wish.room_name,
                identity=wish.participant_identity,
                name=wish.participant_name,
                conversation=wish.participant_attributes.conversation,
            )
        except TicketError as error:
            raise Refused(HTTPStatus.CONFLICT, "taken", str(error)) from None
        await check_room(access, ticket.room_name)
    return TokenIssued.model_validate(ticket)
