"""The line: one connection, from its acceptance to its close.

Above: the route. Below: ``session`` understands what the client says, ``outbox`` keeps what it is to be sent, and a
call is found for it among the server's :class:`~voice_server.calls.Calls`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, assert_never

from starlette.websockets import WebSocket, WebSocketDisconnect

from pipelines.audio.frame import Frame
from pipelines.clock import Clock, Timer
from voice_server.clients.commands import Command, Start
from voice_server.clients.events import ClientEvent, Failure
from voice_server.clients.stream import EventStream, Told
from voice_server.transports.websocket.outbox import Outbox, Parting
from voice_server.transports.websocket.session import (
    Action,
    Begin,
    Close,
    CloseCode,
    Complain,
    Obey,
    Session,
)

__all__ = ["Answered", "Line", "LineRefusedError"]

_log = logging.getLogger(__name__)

CLOSE_LIMIT_S = 2.0
"""Seconds a client may take to read what was sent before the connection is closed whether it was read or not."""

LONGEST_REASON = 120
"""Bytes of a sentence in a close frame, RFC 6455, 5.5."""

BREATH = 5
"""Messages understood in a row before others have their turn: 100 ms of audio, some 2 ms of work."""


class LineRefusedError(Exception):
    """A connection cannot have the call it asks for.

    Args:
        close: how the connection is closed.
        code: of the error event before that.
        message: one sentence.
    """

    def __init__(self, close: CloseCode, code: str, message: str) -> None:
        super().__init__(message)
        self.close = close
        self.code = code
        self.message = message


class Answered(Protocol):
    """A call, as a connection sees it."""

    async def ready(self) -> None:
        """Wait until the call can hear."""
        ...

    def hear(self, frame: Frame) -> None:
        """Take audio."""
        ...

    def obey(self, command: Command) -> None:
        """Take a command."""
        ...

    def aside(self, event: ClientEvent) -> Told:
        """Put an event into its envelope for one connection alone."""
        ...

    def detach(self, line: Line) -> None:
        """The connection is gone. Idempotent."""
        ...


class Line:
    """Drives one connection. Also a reader of its call's events.

    Args:
        socket: not accepted yet.
        clock: real.
        idle_s: seconds without audio after which the connection is closed.
        answer: finds a call for a client, or raises :class:`LineRefusedError`.
        lateness: told how long audio waited to be sent, in seconds.
    """

    def __init__(
        self,
        socket: WebSocket,
        clock: Clock,
        *,
        idle_s: float,
        answer: Callable[[Start, Line], Answered],
        lateness: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._socket = socket
        self._clock = clock
        self._answer = answer
        self._lateness = lateness
        self._session = Session(clock.now(), idle_s=idle_s)
        self._outbox = Outbox()
        self._more = asyncio.Event()
        self._call: Answered | None = None
        self._timer: Timer | None = None
        self._limit: Timer | None = None
        self._writing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Serve the connection to its end. Cancelling closes it."""
        await self._socket.accept()
        self._arm()
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(), name="read")
                self._writing = group.create_task(self._write(), name="write")
                self._writing.add_done_callback(lambda _: reading.cancel())
        finally:
            self._stop()

    # ------------------------------------------------------------------------------------------- what others ask of it

    def offer(self, told: Told) -> None:
        """Send an event."""
        self._outbox.say(told.text)
        self._sent()

    def play(self, epoch: int, message: bytes) -> None:
        """Send audio."""
        self._outbox.play(epoch, message, self._clock.now())
        self._sent()

    def clear(self, epoch: int) -> None:
        """Take back audio of older epochs that waits to be sent."""
        self._outbox.clear(epoch)

    def close(self, code: CloseCode = CloseCode.OVER, reason: str = "") -> None:
        """Close the connection when all that waits is sent, or could not be sent in time. Idempotent."""
        self._part(code, reason)

    # --------------------------------------------------------------------------------------------------- what it reads

    async def _read(self) -> None:
        try:
            await self._listen()
            self._give_up()
        except Exception:  # noqa: BLE001 - a connection's boundary: one that fails fails alone
            _log.exception("a connection failed")
            self.close(CloseCode.FAILED, "the server failed at it; its log says where")
        finally:
            self._leave()

    async def _listen(self) -> None:
        messages = 0
        while (message := await self._receive()) is not None:
            for action in self._session.feed(message, self._clock.now()):
                await self._act(action)
            messages += 1
            if messages % BREATH == 0:
                await self._clock.sleep(0)

    async def _receive(self) -> str | bytes | None:
        """Receive a message; ``None``: the connection is closed."""
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            return None
        text: str | None = message.get("text")
        return message["bytes"] if text is None else text

    async def _act(self, action: Action) -> None:
        match action:
            case Frame():
                if self._call is not None:
                    self._call.hear(action)
            case Obey():
                if self._call is not None:
                    self._call.obey(action.command)
            case Begin():
                await self._begin(action.start)
            case Complain():
                self._complain("bad_message", action.message)
            case Close():
                self.close(action.code, action.reason)
                self._leave()
            case _:
                assert_never(action)

    async def _begin(self, start: Start) -> None:
        try:
            self._call = self._answer(start, self)
            await self._call.ready()
        except LineRefusedError as refused:
            self._complain(refused.code, refused.message)
            self.close(refused.close, refused.message)

    def _leave(self) -> None:
        """Let the call go on without this connection."""
        call, self._call = self._call, None
        if call is not None:
            call.detach(self)

    # -------------------------------------------------------------------------------------------------- what it writes

    async def _write(self) -> None:
        """Send what waits until the connection is closed."""
        # Either means that the client is gone; which one depends on who closed first.
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._more.wait()
                self._more.clear()
                while self._outbox:
                    item = self._outbox.take()
                    if isinstance(item, Parting):
                        await self._socket.close(item.code, item.reason)
                        return
                    if isinstance(item, str):
                        await self._socket.send({"type": "websocket.send", "text": item})
                    else:
                        await self._socket.send({"type": "websocket.send", "bytes": item.message})
                        self._lateness(self._clock.now() - item.at)

    def _complain(self, code: str, message: str) -> None:
        failure = Failure(code=code, message=message)
        self.offer(EventStream("", self._clock.now).aside(failure) if self._call is None else self._call.aside(failure))

    def _sent(self) -> None:
        self._more.set()
        if self._outbox.overfull:
            self._part(CloseCode.TOO_SLOW, "what is sent is not read in time", at_once=True)
            self._leave()

    def _part(self, code: CloseCode, reason: str, *, at_once: bool = False) -> None:
        fitting = reason.encode()[:LONGEST_REASON].decode(errors="ignore")
        self._outbox.close(Parting(code=code, reason=fitting), at_once=at_once)
        self._more.set()
        if self._limit is None:
            self._limit = self._clock.call_at(self._clock.now() + CLOSE_LIMIT_S, self._give_up)

    def _give_up(self) -> None:
        """Wait no longer for a client that does not read: what it was told last, it will not know."""
        if self._writing is not None:
            self._writing.cancel()

    # ------------------------------------------------------------------------------------------------------- its timer

    def _arm(self) -> None:
        self._timer = self._clock.call_at(self._session.deadline, self._tick)

    def _tick(self) -> None:
        if (close := self._session.tick(self._clock.now())) is None:
            self._arm()
            return
        self.close(close.code, close.reason)
        self._leave()

    def _stop(self) -> None:
        for timer in (self._timer, self._limit):
            if timer is not None:
                timer.cancel()
