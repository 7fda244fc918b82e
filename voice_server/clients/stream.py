"""An event stream: events get their numbers, are kept for a while, and reach everybody who reads.

Pure but for the wait of a follower; the call's loop is the only one that uses it.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from voice_server.clients.events import VERSION, ClientEvent, Failure

__all__ = ["EventStream", "Follower", "Reader", "Told"]

KEPT = 1_000
"""Events kept for clients that come back: some twenty minutes of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event with its place in the stream."""

    seq: int | None
    """Ascending; ``None``: it is not kept."""
    type: str
    text: str
    """The whole envelope as JSON, encoded once for all readers."""


class Reader(Protocol):
    """Takes a stream's events as they come."""

    def offer(self, told: Told) -> None:
        """Take an event; returns at once."""
        ...

    def close(self) -> None:
        """Nothing follows."""
        ...


class EventStream:
    """What one call, or one chat, tells its clients.

    Args:
        call: its id.
        now: seconds of its clock.
        behind: the number its first event comes behind: higher than any number of an earlier stream that a client may
            take for this one.
        keep: how many events are kept.
    """

    def __init__(self, call: str, now: Callable[[], float], *, behind: int = 0, keep: int = KEPT) -> None:
        self.call = call
        self._now = now
        self._began = now()
        self._seq = behind
        self._kept: deque[Told] = deque(maxlen=keep)
        self._readers: list[Reader] = []

    @property
    def seq(self) -> int:
        """The number of the latest kept event; that which the first comes behind, before there is one."""
        return self._seq

    @property
    def readers(self) -> int:
        """How many read it."""
        return len(self._readers)

    def t_ms(self, at: float) -> int:
        """Turn seconds of the clock into milliseconds since the stream began."""
        return max(0, round((at - self._began) * 1000))

    def tell(self, event: ClientEvent) -> Told:
        """Send an event to everybody who reads. Returns at once, whoever reads slowly."""
        if event.kept:
            self._seq += 1
        told = self._envelop(event, self._seq if event.kept else None)
        if event.kept:
            self._kept.append(told)
        for reader in tuple(self._readers):
            reader.offer(told)
        return told

    def aside(self, event: ClientEvent) -> Told:
        """Put an event into its envelope for one client alone: it has no number, and nobody else is told."""
        return self._envelop(event, None)

    def since(self, after: int) -> list[Told]:
        """Give the kept events behind a number."""
        count = min(self._seq - after, len(self._kept))
        return [self._kept[-index] for index in range(count, 0, -1)]

    def missed(self, after: int) -> bool:
        """Whether events behind a number are kept no more, or the number is none of this stream's."""
        return not self._seq - len(self._kept) <= after <= self._seq

    def add(self, reader: Reader) -> None:
        """Give somebody all events from now on; drop them in the end."""
        self._readers.append(reader)

    def follow(self, after: int | None = None) -> Follower:
        """Begin to follow; close the follower in the end.

        Args:
            after: the last number seen; kept events behind it come first. ``None``: only what comes from now on.
        """
        follower = Follower(self, self._seq if after is None else after)
        self.add(follower)
        return follower

    def drop(self, reader: Reader) -> None:
        """Let a reader go. Idempotent."""
        if reader in self._readers:
            self._readers.remove(reader)

    def close(self) -> None:
        """Tell everybody that nothing follows."""
        for reader in tuple(self._readers):
            reader.close()

    def _envelop(self, event: ClientEvent, seq: int | None) -> Told:
        envelope: dict[str, Any] = {
            "v": VERSION,
            "seq": seq,
            "call": self.call,
            "t_ms": self.t_ms(self._now()),
            "type": event.type,
            "data": event.model_dump(mode="json"),
        }
        text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
        return Told(seq=seq, type=event.type, text=text)


class Follower:
    """Somebody who reads the kept events at their own pace: an async iterator that ends when it is closed.

    It holds a place in the stream and no events, so that a slow one costs nothing. Where events are lost to it, because
    they are kept no more, it is given an ``error`` with the code ``missed``, and goes on with what is told afterwards.

    Args:
        stream: what is read.
        after: the last number seen.
    """

    def __init__(self, stream: EventStream, after: int) -> None:
        self._stream = stream
        self._seen = after
        self._last: int | None = None
        """The number of the last event to be read; ``None`` while there may be more."""
        self._more = asyncio.Event()

    def offer(self, told: Told) -> None:
        """Take note that there is an event."""
        self._more.set()

    def close(self) -> None:
        """Follow no longer; what was told before can still be read. Idempotent."""
        self._stream.drop(self)
        if self._last is None:
            self._last = self._stream.seq
        self._more.set()

    async def __aiter__(self) -> AsyncIterator[Told]:
        while True:
            self._more.clear()
            if self._stream.missed(self._seen):
                yield self._skip()
            for told in self._stream.since(self._seen):
                if self._last is not None and told.seq is not None and told.seq > self._last:
                    return
                self._seen = told.seq or self._seen
                yield told
            if self._last is not None:
                return
            await self._more.wait()

    def _skip(self) -> Told:
        message = f"some events after number {self._seen} are kept no more; load the conversation anew"
        self._seen = self._stream.seq
        return self._stream.aside(Failure(code="missed", message=message))
