"""Callers over sockets, all in one process: they speak, listen to the answer, and speak again.

``python -m tests.bench.socket_callers '{"port": 1, "calls": 48, "ramp_s": 8, "seconds": 60}'`` prints a line when all
are talking, and in the end a JSON object. One timer gives all of them their frames, so that this process is in nobody's
way.
"""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from collections import deque
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import cast

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from tests.fixtures.catalogue import fixture

__all__ = ["Talked"]

ANSWER_LIMIT_S = 12.0
"""Seconds after which a turn is lost: twice as long as speaking and listening to the answer takes."""

BREATH_S = 0.3
"""Seconds between the end of an answer and the next question."""

SPOKEN = ("what-time-is-it", "what-can-you-do", "twelve-times-seven", "what-day-is-it")

FRAME_S = 0.02

PHASES = 10
"""Different moments at which callers' frames leave: microphones know nothing of one another."""

PLAYED_EVERY = 5
"""Frames between two reports of what was played."""

RATE = 24_000


@dataclass(slots=True, kw_only=True)
class Talked:
    """What came of it."""

    answered: int = 0
    lost: int = 0
    refused: int = 0
    """Connections the server closed as busy."""


class _Caller(asyncio.Protocol):
    """One client: a microphone, and a player that plays what comes, in real time."""

    def __init__(self, url: str, number: int, turns: int | None, talked: Talked) -> None:
        self.over = asyncio.Event()
        self._wire = ClientProtocol(parse_uri(url), max_size=None)
        self._loop = asyncio.get_running_loop()
        self._number = number
        self._turns = turns
        self._talked = talked
        self._said = 0
        self._speech: deque[bytes] = deque()
        self._speaks_at = 0.0
        self._lost_at = 0.0
        self._ready = False
        self._ticks = number
        self._epoch = 0
        self._got = 0
        """Samples of the epoch that came."""
        self._played = 0.0
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._wire.send_request(self._wire.connect())
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ready = False
        self.over.set()

    def data_received(self, data: bytes) -> None:
        self._wire.receive_data(data)
        for event in self._wire.events_received():
            if isinstance(event, Response):
                self._say({"type": "start"})
            elif isinstance(event, Frame):
                self._heard(event)
        self._flush()

    def hang_up(self) -> None:
        if self._ready:
            self._say({"type": "hangup"})
            self._flush()

    def tick(self, now: float) -> None:
        """Send the next 20 ms, and sometimes what was played."""
        if not self._ready:
            return
        if not self._speech and self._speaks_at <= now:
            self._ask(now)
        self._wire.send_binary(self._speech.popleft() if self._speech else bytes(640))
        if not self._paused:
            self._played = min(self._got, self._played + FRAME_S * RATE)
        self._ticks += 1
        if self._ticks % PLAYED_EVERY == 0 and self._got:
            self._say({"type": "played", "epoch": self._epoch, "ms": self._played * 1000 / RATE})
        if now > self._lost_at:
            self._talked.lost += 1
            self._rest(now)
        self._flush()

    def _ask(self, now: float) -> None:
        samples = fixture(SPOKEN[(self._number + self._said) % len(SPOKEN)]).samples().tobytes()
        self._speech.extend(samples[at : at + 640].ljust(640, b"\0") for at in range(0, len(samples), 640))
        self._speaks_at = float("inf")
        self._lost_at = now + ANSWER_LIMIT_S

    def _rest(self, now: float) -> None:
        self._said += 1
        self._lost_at = float("inf")
        self._speaks_at = now + BREATH_S
        if self._said == self._turns:
            self._speaks_at = float("inf")
            self.hang_up()

    def _heard(self, frame: Frame) -> None:
        if frame.opcode is Opcode.BINARY:
            (epoch,) = struct.unpack_from("<I", frame.data)
            if epoch > self._epoch:
                self._epoch, self._got, self._played = epoch, 0, 0.0
            self._got += (len(frame.data) - 4) // 2
        elif frame.opcode is Opcode.TEXT and b'"type":"level"' not in frame.data:
            self._told(json.loads(bytes(frame.data)))
        elif frame.opcode is Opcode.CLOSE:
            self._talked.refused += int.from_bytes(frame.data[:2], "big") == 1013
            self._transport.close()

    def _told(self, event: dict[str, object]) -> None:
        match event["type"], event["data"]:
            case "ready", _:
                self._ready = True
                self._speaks_at = self._loop.time() + BREATH_S
                self._lost_at = float("inf")
            case "spoken", _:
                self._talked.answered += 1
                self._rest(self._loop.time())
            case "playout", {"order": order}:
                self._paused = order == "pause"

    def _say(self, command: dict[str, object]) -> None:
        self._wire.send_text(json.dumps(command).encode())

    def _flush(self) -> None:
        for data in self._wire.data_to_send():
            if data:
                self._transport.write(data)


SETTLE_S = 8.0
"""Seconds after the last caller has come: all have had an answer by then."""


async def talk(*, port: int, calls: int, ramp_s: float, seconds: float = 0.0, turns: int | None = None) -> Talked:
    """Hold calls, each to its last turn, or all at once for a while.

    Args:
        port: of the server.
        calls: how many.
        ramp_s: seconds over which callers come, one after the other.
        seconds: how long they talk when all are there.
        turns: after which each hangs up; ``None``: all talk at once.
    """
    talked = Talked()
    loop = asyncio.get_running_loop()
    url = f"ws://127.0.0.1:{port}/api/voice"
    callers: list[_Caller] = []

    async def come(number: int) -> _Caller:
        _, caller = await loop.create_connection(lambda: _Caller(url, number, turns, talked), "127.0.0.1", port)
        return caller

    async def beat() -> None:
        due = loop.time()
        for phase in cycle(range(PHASES)):
            due += FRAME_S / PHASES
            await asyncio.sleep(due - loop.time())
            now = loop.time()
            for caller in callers[phase::PHASES]:
                caller.tick(now)

    async with asyncio.TaskGroup() as group:
        beating = group.create_task(beat())
        for number in range(calls):
            callers.append(await come(number))
            await asyncio.sleep(ramp_s / calls)
        if turns is None:
            await asyncio.sleep(SETTLE_S)
            print("talking", flush=True)
            await (await come(calls)).over.wait()
            await asyncio.sleep(seconds)
            for caller in callers:
                caller.hang_up()
        for caller in callers:
            await caller.over.wait()
        beating.cancel()
    return talked


def main() -> None:
    """Talk."""
    import uvloop

    asked = json.loads(sys.argv[1])
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        talked = runner.run(talk(**asked))
    print(json.dumps(asdict(talked)), flush=True)


if __name__ == "__main__":
    main()
