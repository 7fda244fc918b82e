"""Device mode over HTTP: a secret for the provider, and here the tools of the model that a browser talks to by it."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from agents.core.errors import StoreError
from pipelines.realtime.base import RealtimeError
from pipelines.responder import CallMade, ResponderError
from voice_server.device.batches import UsedTwiceError
from voice_server.device.call import DeviceCall, Spoken
from voice_server.device.devices import FullError
from voice_server.device.events import Context
from voice_server.device.secret import Minting
from voice_server.guard import require_key
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.routes.sse import EventResponse
from voice_server.service import RETRY_AFTER_S, Running, Shared

__all__ = ["router"]

LARGEST_REQUEST = 5_000_000
"""Bytes: as much as the fields may hold, with every letter escaped."""

MOST_CALLS = 16
"""Of one reply; a model makes three or four."""

LONGEST_ARGUMENTS = 16_000
"""Characters of a call's arguments: a model writes a page at most."""

MOST_TURNS = 16
"""That are kept at once: what was said while the connection was broken."""

LONGEST_SAID = 8_000
"""Characters of one thing said: ten minutes of speech."""

router = APIRouter(prefix="/api/realtime", tags=["realtime"], route_class=bounded(LARGEST_REQUEST))


class SecretWish(BaseModel):
    """What a device's call is to go on with."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"conversation": "ann-7"}]})

    conversation: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_.:-]{1,128}$", description="what to go on with; none: a new one"
    )
    voice: str | None = Field(
        default=None, max_length=64, pattern=r"^[\w.-]+$", description="of the provider's; none: as the server is set"
    )
    expires_s: float = Field(
        default=60.0,
        ge=10,
        le=1_800,
        strict=True,
        description="seconds in which a session may be opened; an open one goes on",
    )


class DeviceOpened(BaseModel):
    """A device may talk: to the provider with the secret, to us with the ticket."""

    call: str = Field(description="the call's id, for the paths of all other requests")
    ticket: str = Field(description="to be sent with them as `X-Call-Ticket`")
    conversation: str
    provider: str = Field(description="provider and model, for people")
    model: str = Field(description="to be named when connecting to the provider")
    api_version: str | None = Field(description="of the provider's interface, where it is to be named, too")
    secret: str = Field(description="to be shown to the provider in place of a key")
    expires_at: int = Field(description="until when, in seconds since 1970")
    context: Context = Field(description="to be put into the conversation before anything is said")


class ToolCallMade(BaseModel):
    """A tool call, as the model made it."""

    model_config = ConfigDict(extra="forbid")

    call_id: str = Field(min_length=1, max_length=128)
    name: str = Field(min_length=1, max_length=128)
    arguments: str = Field(default="", max_length=LONGEST_ARGUMENTS, description="as it came: JSON, or what it is")


class ToolCalls(BaseModel):
    """The calls of one reply."""

    model_config = ConfigDict(extra="forbid")

    calls: tuple[ToolCallMade, ...] = Field(min_length=1, max_length=MOST_CALLS)
    said: str = Field(default="", max_length=LONGEST_SAID, description="what the model said with them")


class ToolAnswered(BaseModel):
    """A call's result."""

    call_id: str
    name: str
    output: str = Field(description="for the model, as it is: JSON with `status`, `data`, `message`")


class ToolAdvertised(BaseModel):
    """A tool, as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, object]


class ToolAnswers(BaseModel):
    """What the model is sent after its calls: the answers, then the context, then one trigger."""

    answers: tuple[ToolAnswered, ...]
    context: Context = Field(description="replaces the one there was")
    tools: tuple[ToolAdvertised, ...] | None = Field(description="all that it has now, when they have changed")


class TurnSpoken(BaseModel):
    """Something that was said."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["caller", "agent"]
    text: str = Field(min_length=1, max_length=LONGEST_SAID, pattern=r"\S")
    heard: str | None = Field(
        default=None, max_length=LONGEST_SAID, description="of the agent's words those that were played; none: all"
    )


class TurnsSpoken(BaseModel):
    """What was said, in order."""

    model_config = ConfigDict(extra="forbid")

    turns: tuple[TurnSpoken, ...] = Field(min_length=1, max_length=MOST_TURNS)


async def _found(
    call: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="the call's id")],
    running: Running,
    x_call_ticket: Annotated[str, Header(max_length=128, description="the call's ticket")],
) -> DeviceCall:
    found = running.devices.find(call)
    if found is None or found.over or not secrets.compare_digest(found.ticket.encode(), x_call_ticket.encode()):
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such call with this ticket, or it is over")
    found.touch()
    return found


_Found = Annotated[DeviceCall, Depends(_found)]
_ASKING = refusals(
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)


