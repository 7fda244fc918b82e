"""An outbox: what waits to be sent on one connection, audio and events in their order.

Pure: the line takes out of it what the socket can take.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

__all__ = ["Audio", "Outbox", "Parting"]

MOST_BYTES = 512 * 1024
"""What may wait, in bytes: ten seconds of audio. Whoever has that much to read is not there any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """The last thing sent: the connection is closed."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Audio:
    """Audio that waits."""

    epoch: int
    message: bytes
    at: float


class Outbox:
    """A queue of bounded size, from which audio that is not wanted any more can be taken back."""

    def __init__(self) -> None:
        self._waiting: deque[str | Audio | Parting] = deque()
        self._bytes = 0
        self._closed = False

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def overfull(self) -> bool:
        """Whether more waits than may."""
        return self._bytes > MOST_BYTES

    def say(self, text: str) -> None:
        """Put in an event."""
        if not self._closed:
            self._waiting.append(text)
            self._bytes += len(text)

    def play(self, epoch: int, message: bytes, now: float) -> None:
        """Put in audio; ``now`` comes out again with it."""
        if not self._closed:
            self._waiting.append(Audio(epoch, message, now))
            self._bytes += len(message)

    def clear(self, epoch: int) -> None:
        """Take back audio that is older than an epoch."""
        waiting, self._waiting = self._waiting, deque()
        for item in waiting:
            if isinstance(item, Audio) and item.epoch < epoch:
                self._bytes -= len(item.message)
            else:
                self._waiting.append(item)

    def close(self, parting: Parting, *, at_once: bool = False) -> None:
        """Put in the last thing; what comes after it is dropped. Idempotent.

        Args:
            parting: how.
            at_once: whether nothing that waits is sent before it.
        """
        if self._closed:
            return
        self._closed = True
        if at_once:
            self._waiting.clear()
            self._bytes = 0
        self._waiting.append(parting)

    def take(self) -> str | Audio | Parting:
        """Take out what is next.

        Raises:
            IndexError: nothing waits.
        """
        item = self._waiting.popleft()
        if isinstance(item, Audio):
            self._bytes -= len(item.message)
        elif isinstance(item, str):
            self._bytes -= len(item)
        return item
