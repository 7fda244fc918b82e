"""Conversations: what is kept of calls and chats, as a person sees it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal, assert_never

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from agents.core.messages import ToolResult
from agents.core.prompt import open_calls
from agents.core.store import Store, results_of
from agents.timeline import AgentText, TimelineEntry, ToolEntry, UserText, timeline
from voice_server.clients.events import SlotShown
from voice_server.clients.telling import screen
from voice_server.routes.chat import ConversationId
from voice_server.routes.problem import Refused, refusals
from voice_server.service import Running, Service

__all__ = ["router"]

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
"""Between them every date has a place in every time zone, and nothing was written before or after."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def _written(date: str) -> str:
    if not _DATE.fullmatch(date):
        raise ValueError("write the date as 2026-01-31T12:00:00Z, with a time zone")
    return date


def _within(date: datetime) -> datetime:
    return min(max(date, FIRST), LAST)


class ConversationLine(BaseModel):
    """A conversation in the list."""

    id: str
    messages: int = Field(description="how many are stored, those of tools included")
    created_at: datetime
    updated_at: datetime = Field(description="when its latest message was stored")
    going_on: bool = Field(description="whether somebody is in it just now, in a call or a chat")


class ConversationList(BaseModel):
    """A page of the list."""

    conversations: list[ConversationLine] = Field(description="the latest first")
    before: datetime | None = Field(description="give it again to get the next page; none: this is the last")


class Attachment(BaseModel):
    """Something that came with a message's words; its bytes stay in the store."""

    type: str
    media_type: str | None
    name: str | None


class PersonEntry(BaseModel):
    """A person said or wrote something."""

    sender: Literal["user"] = "user"
    message: str = Field(description="the message's id")
    text: str
    attachments: list[Attachment]


class AgentEntry(BaseModel):
    """The agent said or wrote something."""

    sender: Literal["agent"] = "agent"
    message: str = Field(description="the message's id; events of a chat bear it too")
    text: str = Field(description="all it wanted to say")
    heard: str | None = Field(description="what of it was heard or read; none: all, as far as is known")
    interrupted: bool


class ToolUse(BaseModel):
    """The agent used a tool."""

    sender: Literal["tool"] = "tool"
    message: str = Field(description="the id of the agent's message that called it")
    call_id: str
    name: str
    input: Any
    status: Literal["running", "success", "error", "aborted", "unknown"] = Field(
        description="`unknown`: whoever ran it ended before it did, or runs it elsewhere"
    )
    error: str | None = Field(description="what went wrong, when something did")
    render_data: Any = Field(description="what the tool gave for the screen")


class ConversationShown(BaseModel):
    """A conversation as it is rendered."""

    id: str
    entries: list[Annotated[PersonEntry | AgentEntry | ToolUse, Field(discriminator="sender")]] = Field(
        description="the oldest first"
    )
    before: int | None = Field(description="give it again to get the entries before these; none: these are the first")
    seq: int | None = Field(
        description="follow its chat behind this number to learn what happens from now on; what is in both has the "
        "same message id; none: it has no chat now"
    )
    slots: list[SlotShown] = Field(description="what is shown now, oldest first")


@router.get("", operation_id="listConversations", summary="List what is kept")
async def list_conversations(
    service: Running,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[
        Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_within)] | SkipJsonSchema[None],
        Query(description="only conversations that were last written to before this date, which needs a time zone"),
    ] = None,
) -> ConversationList:
    """List conversations, the latest first."""
    lines = await service.conversations.list_conversations(limit, before)
    return ConversationList(
        conversations=[
            ConversationLine(
                id=line.identifier,
                messages=line.messages,
                created_at=line.created_at,
                updated_at=line.updated_at,
                going_on=service.conversations.present(line.identifier) > 0,
            )
            for line in lines
        ],
        before=lines[-1].updated_at if len(lines) == limit else None,
    )


@router.get(
    "/{conversation}",
    operation_id="showConversation",
    summary="Show what was said",
    responses=refusals(HTTPStatus.NOT_FOUND),
)
async def show_conversation(
    conversation: ConversationId,
    service: Running,
    limit: Annotated[int, Query(ge=1, le=1_000, description="entries at most, the latest")] = 200,
    before: Annotated[
        Annotated[int, Field(ge=0)] | SkipJsonSchema[None], Query(description="only entries before this place")
    ] = None,
) -> ConversationShown:
    """Show a conversation as a person sees it: words, and tools with what they gave for the screen."""
    store = await service.conversations.read(conversation)
    if store is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such conversation")
    chat = service.chats.find(conversation)
    seq = None if chat is None else chat.stream.seq  # before it is read: better twice than never
    entries = await _history(service, store)
    end = len(entries) if before is None else min(before, len(entries))
    begin = max(0, end - limit)
    return ConversationShown(
        id=conversation,
        entries=entries[begin:end],
        before=begin or None,
        seq=seq,
        slots=[] if chat is None else list(screen(chat.slots).slots),
    )


@router.delete(
    "/{conversation}",
    operation_id="deleteConversation",
    summary="Delete a conversation for good",
    status_code=204,
    responses=refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def delete_conversation(conversation: ConversationId, service: Running) -> None:
    """Delete all that was said, and what goals and forms of it are kept. Nobody may be in it."""
    await service.chats.end(conversation)
    if service.conversations.present(conversation):
        raise Refused(
            HTTPStatus.CONFLICT, "occupied", "somebody is in this conversation; end the call or the chat first"
        )
    if not await service.conversations.delete(conversation):
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such conversation")


async def _history(service: Service, store: Store) -> list[PersonEntry | AgentEntry | ToolUse]:
    messages = await store.get_messages()
    lost = [(message, call) for message, call in open_calls(messages) if not _runs(service, store.identifier, call.id)]
    recorded: dict[str, ToolResult] = {}
    if lost and (records := results_of(store)) is not None:
        for message, _ in lost:
            recorded |= await records.get_results(message.id)
    unknown = {call.id for _, call in lost}
    return [_entry(entry, recorded, unknown) for entry in timeline(messages, await store.get_settlements())]


def _runs(service: Service, conversation: str, call_id: str) -> bool:
    """Whether a tool call without a result is at work here; a call by voice knows, and does not say."""
    agent, chat = service.conversations.agent(conversation), service.chats.find(conversation)
    if agent is None:
        return False
    on_the_phone = service.conversations.present(conversation) > (chat is not None)
    return on_the_phone or call_id in agent.errands.open_ids or (chat is not None and call_id in chat.open_calls)


def _entry(
    entry: TimelineEntry, recorded: Mapping[str, ToolResult], unknown: Collection[str]
) -> PersonEntry | AgentEntry | ToolUse:
    match entry:
        case UserText():
            attachments = [Attachment(type=p.type, media_type=p.media_type, name=p.name) for p in entry.content]
            return PersonEntry(message=entry.message_id, text=entry.text, attachments=attachments)
        case AgentText():
            return AgentEntry(
                message=entry.message_id, text=entry.text, heard=entry.heard, interrupted=entry.interrupted
            )
        case ToolEntry():
            found = recorded.get(entry.id)
            status = "unknown" if entry.id in unknown else entry.status
            return ToolUse(
                message=entry.message_id,
                call_id=entry.id,
                name=entry.name,
                input=entry.input,
                status=status if found is None else found.result.status,
                error=entry.message if found is None else found.result.message,
                render_data=entry.render_data if found is None else found.result.render_data,
            )
        case _:
            assert_never(entry)
