"""An event stream: events get their numbers, are kept for a while, and reach everybody who follows.

Pure but for the wait of a follower; the call's loop is the only one that uses it.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

from voice_server.clients.events import VERSION, ClientEvent

__all__ = ["EventStream", "Follower", "LaggingError", "Reader", "Told"]

KEPT = 1_000
"""Events kept for clients that come back: some twenty minutes of a conversation."""

AHEAD = 500
"""Events a follower may be behind before it is given up."""


class LaggingError(Exception):
    """A follower read so slowly that events were lost to it; it may follow again from the last number it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event with its place in the stream."""

    seq: int | None
    """Ascending from 1; ``None``: it is not kept."""
    type: str
    text: str
    """The whole envelope as JSON, encoded once for all followers."""


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
    """

    def __init__(self, call: str, now: Callable[[], float]) -> None:
        self.call = call
        self._now = now
        self._began = now()
        self._seq = 0
        self._kept: deque[Told] = deque(maxlen=KEPT)
        self._readers: list[Reader] = []

    @property
    def seq(self) -> int:
        """The number of the latest kept event; 0 before the first."""
        return self._seq

    def t_ms(self, at: float) -> int:
        """Turn seconds of the clock into milliseconds since the stream began."""
        return max(0, round((at - self._began) * 1000))

    def tell(self, event: ClientEvent) -> Told:
        """Send an event to everybody who follows. Returns at once, whoever reads slowly."""
        if event.kept:
            self._seq += 1
        seq = self._seq if event.kept else None
        told = Told(seq=seq, type=event.type, text=self._encode(seq, event))
        if event.kept:
            self._kept.append(told)
        for reader in tuple(self._readers):
            reader.offer(told)
        return told

    def since(self, after: int) -> list[Told]:
        """Give the kept events behind a number."""
        return [told for told in self._kept if told.seq is not None and told.seq > after]

    def missed(self, after: int) -> bool:
        """Whether events behind a number are kept no more."""
        oldest = self._kept[0].seq if self._kept else None
        return oldest is not None and after + 1 < oldest

    def add(self, reader: Reader) -> None:
        """Give somebody all events from now on; drop them in the end."""
        self._readers.append(reader)

    def follow(self, after: int | None = None) -> Follower:
        """Begin to follow; close the follower in the end.

        Args:
            after: the last number seen; kept events behind it come first. ``None``: only what comes from now on.
        """
        kept = [] if after is None else self.since(after)
        follower = Follower(self, kept, missed=after is not None and self.missed(after))
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

    def _encode(self, seq: int | None, event: ClientEvent) -> str:
        envelope: dict[str, Any] = {
            "v": VERSION,
            "seq": seq,
            "call": self.call,
            "t_ms": self.t_ms(self._now()),
            "type": event.type,
            "data": event.model_dump(mode="json"),
        }
        return json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))


class _Reading(Enum):
    FOLLOWING = auto()
    OVER = auto()
    """Nothing comes after what waits."""
    LAGGING = auto()
    """Given up: events behind those that wait were lost."""


@dataclass(eq=False)
class Follower:
    """Somebody who reads a stream: an async iterator that ends with the stream, or when it is closed.

    Raises:
        LaggingError: while iterating: more than ``AHEAD`` events waited to be read.
    """

    stream: EventStream
    kept: list[Told]
    missed: bool
    """Whether events after the number it gave are kept no more."""
    _queue: deque[Told] = field(init=False)
    _more: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _reading: _Reading = field(default=_Reading.FOLLOWING, init=False)

    def __post_init__(self) -> None:
        self._queue = deque(self.kept)
        self._more.set()

    def offer(self, told: Told) -> None:
        """Take an event, or give up: a reader this slow would be told of the past for ever."""
        if len(self._queue) < AHEAD + len(self.kept):
            self._queue.append(told)
            self._more.set()
        else:
            self._stop(_Reading.LAGGING)

    def close(self) -> None:
        """Follow no longer; what waits can still be read. Idempotent."""
        self._stop(_Reading.OVER)

    def _stop(self, reading: _Reading) -> None:
        self.stream.drop(self)
        if self._reading is _Reading.FOLLOWING:
            self._reading = reading
        self._more.set()

    async def __aiter__(self) -> AsyncIterator[Told]:
        while True:
            while self._queue:
                yield self._queue.popleft()
            if self._reading is _Reading.LAGGING:
                raise LaggingError(f"more than {AHEAD} events waited to be read")
            if self._reading is _Reading.OVER:
                return
            self._more.clear()
            await self._more.wait()
