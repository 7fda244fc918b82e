"""Our agents behind the responder's Protocols: the one module here that imports ``agents``.

Above: the cascade drives a ``Responder``. Below: a :class:`Glove` runs requests, paced by the call's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, GloveError
from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.model import ModelEvent, ModelFinished
from agents.core.pace import Work
from agents.core.request import Request
from pipelines.clock import Clock, held
from pipelines.responder import (
    OPEN_QUESTION,
    Expectation,
    ExpectationKind,
    ResponderError,
    ResponderEvent,
    SpokenKind,
    TextCompleted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)

__all__ = ["SETTLEMENT_WAIT_S", "GloveResponder"]

SETTLEMENT_WAIT_S = 0.3
"""How long a reply waits for the one before it to be settled: a late playout report must not hold the conversation."""

EVENTS_AHEAD = 64
"""Events the agent may be ahead of who speaks them; then the model's stream waits."""

OVERHEARD_KEPT = 8
"""Overheard remarks kept for the next model call; older ones are dropped, for they no longer matter."""

OVERHEARD_LIMIT = 500
"""Characters kept of one of them."""


class GloveResponder:
    """An agent in a call. Replies are run one at a time, in the order committed.

    Args:
        glove: the agent.
        clock: the call's clock; waits for the model and runs of tools are leased from it, holders ``model`` and
            ``tool``.
    """

    def __init__(self, glove: Glove, clock: Clock) -> None:
        self._glove = glove
        self._clock = clock
        self._overheard = _Overheard()
        self._latest: _Reply | None = None
        glove.add_context_provider(self._overheard.render)

    def expects(self) -> Expectation:
        """What the latest reply asked for."""
        answer = self._glove.expectation
        if answer is None:
            return OPEN_QUESTION
        return Expectation(kind=ExpectationKind(answer.kind), choices=answer.choices, length=answer.length)

    def blocked(self) -> bool:
        """Whether a display slot waits for an answer."""
        return self._glove.display is not None and self._glove.display.blocked

    def draft(self, text: str) -> _Draft:
        """Prepare an answer; the model is not called before the commit."""
        return _Draft(self, text)

    def overheard(self, text: str) -> None:
        """Keep words that were no turn for the next model call."""
        self._overheard.add(text)

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Make a sentence said without the model part of the conversation."""
        await self._glove.record(text, interrupted=interrupted)

    def reply(self, text: str) -> _Reply:
        """Begin the answer to committed words, behind the latest one."""
        signal = AbortSignal()
        request = self._glove.begin(text, signal=signal, pace=_CallPace(self._clock))
        feed = _Feed(self._overheard.delivered)
        self._latest = _Reply(self._glove, request, signal, feed, self._clock, after=self._latest)
        return self._latest


class _Draft:
    def __init__(self, responder: GloveResponder, text: str) -> None:
        self._responder = responder
        self._text = text
        self._open = True

    def commit(self) -> _Reply:
        if not self._open:
            raise RuntimeError("this draft was committed or discarded before; make a new one")
        self._open = False
        return self._responder.reply(self._text)

    def discard(self) -> None:
        self._open = False


class _Reply:
    """One request, from commit to settlement."""

    def __init__(
        self,
        glove: Glove,
        request: Request,
        signal: AbortSignal,
        feed: _Feed,
        clock: Clock,
        *,
        after: _Reply | None,
    ) -> None:
        self._glove = glove
        self._request = request
        self._signal = signal
        self._feed = feed
        self._clock = clock
        self._after = after
        self._settled = asyncio.Event()

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        """Run the request in a task of its own, which ends with this iterator; close the iterator when leaving it."""
        await self._follow()
        feed = self._feed
        unsubscribe = self._glove.add_subscriber(feed)
        running = asyncio.create_task(self._run())
        try:
            while (event := await feed.next()) is not None:
                if not (isinstance(event, TextDelta) and self._signal.aborted):
                    yield event
            for unfinished in feed.unfinished():
                yield unfinished
            await running
        finally:
            unsubscribe()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            if not self._request.worded:
                self._settled.set()

    def abort(self) -> None:
        """Stop the model call and the running tool."""
        self._signal.abort()

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        """Lay what was heard over the reply's messages."""
        try:
            await self._request.settle(heard, interrupted=interrupted)
        finally:
            self._settled.set()

    async def _follow(self) -> None:
        """Let the reply before this one be settled first, so that history is in the order of the conversation."""
        before, self._after = self._after, None
        if before is None:
            return
        timer = self._clock.call_at(self._clock.now() + SETTLEMENT_WAIT_S, before._settled.set)
        try:
            await before._settled.wait()
        finally:
            timer.cancel()
        # A reply that was aborted before anybody asked for its events still answers words that were committed.
        await before._request.open()

    async def _run(self) -> None:
        failure: ResponderError | None = None
        try:
            await self._request.run()
        except AbortError:
            pass
        except Exception as exc:  # noqa: BLE001 - a task's boundary; events() raises it
            # Other errors may quote the caller.
            reason = str(exc) if isinstance(exc, GloveError) else f"it raised {type(exc).__name__}"
            failure = ResponderError(f"the agent could not answer: {reason}")
            failure.__cause__ = exc
        await self._feed.end()
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # Its traceback holds this frame: together they would be a cycle.


