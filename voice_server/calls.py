"""The calls of a server: admitted up to a limit, listed, drained.

Above: the routes. Below: each is a :class:`~voice_server.live.LiveCall`, run in the server's task group.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from datetime import datetime

from pipelines.clock import Clock
from pipelines.vad.rounds import Rounds
from voice_server.clients.commands import Start
from voice_server.conversations import Conversations
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.live import LiveCall, Premises
from voice_server.settings import Settings
from voice_server.telemetry.metrics import Metrics
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.session import CloseCode

__all__ = ["Calls"]

COLLECT_EVERY = 16
"""Calls after whose end memory is collected. What a call leaves is cycles that hold its audio, some 140 kB; Python
itself waits for tens of megabytes, for it counts objects. The engines are frozen: beside 35 calls it takes 10 ms."""


def _today() -> datetime:
    return datetime.now().astimezone()


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

    def answer(self, start: Start, line: Line) -> LiveCall:
        """Find or make the call a client asks for, and attach the client to it.

        Raises:
            LineRefusedError: the server is going away or busy, or the conversation's call has a client.
        """
        try:
            return self._answer(start, line)
        except LineRefusedError as refused:
            self._premises.metrics.refused.labels(refused.code).inc()
            raise

    def _answer(self, start: Start, line: Line) -> LiveCall:
        if self._draining:
            raise LineRefusedError(CloseCode.GOING_AWAY, "draining", "the server is going away; try another one")
        call = self._of(start.conversation)
        if call is None:
            if len(self._calls) >= self.limit:
                raise LineRefusedError(
                    CloseCode.BUSY, "busy", f"there are {self.limit} calls, as many as are taken; try again later"
                )
            call = self._admit(start)
        call.attach(line, start)
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

    def _of(self, conversation: str | None) -> LiveCall | None:
        return next((call for call in self if call.conversation == conversation), None)

    def _admit(self, start: Start) -> LiveCall:
        call = LiveCall(self._premises, start, self._today())
        self._calls[call.id] = call
        self._none.clear()
        self._group.create_task(self._hold(call), name=f"call {call.id}")
        return call

    async def _hold(self, call: LiveCall) -> None:
        try:
            await call.run()
        finally:
            del self._calls[call.id]
            self._ended += 1
            if self._ended % COLLECT_EVERY == 0:
                gc.collect()
            if not self._calls:
                self._none.set()
