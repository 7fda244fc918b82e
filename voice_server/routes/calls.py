"""The calls there are, to look at and to steer from outside."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from pipelines.call import Call
from voice_server.clients.events import AgentState
from voice_server.ending import Ending
from voice_server.leg import Transport
from voice_server.live import LiveCall
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.service import Running

__all__ = ["router"]

LARGEST_REQUEST = 16_000
"""Bytes: a narration with every letter escaped."""

router = APIRouter(prefix="/api/calls", tags=["calls"], route_class=bounded(LARGEST_REQUEST))


class CallShown(BaseModel):
    """A call."""

    id: str
    conversation: str
    transport: Transport = Field(description="by what it comes")
    since: datetime
    state: AgentState
    attached: bool = Field(description="whether its caller is there, or awaited")
    muted: bool


class CallList(BaseModel):
    """All calls."""

    calls: list[CallShown]
    limit: int = Field(description="how many there may be")


class Narration(BaseModel):
    """What the agent is to say."""

    text: str = Field(min_length=1, max_length=2_000, pattern=r"\S")


def _found(
    call: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="the call's id")], running: Running
) -> LiveCall:
    found = running.calls.find(call)
    if found is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such call, or it is over")
    return found


_Found = Annotated[LiveCall, Depends(_found)]


def _controls(call: _Found) -> Call:
    if (controls := call.controls) is None:
        raise Refused(HTTPStatus.CONFLICT, "not_begun", "the call has not begun yet, or ends just now; try again")
    return controls


_Controls = Annotated[Call, Depends(_controls)]
_UNKNOWN = refusals(HTTPStatus.NOT_FOUND)
_STEERING = refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


@router.get("", operation_id="listCalls", summary="List the calls there are")
async def list_calls(running: Running) -> CallList:
    """List calls, the oldest first."""
    return CallList(calls=[_show(call) for call in running.calls], limit=running.calls.limit)


@router.post(
    "/{call}/narrate", operation_id="narrate", summary="Have a text said", status_code=204, responses=_STEERING
)
async def narrate(controls: _Controls, narration: Narration) -> None:
    """Say a text to its end, without the model; what the caller says over it is answered after it."""
    controls.narrate(narration.text)


@router.post("/{call}/mute", operation_id="mute", summary="Stop listening", status_code=204, responses=_STEERING)
async def mute(controls: _Controls) -> None:
    """Do not listen to the caller; a word begun ends here. Idempotent."""
    controls.mute()


@router.post("/{call}/unmute", operation_id="unmute", summary="Listen again", status_code=204, responses=_STEERING)
async def unmute(controls: _Controls) -> None:
    """Listen to the caller. Idempotent."""
    controls.unmute()


@router.post(
    "/{call}/interrupt", operation_id="interrupt", summary="Stop talking", status_code=204, responses=_STEERING
)
async def interrupt(controls: _Controls) -> None:
    """Cut whatever is being said."""
    controls.interrupt()


@router.delete("/{call}", operation_id="hangUp", summary="End a call", status_code=204, responses=_UNKNOWN)
async def hang_up(call: _Found) -> None:
    """End the call; its client is told."""
    call.end(Ending.ENDED)


def _show(call: LiveCall) -> CallShown:
    return CallShown(
        id=call.id,
        conversation=call.conversation,
        transport=call.leg.transport,
        since=call.since,
        state=call.state,
        attached=call.attached,
        muted=call.muted,
    )
