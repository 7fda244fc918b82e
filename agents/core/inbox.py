"""The inbox: what the agent asked of the world outside, and what the world answered between two requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, Field

from agents.core.conversation import Conversation
from agents.core.messages import Message, ToolResultData
from agents.core.store import InboxItem, Store, inbox_of
from agents.core.tools import Tool, ToolContext

__all__ = ["INBOX_TOOL", "deliver_inbox", "inbox_reminder", "inbox_tool", "pending_lines"]

INBOX_TOOL = "glove_post_to_inbox"


class Post(BaseModel):
    """A request to the world outside."""

    tag: str = Field(min_length=1, max_length=100, description="What sort of request: 'refund', 'callback'")
    request: str = Field(min_length=1, max_length=4_000, description="What is asked, so that anybody understands it")
    blocking: bool = Field(default=False, description="Whether something you are to do has to wait for the answer")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def inbox_tool(now: Callable[[], datetime] = _utc_now) -> Tool:
    """Make the tool with which the model asks the world outside.

    Args:
        now: dates a request; with a time zone.
    """

    async def do(given: Post, ctx: ToolContext) -> Any:
        inbox = inbox_of(ctx.store)
        if inbox is None:
            return ToolResultData(status="error", message="This conversation has no inbox.")
        item = InboxItem(
            id=f"inbox_{uuid4().hex}",
            tag=given.tag,
            request=given.request,
            blocking=given.blocking,
            created_at=now(),
        )
        await inbox.add_inbox_item(item)
        return {
            "inbox_item_id": item.id,
            "message": "Posted. The answer, when there is one, comes with a later message.",
        }

    return Tool(
        name=INBOX_TOOL,
        description=(
            "Ask something of people or systems outside this conversation that will take a while. You do not get the "
            "answer now: it is shown to you before a later message of the user's."
        ),
        input=Post,
        do=do,
    )


async def deliver_inbox(kept: Conversation) -> None:
    """Make answers that have come part of the conversation, all in one message, each once.

    The message is named after its items, so that a crash before they are marked does not store it again.
    """
    inbox = inbox_of(kept.store)
    items = [] if inbox is None else await inbox.get_resolved_inbox_items()
    if inbox is None or not items:
        return
    lines = [f"[Inbox: {len(items)} item(s) resolved]"]
    for item in items:
        resolved = "" if item.resolved_at is None else f" ({item.resolved_at.isoformat(timespec='minutes')})"
        lines += [f"- {item.tag}: {item.request}", f"  Answer{resolved}: {item.response}"]
    message_id = ":".join(["inbox", *(item.id for item in items)])
    await kept.append(Message(sender="user", text="\n".join(lines), id=message_id, framework_context="inbox"))
    for item in items:
        await inbox.update_inbox_item(item.id, status="consumed")


async def inbox_reminder(kept: Store) -> tuple[Message, ...]:
    """Remind the model of what it waits for; never stored."""
    items = [item for item in await _pending(kept) if item.blocking]
    if not items:
        return ()
    told = (
        "These requests are not answered yet. Do nothing that depends on them until they are; go on with everything "
        "that does not:"
    )
    return (Message(sender="user", text="\n".join([told, *map(_line, items)]), framework_context="inbox"),)


async def pending_lines(kept: Store) -> list[str]:
    """What a summary says of requests that are not answered yet."""
    items = await _pending(kept)
    return ["Requests that are not answered yet:", *map(_line, items)] if items else []


async def _pending(kept: Store) -> list[InboxItem]:
    inbox = inbox_of(kept)
    return [] if inbox is None else await inbox.get_inbox_items("pending")


def _line(item: InboxItem) -> str:
    blocking = ", blocking" if item.blocking else ""
    return f"- {item.tag}{blocking}, posted {item.created_at.isoformat(timespec='minutes')}: {item.request}"
