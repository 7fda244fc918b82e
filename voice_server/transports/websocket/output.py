"""The voice on a socket: audio goes to whoever is connected, and counts as played when they say so."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, Protocol

from pipelines.audio.frame import Samples
from pipelines.playout.output import Report
from voice_server.clients.commands import Played

__all__ = ["Order", "SocketOutput", "Speaking"]

KEPT_EPOCHS = 4
"""Epochs whose acknowledgements are still believed, as in the ledger."""

Order = Literal["clear", "pause", "unpause"]


class Speaking(Protocol):
    """A connection, as the output sees it."""

    def play(self, epoch: int, message: bytes) -> None:
        """Send audio."""
        ...

    def clear(self, epoch: int) -> None:
        """Take back audio of older epochs that waits to be sent."""
        ...


class SocketOutput:
    """An :class:`~pipelines.playout.output.AudioOutput` whose listener is on a connection, or away.

    Args:
        rate: hertz of the synthesiser.
        can_pause: whether the client's player can stop at a sample.
        order: tells the client what to do with its audio.
    """

    def __init__(self, *, rate: int, can_pause: bool, order: Callable[[Order, int], None]) -> None:
        self.rate = rate
        self.can_pause = can_pause
        self._order = order
        self._report: Report | None = None
        self._line: Speaking | None = None
        self._epoch = 0
        self._sent: dict[int, int] = {}
        """Samples sent of each epoch."""

    def attach(self, report: Report) -> None:
        """Say where reports go."""
        self._report = report

    def connect(self, line: Speaking | None) -> None:
        """Speak to a connection from now on, or to nobody."""
        self._line = line

    def play(self, epoch: int, samples: Samples) -> None:
        """Send samples: four bytes of epoch, then the samples, all little endian."""
        self._epoch = epoch
        if epoch not in self._sent:
            self._sent = {old: sent for old, sent in self._sent.items() if old > epoch - KEPT_EPOCHS}
        self._sent[epoch] = self._sent.get(epoch, 0) + len(samples)
        if self._line is not None:
            self._line.play(epoch, struct.pack("<I", epoch) + samples.astype("<i2", copy=False).tobytes())

    def pause(self) -> None:
        """Tell the client to stop at the sample it plays."""
        self._order("pause", self._epoch)

    def unpause(self) -> None:
        """Tell the client to go on."""
        self._order("unpause", self._epoch)

    def clear(self, epoch: int) -> None:
        """Take back what was not sent, and tell the client to throw away what it has not played."""
        self._epoch = epoch
        if self._line is not None:
            self._line.clear(epoch)
        self._order("clear", epoch)

    def acknowledge(self, played: Played) -> None:
        """Take a client's word for what it played; of an epoch that was not sent it proves nothing."""
        sent = self._sent.get(played.epoch)
        if sent is not None and self._report is not None:
            self._report(played.epoch, min(played.ms / 1000, sent / self.rate), final=played.final)

    async def aclose(self) -> None:
        """Send nothing any more. Idempotent."""
        self._line = None
        self._report = None
