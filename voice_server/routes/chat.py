"""Chat over HTTP: a message is answered with events, and a stream that broke goes on where it broke."""

from __future__ import annotations

import re
import uuid
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Depends, Header, Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agents.core.errors import AnswerError
from agents.core.messages import ContentPart
from voice_server.chat.chat import Chat, CrowdedError, SlotAnsweredError
from voice_server.chat.chats import BusyError
from voice_server.routes.body import bounded
from voice_server.routes.problem import Refused, refusals
from voice_server.routes.sse import EventResponse
from voice_server.service import Running, Service, Shared

__all__ = ["ConversationId", "router"]

LONGEST_TEXT = 20_000
"""Characters of a message: a long letter."""

MOST_IMAGES = 4
LARGEST_IMAGE = 2_000_000
"""Characters of an image's base64: a megabyte and a half, as much as models look at."""

LARGEST_MESSAGE = 9_000_000
"""Bytes of a message with all it may carry."""

router = APIRouter(prefix="/api/chat", tags=["chat"], route_class=bounded(LARGEST_MESSAGE))

_PLAIN = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
_BASE64 = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

ConversationId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_.:-]{1,128}$", description="the conversation's id", examples=["ann"])
]

EventNumber = Annotated[int, Field(ge=0, le=2**53 - 1)]
"""As far as JavaScript can count."""


def _plain(text: str) -> str:
    if not re.fullmatch(_PLAIN, text):
        raise ValueError("control characters are not taken, but for tabs and line breaks")
    return text


def _base64(data: str) -> str:
    if not re.fullmatch(_BASE64, data):
        raise ValueError("this is no base64")
    return data


class Image(BaseModel):
    """A picture beside a message's words."""

    model_config = ConfigDict(extra="forbid")

    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    data: Annotated[str, AfterValidator(_base64)] = Field(
        min_length=4, max_length=LARGEST_IMAGE, description="base64", json_schema_extra={"pattern": _BASE64}
    )
    name: str | None = Field(default=None, max_length=200)


class ChatMessage(BaseModel):
    """What is written to the agent."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "anyOf": [
                {"required": ["text"], "properties": {"text": {"pattern": r"\S"}}},
                {"required": ["images"], "properties": {"images": {"minItems": 1}}},
            ],
            "examples": [{"text": "What time is it?"}, {"text": "And now?", "conversation": "ann"}],
        },
    )

    text: Annotated[str, AfterValidator(_plain)] = Field(
        default="", max_length=LONGEST_TEXT, json_schema_extra={"pattern": _PLAIN}
    )
    conversation: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.:-]{1,128}$",
        description="what to go on with; one that was never heard of, or none, begins a new one",
    )
    images: list[Image] = Field(default_factory=list, max_length=MOST_IMAGES)
    screen: bool = Field(
        default=False, description="whether slots can be shown and answered; from then on and for the whole chat"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not re.search(r"\S", self.text) and not self.images:
            raise ValueError("nothing was said; give a text or an image")
        return self

    def parts(self) -> str | list[ContentPart]:
        """The message as the agent takes it."""
        if not self.images:
            return self.text
        images = [
            ContentPart(type="image", name=image.name, media_type=image.media_type, data=image.data)
            for image in self.images
        ]
        return [ContentPart(type="text", text=self.text), *images]


class SlotAnswer(BaseModel):
    """What a person did with what is shown: one of the two."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "oneOf": [
                {"required": ["value"]},
                {"required": ["reject"], "properties": {"reject": {"type": "string"}}},
            ],
            "examples": [{"value": True}, {"reject": "not now"}],
        },
    )

    value: Any = Field(default=None, description="the answer, of the type the slot wants")
    reject: str | None = Field(default=None, max_length=500, description="why there is no answer")

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if len(self.model_fields_set) != 1 or (self.reject is None and "reject" in self.model_fields_set):
            raise ValueError("give either `value` or `reject`")
        return self


class SlotSettled(BaseModel):
    """What became of a slot."""

    slot: str
    outcome: Literal["resolved", "rejected"]


class Stopped(BaseModel):
    """What was stopped."""

    stopped: int = Field(description="how many answers")


_EXAMPLE = """\
id: 2
event: text
data: {"v":1,"seq":2,"call":"ann","t_ms":5,"type":"text","data":{"text":"It is noon.","turn":0}}

"""

