"""The calls of a server: admitted up to a limit, listed, drained.

Above: the routes, and rooms. Below: each is :class:`Held`, run in the server's task group; those over a socket are
:class:`~voice_server.live.LiveCall`.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from pipelines.call import Call
from pipelines.clock import Clock
from pipelines.vad.rounds import Rounds
from voice_server.clients.commands import Start
from voice_server.clients.events import AgentState
from voice_server.conversations import Conversations
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.live import LiveCall, Premises
from voice_server.settings import Settings
from voice_server.telemetry.metrics import Metrics
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.session import CloseCode

__all__ = ["CallRefusedError", "Calls", "Held", "Refusal"]

COLLECT_EVERY = 16
"""Calls after whose end memory is collected. What a call leaves is cycles that hold its audio, some 140 kB; Python
itself waits for tens of megabytes, for it counts objects. The engines are frozen: beside 35 calls it takes 10 ms."""


def _today() -> datetime:
    return datetime.now().astimezone()


class Held(Protocol):
    """A call, as the server holds it."""

    id: str
    conversation: str
    """What it goes on with."""
    since: datetime

    @property
    def controls(self) -> Call | None:
        """What it is steered by; ``None`` before it hears."""
        ...

    @property
    def state(self) -> AgentState:
        """What the agent is at."""
        ...

    @property
    def attached(self) -> bool:
        """Whether its caller is there, and not only awaited."""
        ...

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        ...

    async def run(self) -> None:
        """Hold the call until it is over; it fails for itself alone. Cancelling ends it."""
        ...

    def end(self, ending: Ending) -> None:
        """End the call. Idempotent."""
        ...


HeldT = TypeVar("HeldT", bound=Held)


class Refusal(StrEnum):
    """Why a call is not taken."""

    BUSY = "busy"
    DRAINING = "draining"
    TAKEN = "taken"
    """The conversation is in a call."""

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
        self._calls: dict[str, Held] = {}
        self._ended = 0
        self._draining = False
        self._none = asyncio.Event()
        """Set while there are none."""
        self._none.set()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Held]:
        return iter(tuple(self._calls.values()))

    def find(self, identifier: str) -> Held | None:
        """Find a call by its id."""
        return self._calls.get(identifier)

    def of(self, conversation: str) -> Held | None:
        """Find the call a conversation is in."""
        return next((call for call in self if call.conversation == conversation), None)

    def answer(self, start: Start, line: Line) -> LiveCall:
        """Find or make the call a client asks for, and attach the client to it.

        Raises:
            LineRefusedError: the server is going away or busy, or the conversation's call has a client.
        """
        try:
            there = None if start.conversation is None else self.of(start.conversation)
            if isinstance(there, LiveCall) and not self._draining:
                call = there
            else:
                call = self.hold(start.conversation, lambda premises, since: LiveCall(premises, start, since))
        except CallRefusedError as refused:
            raise LineRefusedError(refused.refusal.close, refused.refusal.value, refused.message) from None
        try:
            call.attach(line, start)
        except LineRefusedError as refused:
            self._premises.metrics.refused.labels(refused.code).inc()
            raise
        return call

    def hold(self, conversation: str | None, make: Callable[[Premises, datetime], HeldT]) -> HeldT:
        """Hold one more call.

        Args:
            conversation: what it goes on with; ``None``: a new one.
            make: makes it, of what every call is held in and of when it begins.

        Raises:
            CallRefusedError: the server is going away or busy, or the conversation is in a call.
        """
        try:
            self._admit(conversation)
        except CallRefusedError as refused:
            self._premises.metrics.refused.labels(refused.refusal.value).inc()
            raise
        call = make(self._premises, self._today())
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

    def _admit(self, conversation: str | None) -> None:
        if self._draining:
            raise CallRefusedError(Refusal.DRAINING, "the server is going away; try another one")
        if conversation is not None and self.of(conversation) is not None:
            raise CallRefusedError(Refusal.TAKEN, "this conversation is in a call already; end that one first")
        if len(self._calls) >= self.limit:
            raise CallRefusedError(Refusal.BUSY, f"there are {self.limit} calls, as many as are taken; try again later")

    async def _run(self, call: Held) -> None:
        try:
            await call.run()
        finally:
            del self._calls[call.id]
            self._ended += 1
            if self._ended % COLLECT_EVERY == 0:
                gc.collect()
            if not self._calls:
                self._none.set()