@router.post(
    "/secrets",
    operation_id="mintSecret",
    summary="Let a device talk to the provider by itself",
    status_code=HTTPStatus.CREATED,
    dependencies=[Depends(require_key)],
    responses=refusals(
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
async def mint_secret(wish: SecretWish, service: Shared) -> DeviceOpened:
    """Mint a secret with the agent's instructions and tools, and open a call in which those tools are run here.

    404: there is no speech-to-speech provider that lets devices in. 502: it cannot be reached, or refuses: the message
    has its own words. 503 `busy`: there are as many calls of devices as are taken.
    """
    devices = service.devices
    adapter = devices.adapter
    if adapter is None or not isinstance(adapter, Minting):
        raise Refused(
            HTTPStatus.NOT_FOUND, "not_configured", "there is no provider that lets devices in; set S2S_PROVIDER"
        )
    try:
        call = devices.open(wish.conversation, adapter)
    except FullError as error:
        later = {"Retry-After": str(RETRY_AFTER_S)}
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "busy", str(error), later) from None
    try:
        setup = await call.setup(wish.voice or devices.voice)
        secret = await adapter.mint_client_secret(setup, expires_s=round(wish.expires_s))
    except (RealtimeError, ResponderError) as error:
        call.end()
        raise Refused(HTTPStatus.BAD_GATEWAY, "provider", str(error)) from None
    except StoreError:
        call.end()
        raise
    return DeviceOpened(
        call=call.id,
        ticket=call.ticket,
        conversation=call.conversation,
        provider=adapter.name,
        model=secret.model,
        api_version=getattr(secret, "api_version", None),
        secret=secret.value,
        expires_at=secret.expires_at,
        context=call.context,
    )


@router.post("/calls/{call}/tools", operation_id="useTools", summary="Run the model's tools", responses=_ASKING)
async def use_tools(call: _Found, wish: ToolCalls) -> ToolAnswers:
    """Run the calls of one reply, in order. Asked again with the same ids, the answer is the same and nothing is run.

    A tool that takes long is answered as still running; what it comes to is told as the event `results`.
    """
    calls = [CallMade(call_id=each.call_id, name=each.name, arguments=each.arguments) for each in wish.calls]
    try:
        done = await call.use_tools(calls, wish.said)
    except UsedTwiceError:
        raise Refused(
            HTTPStatus.CONFLICT, "used_twice", "an id of these calls was used before, with others beside it"
        ) from None
    except ResponderError as error:
        raise Refused(HTTPStatus.BAD_GATEWAY, "agent", str(error)) from None
    return ToolAnswers(
        answers=tuple(ToolAnswered(call_id=each.call_id, name=each.name, output=each.output) for each in done.answers),
        context=done.context,
        tools=None
        if done.tools is None
        else tuple(
            ToolAdvertised(name=tool.name, description=tool.description, parameters=dict(tool.parameters))
            for tool in done.tools
        ),
    )


@router.post(
    "/calls/{call}/turns", operation_id="keepTurns", summary="Keep what was said", status_code=204, responses=_ASKING
)
async def keep_turns(call: _Found, wish: TurnsSpoken) -> None:
    """Make what was said part of the conversation, in order; of the agent's words those that were played.

    409: what is said to have been heard is no beginning of what was said. Then nothing is kept.
    """
    if not all(turn.text.startswith(turn.heard or "") for turn in wish.turns):
        raise Refused(
            HTTPStatus.CONFLICT, "not_said", "`heard` is a beginning of `text`: leave out what was not played"
        )
    spoken = [
        Spoken(
            by_agent=turn.role == "agent",
            text=turn.text,
            heard=turn.text if turn.heard is None else turn.heard,
        )
        for turn in wish.turns
    ]
    try:
        await call.keep(spoken)
    except ResponderError as error:
        raise Refused(HTTPStatus.BAD_GATEWAY, "agent", str(error)) from None


@router.get(
    "/calls/{call}/events",
    operation_id="followDevice",
    summary="Follow how things stand",
    response_class=EventResponse,
    status_code=200,
    responses={
        HTTPStatus.OK.value: {
            "description": "Server-sent events: docs/realtime.md says which",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE),
    },
)
async def follow_device(
    call: _Found,
    running: Running,
    after: Annotated[
        Annotated[int, Field(ge=0, le=2**53 - 1)] | SkipJsonSchema[None], Query(description="the last `seq` seen")
    ] = None,
) -> EventResponse:
    """Send events: `goals`, `forms`, `context`, `results`, `error`, and `ended` in the end."""
    return EventResponse(call, call.follow(after), running.clock)


@router.delete(
    "/calls/{call}",
    operation_id="endDevice",
    summary="End a device's call",
    status_code=204,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE),
)
async def end_device(call: _Found) -> None:
    """End it: nothing is run for it any more."""
    call.end()
