"""An agent as the realtime pipeline sees it: a speech-to-speech model takes its turns, and it keeps the truth.

Above: ``realtime`` drives a ``ToolHost``. Below: the same executor, conversation and context as in chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.identity import Identities
from agents.core.inbox import deliver_inbox, inbox_reminder
from agents.core.late import late_message
from agents.core.messages import Message, ToolCall, ToolResult, Usage
from agents.core.opening import keep_late
from agents.core.response import read_history
from agents.core.running import RunningCall
from agents.core.tools import Tool
from agents.models.wording import read_input, tool_description
from pipelines.clock import Clock
from pipelines.glove.batch import GloveBatch
from pipelines.glove.explained import explained
from pipelines.glove.pace import CallPace
from pipelines.realtime.base import AdvertisedTool, PastTurn, Snapshot
from pipelines.responder import (
    OPEN_QUESTION,
    CallMade,
    Expectation,
    ExpectationKind,
    ResponderError,
    ResponderEvent,
    SpokenKind,
    StoreContended,
    TokenCount,
    ToolFinished,
    ToolSaid,
    ToolStarted,
)

__all__ = ["GloveToolHost", "OnToolCall"]

logger = logging.getLogger(__name__)

PAST_TURNS = 24
"""Turns of an earlier session that are told again: what a caller may refer to, and soon read."""

UNSETTLED_KEPT = 64
"""Messages remembered until it is settled what was heard of them; a conversation has one or two."""

OnToolCall = Callable[[str, str, str], None]
"""Takes a tool's name, ``start``, ``done``, ``error`` or ``aborted``, and the call's id."""

_WORKING: ContextVar[GloveToolHost | None] = ContextVar("_WORKING", default=None)
"""For whose call tools run; those that outlive their rounds inherit it. A chat may have the same agent."""


class GloveToolHost:
    """An agent in a call that a speech-to-speech model drives.

    Args:
        glove: the agent; its own model is never asked.
        clock: the call's clock; runs of tools are leased from it, holder ``tool``.
        exclude_tools: names of tools that are neither told of nor run in this call.
        on_tool_call: told of each call's beginning and end.
    """

    def __init__(
        self,
        glove: Glove,
        clock: Clock,
        *,
        exclude_tools: Collection[str] = (),
        on_tool_call: OnToolCall | None = None,
    ) -> None:
        self._glove = glove
        self._pace = CallPace(clock)
        self._excluded = frozenset(name.lower() for name in exclude_tools)
        self._on_tool_call = on_tool_call
        self._signal = AbortSignal()
        """Stops what is prepared when the call ends."""
        self._come_and_gone: dict[str, Tool] = {}
        self._versions = 0
        self._unsettled: dict[str, Message] = {}
        self._on_result: Callable[[], None] | None = None
        self._on_event: Callable[[ResponderEvent], None] | None = None
        self._leave = glove.add_subscriber(_Ear(self._happened))

    # ---------------------------------------------------------------------------------------------------- what it is

    @property
    def instructions(self) -> str:
        """The agent's system prompt."""
        return self._glove.system_prompt

    @property
    def tools(self) -> tuple[AdvertisedTool, ...]:
        """Its tools of this moment, without those that are excluded."""
        return tuple(
            AdvertisedTool(name=tool.name, description=tool_description(tool.spec), parameters=tool.spec.input_schema)
            for tool in self._offered().values()
        )

    def expects(self) -> Expectation:
        """What was asked latest."""
        answer = self._glove.expectation
        if answer is None:
            return OPEN_QUESTION
        return Expectation(kind=ExpectationKind(answer.kind), choices=answer.choices, length=answer.length)

    def blocked(self) -> bool:
        """Whether a display slot waits for an answer."""
        return self._glove.display is not None and self._glove.display.blocked

    def watch(self, on_result: Callable[[], None], on_event: Callable[[ResponderEvent], None]) -> None:
        """Be called when something happens."""
        self._glove.errands.on_result = self._on_result = on_result
        self._on_event = on_event

    # ---------------------------------------------------------------------------------------------- what it is told of

    async def open(self) -> None:
        """Build the agent, take up what the conversation was left waiting for, and do what precedes a request."""
        with explained("the agent cannot be talked to"):
            self._glove.build()
            if missing := self._excluded - {tool.name.lower() for tool in self._glove.tools}:
                raise ResponderError(
                    f"exclude_tools names {', '.join(sorted(missing))}, and the agent has no such tool"
                )
            await self._glove.recall()
            await self._prepare()

    async def past(self) -> tuple[PastTurn, ...]:
        """Give the latest turns, of the agent's what was heard; a summary of what was before them comes first."""
        with explained("what was said cannot be read"):
            window = await self._glove.conversation.read()
        turns: list[PastTurn] = []
        for message in window.messages:
            settlement = window.settlements.get(message.id)
            cut = settlement is not None and settlement.interrupted
            text = (settlement.heard if settlement is not None and cut else message.text).strip()
            if text and (message.sender == "agent" or message.from_person or message.is_compaction):
                turns.append(PastTurn(role="agent" if message.sender == "agent" else "caller", text=text))
        return tuple(turns[-PAST_TURNS:])

    async def snapshot(self) -> Snapshot:
        """Render goals, forms, facts, context and inbox."""
        with explained("what the model has to know cannot be rendered"):
            reminder = await inbox_reminder(self._glove.store)
            runtime = await self._glove.get_runtime_context(self._signal, now=self._pace.now())
        self._versions += 1
        text = "\n\n".join(message.text for message in (*reminder, *runtime) if message.text)
        return Snapshot(version=self._versions, text=text)

    # --------------------------------------------------------------------------------------------------- what was said

    async def hear(self, text: str) -> None:
        """Keep the caller's words; a plain yes or no also answers a question for leave."""
        glove = self._glove
        with explained("what the caller said could not be kept"):
            await glove.permissions.hear(text)
            await deliver_inbox(glove.conversation)
            await glove.conversation.append(Message(sender="user", text=text, id=glove.new_id()))
            await self._prepare()
            glove.expectation = glove.open_question

    async def say(self, text: str, *, used: TokenCount | None = None) -> str:
        """Keep what the model said."""
        return (await self._keep(text, (), used)).id

    async def call(self, calls: Sequence[CallMade], *, said: str, used: TokenCount | None = None) -> GloveBatch:
        """Keep the calls."""
        glove, kept = self._glove, self._glove.conversation
        with explained("the model's calls could not be kept"):
            history = await read_history(glove, kept, await kept.read())
            identities = Identities(kept.store.identifier, history.messages, history.lost)
            made = tuple(
                ToolCall(
                    # A new connection may count its calls anew.
                    id=call.call_id if identities.claim(call.call_id) else glove.new_id(),
                    tool_name=call.name,
                    input_args=read_input(call.arguments),
                )
                for call in calls
            )
            message = await self._keep(said, made, used)
            for call in made:
                await self._started(call)
        return GloveBatch(
            glove,
            self._pace,
            message,
            wire_ids=[call.call_id for call in calls],
            tools=self._offered(),
            key=partial(identities.key, message.id),
            take_charge=lambda: _take_charge(self),
            late=self._late,
        )

    async def settle(self, message: str, heard: str, *, interrupted: bool) -> None:
        """Lay what was heard over a message."""
        with explained("what was heard could not be kept"):
            kept = self._unsettled.pop(message, None)
            if kept is not None:
                self._glove.permissions.told([kept], kept.text, heard)
            await self._glove.store.settle(message, heard, interrupted)

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Make a sentence said without the model part of the conversation."""
        with explained("what was said could not be kept"):
            await self._glove.record(text, interrupted=interrupted)

    async def spend(self, used: TokenCount) -> None:
        """Count tokens."""
        with explained("tokens could not be counted"):
            await self._glove.store.add_tokens(_usage(used))

    async def late(self) -> tuple[str, ...]:
        """Take the results of slow tools."""
        told: list[str] = []
        with explained("the result of a tool could not be kept"):
            for call in self._glove.errands.take():
                await keep_late(self._glove, call)
                if call.result is not None and call.kept.store is self._glove.store:
                    told.append(late_message(call.result).text)
                    self._glove.expectation = call.expected or self._glove.expectation
        return tuple(told)

    async def aclose(self) -> None:
        """End slow tools, wait for those that may not be ended, and let the agent go. Idempotent."""
        self._signal.abort("closed")
        try:
            with explained("what was at work could not be ended"):
                await self._glove.aclose()
        finally:
            self._leave()
            if self._glove.errands.on_result is self._on_result:
                self._glove.errands.on_result = None

    # ------------------------------------------------------------------------------------------------ what it does

    async def _late(self, running: RunningCall) -> None:
        """Take the result of a call that outlived its batch, and see that it is told."""
        glove = self._glove
        if running.dismissed or glove.closing or glove.errands.on_result is None:
            glove.errands.forget(running)
            await keep_late(glove, running)
            return
        glove.errands.ended(running)
        glove.errands.on_result()

    def _offered(self) -> dict[str, Tool]:
        offered = self._glove.offered
        # A tool that comes and goes with what runs would make some providers connect anew each time: it stays.
        self._come_and_gone |= {name: tool for name, tool in offered.items() if tool not in self._glove.tools}
        return {name: tool for name, tool in {**offered, **self._come_and_gone}.items() if name not in self._excluded}

    async def _prepare(self) -> None:
        await self._glove.prepare_request(self._signal)

    async def _keep(self, text: str, calls: tuple[ToolCall, ...], used: TokenCount | None) -> Message:
        glove = self._glove
        expected = None if calls else glove.expectation
        message = Message(sender="agent", text=text, tool_calls=calls, id=glove.new_id(), expected=expected)
        with explained("what the model said could not be kept"):
            await glove.conversation.append(message)
            if used is not None:
                await glove.store.add_tokens(_usage(used))
            await glove.subscribers.emit(
                "model_response_complete", text=text, tool_calls=calls, stop_reason="tool_use" if calls else "end_turn"
            )
        self._unsettled[message.id] = message
        while len(self._unsettled) > UNSETTLED_KEPT:
            del self._unsettled[next(iter(self._unsettled))]
        return message

    # ------------------------------------------------------------------------------------------------- what happens

    async def _started(self, call: ToolCall) -> None:
        await self._glove.subscribers.emit("tool_use", id=call.id, name=call.tool_name, input=call.input_args)
        given = call.input_args if isinstance(call.input_args, dict) else {}
        self._tell(ToolStarted(call_id=call.id, name=call.tool_name, input=given))
        self._tell_host(call.tool_name, "start", call.id)

    def _ended(self, result: ToolResult) -> None:
        status = result.result.status
        self._tell(
            ToolFinished(call_id=result.call_id, name=result.tool_name, status=status, duration_ms=result.duration_ms)
        )
        self._tell_host(result.tool_name, "done" if status == "success" else status, result.call_id)

    def _happened(self, type: EventType, data: dict[str, Any]) -> None:
        """Take what the glove tells of this call's work."""
        if _WORKING.get() is not self:
            return
        if type == "tool_use_result":
            name, call_id, result = data["tool_name"], data["call_id"], data["result"]
            self._ended(ToolResult(tool_name=name, call_id=call_id, result=result, duration_ms=data["duration_ms"]))
        elif type == "tool_said":
            self._tell(ToolSaid(text=data["text"]))
        elif type == "conflict":
            self._tell(StoreContended(reason=data["notice"]))

    def _tell(self, event: ResponderEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _tell_host(self, name: str, phase: str, call_id: str) -> None:
        if self._on_tool_call is None:
            return
        try:
            self._on_tool_call(name, phase, call_id)
        except Exception as exc:  # noqa: BLE001 - a host's boundary
            logger.warning("who is told of tool calls raised %s", type(exc).__name__)


class _Ear:
    """A glove's subscriber that passes on to a host."""

    def __init__(self, happened: Callable[[EventType, dict[str, Any]], None]) -> None:
        self._happened = happened

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        self._happened(type, data)


def _take_charge(host: GloveToolHost) -> None:
    _WORKING.set(host)


def _usage(used: TokenCount) -> Usage:
    return Usage(tokens_in=used.sent, tokens_out=used.received, cache_read_input_tokens=used.cached)
