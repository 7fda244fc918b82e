"""A session: what a client says on one connection, understood or refused.

Pure: it is fed messages and the time, and returns what to do. Above: ``line`` reads the socket and carries the actions
out. Below: ``commands`` reads what is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import TypeAlias

import numpy as np

from pipelines.audio.frame import Frame
from voice_server.clients.allowance import Allowance
from voice_server.clients.commands import Command, CommandError, Start, parse_command

__all__ = ["Action", "Begin", "Close", "CloseCode", "Complain", "Obey", "Session"]

START_S = 5.0
"""Seconds a client has to say ``start``: longer than any network needs, and nobody holds a place with silence."""

BURST_S = 1.5
"""Seconds of audio that may come at once when a call begins: what a microphone's buffers hold."""

STALL_S = 10.0
"""Seconds of audio that may come at once later: what piles up while a mobile network changes masts."""

PACE = 1.1
"""How much faster than time audio may come for ever: clocks of sound cards differ by less than a thousandth."""

LONGEST_FRAME_S = 0.1
"""Seconds of audio in one message."""

MESSAGES_PER_S = 150.0
"""Messages: audio in frames of 10 ms, and ten acknowledgements and commands besides."""

MISTAKES = 5.0
"""Messages that may be wrong before the connection is closed; one a minute is forgiven."""


class CloseCode(IntEnum):
    """Why a connection is closed; the table is in docs/protocol.md."""

    OVER = 1000
    GOING_AWAY = 1001
    FAILED = 1011
    BUSY = 1013
    NOT_UNDERSTOOD = 4400
    UNAUTHORIZED = 4401
    SILENT = 4408
    TAKEN = 4409
    TOO_FAST = 4413
    TOO_SLOW = 4429


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """The client wants a call; it may have one if its key fits."""

    start: Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Obey:
    """Do what the client says."""

    command: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Complain:
    """Tell the client that what it said was not understood."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Close the connection."""

    code: CloseCode
    reason: str
    """One sentence, at most 120 bytes."""


Action: TypeAlias = Begin | Frame | Obey | Complain | Close
"""What to do; a frame is to be heard."""


class _Stage(Enum):
    OPENING = auto()
    """``start`` is awaited."""
    TALKING = auto()
    CLOSED = auto()
    """Nothing that comes is listened to any more."""


class Session:
    """One connection's side of the conversation about audio.

    Args:
        now: seconds of the clock.
        idle_s: seconds without audio after which the connection is closed.
    """

    def __init__(self, now: float, *, idle_s: float) -> None:
        self._stage = _Stage.OPENING
        self._idle_s = idle_s
        self._until = now + START_S
        self._rate = 0
        self._audio = Allowance(per_s=PACE, first=BURST_S, most=STALL_S, now=now)
        self._messages = Allowance(
            per_s=MESSAGES_PER_S, first=MESSAGES_PER_S * BURST_S, most=MESSAGES_PER_S * STALL_S, now=now
        )
        self._mistakes = Allowance(per_s=1 / 60, first=MISTAKES, most=MISTAKES, now=now)

    @property
    def deadline(self) -> float:
        """When to call ``tick``, unless something comes before."""
        return self._until

    def feed(self, message: str | bytes, now: float) -> list[Action]:
        """Take a message.

        Args:
            message: text, or audio: mono int16, little endian.
            now: seconds of the clock.
        """
        if self._stage is _Stage.CLOSED:
            return []
        if not self._messages.take(1.0, now):
            return self._close(CloseCode.TOO_FAST, f"more than {MESSAGES_PER_S:.0f} messages a second; send 20 ms each")
        if self._stage is _Stage.OPENING:
            return self._open(message, now)
        return self._obey(message, now) if isinstance(message, str) else self._hear(message, now)

    def tick(self, now: float) -> Close | None:
        """Say whether the client was silent for too long."""
        if self._stage is _Stage.CLOSED or now < self._until:
            return None
        if self._stage is _Stage.OPENING:
            reason = f'no {{"type": "start"}} within {START_S:.0f} seconds'
        else:
            reason = f"no audio for {self._idle_s:.0f} seconds"
        self._stage = _Stage.CLOSED
        return Close(code=CloseCode.SILENT, reason=reason)

    def _open(self, message: str | bytes, now: float) -> list[Action]:
        if not isinstance(message, str):
            return self._close(CloseCode.NOT_UNDERSTOOD, 'audio came first; say {"type": "start"} before it')
        try:
            command = parse_command(message)
        except CommandError as error:
            return [Complain(message=str(error)), *self._close(CloseCode.NOT_UNDERSTOOD, "start was not understood")]
        if not isinstance(command, Start):
            return self._close(
                CloseCode.NOT_UNDERSTOOD, f'{command.type!r} came first; say {{"type": "start"}} before it'
            )
        self._stage = _Stage.TALKING
        self._rate = command.rate
        self._until = now + self._idle_s
        return [Begin(start=command)]

    def _obey(self, message: str, now: float) -> list[Action]:
        try:
            command = parse_command(message)
        except CommandError as error:
            return self._mistaken(str(error), now)
        if isinstance(command, Start):
            return self._mistaken("start: the call has begun already; connect again to begin another", now)
        return [Obey(command=command)]

    def _hear(self, message: bytes, now: float) -> list[Action]:
        samples, odd = divmod(len(message), 2)
        if odd or not samples:
            return self._mistaken(f"audio of {len(message)} bytes: samples have two, and there must be one", now)
        seconds = samples / self._rate
        if seconds > LONGEST_FRAME_S:
            return self._mistaken(f"{seconds:.2f} s of audio in one message; send 10 to 100 ms, 20 is best", now)
        if not self._audio.take(seconds, now):
            return self._close(CloseCode.TOO_FAST, "audio comes faster than it is spoken; send it as time passes")
        self._until = now + self._idle_s
        return [Frame(np.frombuffer(message, "<i2").astype(np.int16, copy=False), self._rate)]

    def _mistaken(self, message: str, now: float) -> list[Action]:
        complaint = Complain(message=message)
        if self._mistakes.take(1.0, now):
            return [complaint]
        return [complaint, *self._close(CloseCode.NOT_UNDERSTOOD, "too much of it cannot be understood")]

    def _close(self, code: CloseCode, reason: str) -> list[Action]:
        self._stage = _Stage.CLOSED
        return [Close(code=code, reason=reason)]
