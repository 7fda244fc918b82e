"""Server-sent events: how a stream of events leaves over HTTP.

Above: routes return an ``EventResponse``. Below: whatever is followed, and somebody who follows it.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pipelines.clock import Clock
from voice_server.clients.stream import Follower, Told

__all__ = ["EventResponse", "Followed", "write_event"]

PING_EVERY_S = 15.0
"""Seconds between comments, so that nobody between takes a quiet connection for a dead one: as the standard advises."""

STUCK_S = 60.0
"""Seconds in which a client has to take what is sent: who reads nothing for so long is not there any more."""

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Nobody is to keep the events, nor to hold them back until there are more."""


def write_event(told: Told) -> bytes:
    """Write an event as it travels: its JSON has no line breaks."""
    number = "" if told.seq is None else f"id: {told.seq}\n"
    return f"{number}event: {told.type}\ndata: {told.text}\n\n".encode(errors="replace")


class Followed(Protocol):
    """Something that tells events: a chat, or a device's call."""

    def introduce(self, turn: int | None) -> Told:
        """Give the first event of a connection.

        Args:
            turn: the message that the connection answers, if it answers one.
        """
        ...

    def leave(self, follower: Follower) -> None:
        """Somebody reads no more."""
        ...


class EventResponse(Response):
    """Sends events until their follower is closed or its client has gone.

    Args:
        followed: whose.
        follower: reads them; it leaves in the end.
        turn: the message this answers, if it answers one.
        clock: times the pings.
    """

    media_type = "text/event-stream"

    def __init__(self, followed: Followed, follower: Follower, clock: Clock, *, turn: int | None = None) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._followed = followed
        self._follower = follower
        self._clock = clock
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, until there is nothing more to send or nobody to send it to."""
        stuck = False
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with asyncio.TaskGroup() as group:
                work = (self._send_events(send), _gone(receive), self._ping(send))
                tasks = [group.create_task(part) for part in work]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
        except* TimeoutError:
            stuck = True
        finally:
            self._followed.leave(self._follower)
        if not stuck:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        await _send(send, write_event(self._followed.introduce(self._turn)))
        async for told in self._follower:
            await _send(send, write_event(told))

    async def _ping(self, send: Send) -> None:
        while True:
            await self._clock.sleep(PING_EVERY_S)
            await _send(send, b": ping\n\n")


async def _send(send: Send, block: bytes) -> None:
    async with asyncio.timeout(STUCK_S):
        await send({"type": "http.response.body", "body": block, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