_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$", "description": "its number; none: it is not sent again"},
        "event": {"type": "string", "description": "its type"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}

_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `id` is the number to go on behind, `event` the type, `data` the event as "
        "`voice-server schema` describes it. A comment comes every 15 seconds.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "array", "items": _EVENT},
                "itemSchema": _EVENT,
                "example": _EXAMPLE,
            }
        },
    }
}


async def _open(service: Service, conversation: str) -> Chat:
    try:
        return await service.chats.open(conversation)
    except BusyError as error:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "busy", str(error), headers={"Retry-After": "5"}) from None


def _crowded(error: CrowdedError) -> Refused:
    return Refused(HTTPStatus.TOO_MANY_REQUESTS, "crowded", str(error), headers={"Retry-After": "5"})


def _going_on(conversation: ConversationId, service: Running) -> Chat:
    if (chat := service.chats.find(conversation)) is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such chat, or nothing is going on in it any more")
    return chat


_GoingOn = Annotated[Chat, Depends(_going_on)]


@router.post(
    "",
    operation_id="chat",
    summary="Write to the agent and read its answer",
    response_class=EventResponse,
    status_code=200,
    responses={
        **_EVENTS,
        **refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.TOO_MANY_REQUESTS),
    },
)
async def chat(message: ChatMessage, service: Shared) -> EventResponse:
    """Have a message answered; the stream ends with the `ended` event that bears its turn.

    The answer is made whether or not somebody reads it. A second message waits for the first, but not for a slow tool:
    what that comes to is told on the first one's stream.
    """
    chat = await _open(service, message.conversation or uuid.uuid4().hex)
    try:
        turn, follower = chat.say(message.parts(), message.text)
    except CrowdedError as error:
        raise _crowded(error) from None
    if message.screen:
        chat.have_screen()
    return EventResponse(chat, follower, service.clock, turn=turn)


@router.get(
    "/{conversation}/events",
    operation_id="followChat",
    summary="Follow a chat, or go on where a stream broke",
    response_class=EventResponse,
    status_code=200,
    responses={**_EVENTS, **refusals(HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS)},
)
async def follow_chat(
    conversation: ConversationId,
    service: Shared,
    last_event_id: Annotated[
        EventNumber | SkipJsonSchema[None], Header(description="the `id` of the last event seen")
    ] = None,
    after: Annotated[
        EventNumber | SkipJsonSchema[None], Query(description="the same, where headers cannot be set")
    ] = None,
) -> EventResponse:
    """Send all events behind the last one seen or, without a number, from now on, until the client goes.

    An `error` with the code `missed` comes first when some of them are kept no more: load the conversation anew.
    """
    if await service.conversations.read(conversation) is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such conversation")
    chat = await _open(service, conversation)
    try:
        follower = chat.follow(after if last_event_id is None else last_event_id)
    except CrowdedError as error:
        raise _crowded(error) from None
    return EventResponse(chat, follower, service.clock)


@router.post(
    "/{conversation}/abort",
    operation_id="abortChat",
    summary="Stop answering",
    responses=refusals(HTTPStatus.NOT_FOUND),
)
async def abort_chat(chat: _GoingOn) -> Stopped:
    """Stop all answers and the tools that may be stopped; what was written of an answer stays. Idempotent."""
    return Stopped(stopped=chat.abort())


@router.post(
    "/{conversation}/slots/{slot}",
    operation_id="answerSlot",
    summary="Answer what is shown, or refuse to",
    responses=refusals(
        HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    ),
)
async def answer_slot(
    chat: _GoingOn, slot: Annotated[str, Path(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")], answer: SlotAnswer
) -> SlotSettled:
    """Give a slot its value, or say why it gets none; a value that does not fit leaves the question open (422)."""
    try:
        if answer.reject is None:
            chat.resolve(slot, answer.value)
            return SlotSettled(slot=slot, outcome="resolved")
        chat.reject(slot, answer.reject)
    except KeyError:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", f"no slot {slot!r} is shown") from None
    except SlotAnsweredError as error:
        raise Refused(HTTPStatus.CONFLICT, "answered", str(error)) from None
    except AnswerError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "bad_answer", str(error)) from None
    return SlotSettled(slot=slot, outcome="rejected")