class _Feed:
    """A request's events on their way to whoever speaks them; a full feed makes the request wait.

    Args:
        on_answer: called when the model, having been given its context, answers.
    """

    def __init__(self, on_answer: Callable[[], None]) -> None:
        self._on_answer = on_answer
        self._events: asyncio.Queue[ResponderEvent | None] = asyncio.Queue(maxsize=EVENTS_AHEAD)
        self._started: dict[str, str] = {}

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        if type in ("text_delta", "tool_use", "model_response_complete"):
            self._on_answer()
        match type:
            case "text_delta":
                await self._events.put(TextDelta(text=data["text"]))
            case "model_response_complete":
                await self._events.put(TextCompleted())
            case "tool_use":
                self._started[data["id"]] = data["name"]
                given = data["input"] if isinstance(data["input"], dict) else {}
                await self._events.put(ToolStarted(call_id=data["id"], name=data["name"], input=given))
            case "tool_use_result":
                self._started.pop(data["call_id"], None)
                result: ToolResultData = data["result"]
                await self._events.put(
                    ToolFinished(
                        call_id=data["call_id"],
                        name=data["tool_name"],
                        status=result.status,
                        duration_ms=data["duration_ms"],
                    )
                )
            case _:
                pass

    async def end(self) -> None:
        await self._events.put(None)

    async def next(self) -> ResponderEvent | None:
        return await self._events.get()

    def unfinished(self) -> list[ToolFinished]:
        """Calls that were announced and never run, because the model's response was not finished."""
        return [ToolFinished(call_id=call_id, name=name, status="aborted") for call_id, name in self._started.items()]


class _Overheard:
    """Words that were no turn, until a model that was given them has answered."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._offered = 0

    def add(self, words: str) -> None:
        if not words.strip():
            return
        self._words.append(words.strip()[:OVERHEARD_LIMIT])
        if len(self._words) > OVERHEARD_KEPT:
            del self._words[0]
            self._offered = max(0, self._offered - 1)

    def render(self, _signal: AbortSignal | None) -> str | None:
        self._offered = len(self._words)
        if not self._words:
            return None
        quoted = "; ".join(f'"{words}"' for words in self._words)
        return f"While you were speaking the caller also said, without wanting to interrupt: {quoted}."

    def delivered(self) -> None:
        """Forget what was rendered: a model call that had it has answered."""
        del self._words[: self._offered]
        self._offered = 0


class _CallPace:
    """Leases a request's waits from the call's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock.now()

    async def model(self, events: AsyncGenerator[ModelEvent, None]) -> AsyncGenerator[ModelEvent, None]:
        while True:
            async with held(self._clock, "model"):
                event = await anext(events, None)
            if event is None:
                return
            yield event
            if isinstance(event, ModelFinished):
                return  # The end of the stream is no work to be charged.

    def tool(self, name: str) -> AbstractAsyncContextManager[Work]:
        return held(self._clock, "tool")
