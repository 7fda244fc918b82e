"""An agent as the cascade sees it: replies are requests, run one at a time.

Above: the cascade drives a ``Responder``. Below: a :class:`Glove` runs requests, paced by the call's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from agents.core.abort import AbortSignal
from agents.core.draft import ModelDraft
from agents.core.errors import AbortError, GloveError
from agents.core.glove import Glove
from agents.core.request import Request
from pipelines.clock import Clock
from pipelines.glove.explained import explained
from pipelines.glove.feed import Channel, Feed
from pipelines.glove.overheard import Overheard
from pipelines.glove.pace import CallPace
from pipelines.responder import (
    OPEN_QUESTION,
    Expectation,
    ExpectationKind,
    ResponderError,
    ResponderEvent,
    SpokenKind,
    TextDelta,
)

__all__ = ["SETTLEMENT_WAIT_S", "GloveResponder"]

SETTLEMENT_WAIT_S = 0.3
"""How long a reply waits for the one before it to be settled: a late playout report must not hold the conversation."""


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
        self._overheard = Overheard()
        self._feed = Feed(self._overheard.delivered)
        self._latest: _Reply | None = None
        self._leave = (glove.add_context_provider(self._overheard.render), glove.add_subscriber(self._feed))
        self._on_result: Callable[[], None] | None = None

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
        """Prepare an answer: the model is called already, if nothing is being answered or settled just now."""
        idle = self._latest is None or self._latest.over
        return _Draft(self, text, self._glove.draft(text, pace=CallPace(self._clock)) if idle else None)

    def overheard(self, text: str) -> None:
        """Keep words that were no turn for the next model call."""
        self._overheard.add(text)

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Make a sentence said without the model part of the conversation."""
        with explained("what was said could not be kept"):
            await self._glove.record(text, interrupted=interrupted)

    def watch(self, on_result: Callable[[], None], on_said: Callable[[str], None]) -> None:
        """Be called when something happens behind the conversation."""
        self._glove.errands.on_result = self._on_result = on_result
        self._feed.on_said = on_said

    def report(self) -> _Reply:
        """Begin to tell the results of slow tools, behind the latest reply."""
        signal = AbortSignal()
        request = self._glove.begin_report(signal=signal, pace=CallPace(self._clock), spoken=True)
        return self._follow(request, signal)

    async def aclose(self) -> None:
        """End slow tools, wait for those that may not be ended, and let the agent go. Idempotent."""
        try:
            with explained("what was at work could not be ended"):
                await self._glove.aclose()
        finally:
            for leave in self._leave:
                leave()
            if self._glove.errands.on_result is self._on_result:
                self._glove.errands.on_result = None

    def reply(self, text: str, draft: ModelDraft | None = None) -> _Reply:
        """Begin the answer to committed words, behind the latest one; an answer may have been drafted."""
        signal = AbortSignal()
        request = self._glove.begin(text, signal=signal, pace=CallPace(self._clock), draft=draft, spoken=True)
        return self._follow(request, signal)

    def _follow(self, request: Request, signal: AbortSignal) -> _Reply:
        self._latest = _Reply(self._glove, request, signal, self._feed, self._clock, after=self._latest)
        return self._latest


class _Draft:
    """Words, and the model's answer to them if it may be asked for beforehand.

    Its task ends when the answer is whole, when it is discarded, or when the reply that took it up ends.
    """

    def __init__(self, responder: GloveResponder, text: str, ahead: ModelDraft | None) -> None:
        self._responder = responder
        self._text = text
        self._ahead = ahead
        self._writing = None if ahead is None else asyncio.create_task(ahead.run())
        self._open = True

    def commit(self) -> _Reply:
        if not self._open:
            raise RuntimeError("this draft was committed or discarded before; make a new one")
        self._open = False
        if self._ahead is not None and not self._ahead.begun:
            self._ahead.discard()  # it was asked for at once: there is no time to use
        return self._responder.reply(self._text, self._ahead)

    def discard(self) -> None:
        self._open = False
        if self._ahead is not None:
            self._ahead.discard()


class _Reply:
    """One request, from commit to settlement."""

    def __init__(
        self,
        glove: Glove,
        request: Request,
        signal: AbortSignal,
        feed: Feed,
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
        self._done = False

    @property
    def over(self) -> bool:
        """Whether it is made and settled: nothing of it will change any more."""
        return self._done and self._settled.is_set()

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        """Run the request in a task of its own, which ends with this iterator; close the iterator when leaving it."""
        await self._follow()
        channel = self._feed.open()
        running = asyncio.create_task(self._run(channel))
        try:
            while (event := await channel.get()) is not None:
                if not (isinstance(event, TextDelta) and self._signal.aborted):
                    yield event
            for unfinished in self._feed.unfinished(self._glove.errands.open_ids):
                yield unfinished
            await running
        finally:
            self._feed.close(channel)
            while not channel.empty():  # So that nobody waits for room where nobody reads any more.
                channel.get_nowait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            self._done = True
            if not self._request.worded:
                self._settled.set()

    def abort(self) -> None:
        """Stop the model call and the running tool."""
        self._signal.abort()

    def give_way(self) -> None:
        """Stop the model call, and let a running tool go on behind the conversation."""
        self._request.give_way()

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        """Lay what was heard over the reply's messages."""
        try:
            with explained("what was heard could not be kept"):
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

    async def _run(self, channel: Channel) -> None:
        failure: ResponderError | None = None
        self._feed.take_charge()
        try:
            await self._request.run()
        except AbortError:
            pass
        except Exception as exc:  # noqa: BLE001 - a task's boundary; events() raises it
            # Other errors may quote the caller.
            reason = str(exc) if isinstance(exc, GloveError) else f"it raised {type(exc).__name__}"
            failure = ResponderError(f"the agent could not answer: {reason}")
            failure.__cause__ = exc
        self._feed.close(channel)
        await channel.put(None)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # Its traceback holds this frame: together they would be a cycle.
