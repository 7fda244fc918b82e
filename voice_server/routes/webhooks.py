"""What LiveKit tells of its rooms. It has no key of this server's: it signs what it says with its own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Request

from voice_server.livekit.webhooks import ForgedError
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.routes.rooms import answering_for_livekit
from voice_server.service import Running

__all__ = ["router"]

LARGEST_WEBHOOK = 256_000
"""Bytes: a room's metadata and a participant's, each of at most 64 kB by LiveKit's own limits, as JSON."""

router = APIRouter(prefix="/livekit", tags=["rooms"], route_class=bounded(LARGEST_WEBHOOK))

_BODY = {"application/webhook+json": {"schema": {"type": "object"}}}


@router.post(
    "/webhook",
    operation_id="hearLiveKit",
    summary="What LiveKit tells of its rooms",
    status_code=HTTPStatus.NO_CONTENT,
    responses=refusals(HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    openapi_extra={"requestBody": {"content": _BODY, "required": True}},
)
async def hear_livekit(
    request: Request,
    running: Running,
    authorization: Annotated[str, Header(max_length=4_096, description="LiveKit's signature")] = "",
) -> None:
    """Take a webhook: the end of a room ends its call, and, if the server is set so, who comes into one is answered.

    Told twice, it is acted upon once.
    """
    body = await request.body()
    with answering_for_livekit():
        try:
            running.rooms.hear(body, authorization)
        except ForgedError as error:
            raise Refused(HTTPStatus.UNAUTHORIZED, "forged", str(error)) from None
