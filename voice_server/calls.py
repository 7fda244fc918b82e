"""The calls of a server: admitted up to a limit, listed, drained.

Above: the routes, and rooms. Below: each is a :class:`~voice_server.live.LiveCall`, run in the server's task group.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum

from pipelines.clock import Clock
from pipelines.realtime.base import TurnDetection
from pipelines.turns.settings import TurnTaking
from pipelines.vad.rounds import Rounds
from voice_server.clients.commands import Start
from voice_server.conversations import Conversations
from voice_server.ending import Ending
from voice_server.errors import UsageError
from voice_server.house import House
from voice_server.leg import Leg
from voice_server.live import LiveCall, Premises, Terms
from voice_server.settings import PipelineKind, Settings
from voice_server.telemetry.metrics import Metrics
from voice_server.transports.websocket.leg import SocketLeg
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.session import CloseCode

__all__ = ["CallRefusedError", "Calls", "Refusal"]

COLLECT_EVERY = 16
"""Calls after whose end memory is collected. What a call leaves is cycles that hold its audio, some 140 kB; Python
itself waits for tens of megabytes, for it counts objects. The engines are frozen: beside 35 calls it takes 10 ms."""


def _today() -> datetime:
    return datetime.now().astimezone()


class Refusal(StrEnum):
    """Why a call is not taken."""

    BUSY = "busy"
    DRAINING = "draining"
    TAKEN = "taken"
    """The conversation is in a call."""
    UNABLE = "unable"
    """The server has not what calls on that pipeline need."""

    @property
    def close(self) -> CloseCode:
        """How a connection is closed that asked for one."""
        match self:
            case Refusal.BUSY:
                return CloseCode.BUSY
            case Refusal.DRAINING:
                return CloseCode.GOING_AWAY
            case Refusal.TAKEN:
                return CloseCode.TAKEN
            case Refusal.UNABLE:
                return CloseCode.NOT_UNDERSTOOD


class CallRefusedError(Exception):
    """A call is not taken; the message is one sentence for whoever asked.

    Args:
        refusal: why.
        message: one sentence.
    """

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal
        self.message = message


class Calls:
    """All calls there are.

    Args:
        settings: how many there may be, and how they are held.
        house: the engines.
        conversations: what calls go on with.
        clock: real.
        group: in which calls run.
        metrics: the server's.
        today: the date and time, for people.
    """

    def __init__(
        self,
        settings: Settings,
        house: House,
        conversations: Conversations,
        clock: Clock,
        group: asyncio.TaskGroup,
        metrics: Metrics,
        today: Callable[[], datetime] = _today,
    ) -> None:
        self.limit = settings.calls
        self._premises = Premises(
            settings=settings,
            house=house,
            conversations=conversations,
            clock=clock,
            metrics=metrics,
            rounds=Rounds(house.vad, clock, self.__len__),
        )
        self._group = group
        self._today = today
        self._calls: dict[str, LiveCall] = {}
        self._ended = 0
        self._draining = False
        self._none = asyncio.Event()
        """Set while there are none."""
        self._none.set()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[LiveCall]:
        return iter(tuple(self._calls.values()))

    def find(self, identifier: str) -> LiveCall | None:
        """Find a call by its id."""
        return self._calls.get(identifier)

    def of(self, conversation: str) -> LiveCall | None:
        """Find the call a conversation is in."""
        return next((call for call in self if call.conversation == conversation), None)

    def answer(self, start: Start, line: Line) -> SocketLeg:
        """Find or make the call a client asks for, and attach the client to it.

        Raises:
            LineRefusedError: the server is going away or busy, or the conversation's call has a client.
        """
        try:
            leg = self._leg(start)
        except CallRefusedError as refused:
            raise LineRefusedError(refused.refusal.close, refused.refusal.value, refused.message) from None
        try:
            leg.attach(line, start)
        except LineRefusedError as refused:
            self._premises.metrics.refused.labels(refused.code).inc()
            raise
        return leg

    def _leg(self, start: Start) -> SocketLeg:
        there = None if start.conversation is None else self.of(start.conversation)
        if there is not None and isinstance(there.leg, SocketLeg) and not self._draining:
            return there.leg
        terms = Terms(
            conversation=start.conversation,
            mode=None if start.mode is None else TurnTaking(start.mode),
            muted=start.muted,
            pipeline=None if start.pipeline is None else PipelineKind(start.pipeline),
            detection=None if start.detection is None else TurnDetection(start.detection),
        )
        leg = self.hold(terms, lambda call: SocketLeg(call, start)).leg
        assert isinstance(leg, SocketLeg)
        return leg

    def hold(self, terms: Terms, leg: Callable[[LiveCall], Leg]) -> LiveCall:
        """Hold one more call.

        Args:
            terms: what is asked for.
            leg: makes the way to its caller, given the call.

        Raises:
            CallRefusedError: the server is going away or busy, the conversation is in a call, or the pipeline cannot
                be had.
        """
        try:
            self._refuse(terms)
        except CallRefusedError as refused:
            self._premises.metrics.refused.labels(refused.refusal.value).inc()
            raise
        call = LiveCall(self._premises, terms, self._today(), leg)
        self._calls[call.id] = call
        self._none.clear()
        self._group.create_task(self._run(call), name=f"call {call.id}")
        return call

    async def drain(self, seconds: float) -> None:
        """Take no new calls, let those there are end, and end them when it takes too long. Idempotent."""
        self._draining = True
        try:
            async with asyncio.timeout(seconds):
                await self._none.wait()
        except TimeoutError:
            self.end_all(Ending.DRAINING)
            await self._none.wait()

    def end_all(self, ending: Ending) -> None:
        """End all calls; they are gone in a few seconds."""
        for call in self:
            call.end(ending)

    def _refuse(self, terms: Terms) -> None:
        conversation = terms.conversation
        if self._draining:
            raise CallRefusedError(Refusal.DRAINING, "the server is going away; try another one")
        if conversation is not None and self.of(conversation) is not None:
            raise CallRefusedError(Refusal.TAKEN, "this conversation is in a call already; end that one first")
        if len(self._calls) >= self.limit:
            raise CallRefusedError(Refusal.BUSY, f"there are {self.limit} calls, as many as are taken; try again later")
        settings = self._premises.settings
        try:
            terms.wanted.spec(settings.agent, settings.agents)
        except UsageError as error:
            raise CallRefusedError(Refusal.UNABLE, str(error)) from None
        if (missing := self._premises.house.missing_for(terms.pipeline or settings.pipeline)) is not None:
            raise CallRefusedError(Refusal.UNABLE, missing)

    async def _run(self, call: LiveCall) -> None:
        try:
            await call.run()
        finally:
            del self._calls[call.id]
            self._ended += 1
            if self._ended % COLLECT_EVERY == 0:
                gc.collect()
            if not self._calls:
                self._none.set()
