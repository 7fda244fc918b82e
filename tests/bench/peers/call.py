"""One call of the comparison: a caller who speaks and waits as told, and what was measured of the answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from tests.bench.peers.sink import FRAME_S, Sink
from tests.bench.peers.vendors import LATENCY_S, LONG_REPLY, SHORT_REPLY

__all__ = ["HOLD_S", "Answer", "Connection", "Line", "Measured", "Plan", "Prompt", "Stop", "load_prompts"]

HOLD_S = 0.2
"""Silence after which every system is told to take the caller for done."""

ANSWER_LIMIT_S = 4.0
"""After so long a turn is lost."""

BARGE_AFTER_S = 1.0
"""How long the caller listens before they interrupt."""

BREATH_S = 0.3
"""Between the agent's last sound and the caller's next."""

_RATE = 16_000
_FRAME_BYTES = 2 * round(_RATE * FRAME_S)

Frames: TypeAlias = Generator[bytes, None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A recorded caller, as frames of int16 mono at 16 kHz."""

    frames: tuple[bytes, ...]
    first: int
    """The frame in which speech begins."""
    last: int
    """The frame in which speech ends."""


def load_prompts(folder: Path) -> list[Prompt]:
    """Read what the driver wrote: ``index.json`` and a raw file for each prompt."""
    prompts = []
    for entry in json.loads((folder / "index.json").read_text()):
        pcm = (folder / entry["file"]).read_bytes()
        frames = tuple(pcm[at : at + _FRAME_BYTES] for at in range(0, len(pcm) - _FRAME_BYTES + 1, _FRAME_BYTES))
        last = min(int(entry["end_s"] / FRAME_S), len(frames) - 1)
        prompts.append(Prompt(frames=frames, first=int(entry["start_s"] / FRAME_S), last=last))
    return prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A turn that was answered. Seconds."""

    overhead_s: float
    """From the caller's last frame with speech to the agent's first, without hold and vendors."""
    after_s: float
    """From when the turn was taken to the agent's first frame, without vendors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """An interruption. Seconds."""

    silent_s: float
    """From the caller's first frame with speech until the agent fell silent."""


@dataclass(slots=True)
class Measured:
    """What was seen of a call, or of several."""

    answers: list[Answer] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    lost: int = 0
    """Turns without an answer, and interruptions that stopped nothing."""


class Connection(Protocol):
    """A system's end of a call."""

    async def hear(self, frame: bytes) -> None:
        """Take 20 ms of the caller: int16 mono, 16 kHz."""
        ...

    async def close(self) -> None:
        """Hang up, and leave nothing behind."""
        ...


class Plan(Protocol):
    """What a caller does."""

    def __call__(self, line: Line) -> Frames:
        """Give the caller's frames, one every 20 ms; what is done between two of them happens at their time."""
        ...


class Line:
    """A call, as seen from outside the systems.

    Args:
        prompts: what this caller says, in order, over and over.

    Attributes:
        sink: where the agent's voice goes.
        reply: what the vendor's model says next.
        measured: what was seen.
    """

    def __init__(self, prompts: Sequence[Prompt]) -> None:
        self.sink = Sink()
        self.reply = SHORT_REPLY
        self.measured = Measured()
        self._prompts = prompts
        self._said = 0
        self._loop = asyncio.get_running_loop()
        self._fed_at = 0.0
        self._noticed_at = 0.0
        self._onset_at = 0.0
        self._ended_at = 0.0

    def noticed(self) -> None:
        """Be told by the system that it takes the caller for done."""
        self._noticed_at = self._loop.time()

    async def hold(self, connection: Connection, plan: Plan) -> None:
        """Feed the caller, on absolute deadlines, to the end of the plan."""
        due = self._loop.time()
        for frame in plan(self):
            due += FRAME_S
            await asyncio.sleep(due - self._loop.time())
            self._fed_at = self._loop.time()
            await connection.hear(frame)

    def turn(self, reply: str) -> Frames:
        """Say the next prompt and wait for the first sound of its answer."""
        self.reply = reply
        yield from self._say()
        yield from self._await_answer()

    def interruption(self) -> Frames:
        """Speak over the agent, and wait for the answer to that."""
        yield from self.silence(BARGE_AFTER_S)
        self.reply = SHORT_REPLY
        spoken_over = self.sink.playing
        began_at = self._loop.time()
        yield from self._say()
        if spoken_over and (stopped_at := self.sink.stopped_at) is not None and stopped_at > began_at:
            self.measured.stops.append(Stop(silent_s=stopped_at - self._onset_at))
        else:
            self.measured.lost += 1
        yield from self._await_answer(counts=False)

    def listening(self) -> Frames:
        """Hear the agent out."""
        while self.sink.playing:
            yield self._quiet
        yield from self.silence(BREATH_S)

    def silence(self, seconds: float) -> Frames:
        """Say nothing for a while."""
        for _ in range(round(seconds / FRAME_S)):
            yield self._quiet

    @property
    def _quiet(self) -> bytes:
        return self._prompts[0].frames[0]

    def _say(self) -> Frames:
        prompt = self._prompts[self._said % len(self._prompts)]
        self._said += 1
        self.sink.began_at = None
        for index, frame in enumerate(prompt.frames):
            yield frame
            if index == prompt.first:
                self._onset_at = self._fed_at
            if index == prompt.last:
                self._ended_at = self._fed_at

    def _await_answer(self, *, counts: bool = True) -> Frames:
        limit = self._loop.time() + ANSWER_LIMIT_S
        while self.sink.began_at is None or self.sink.began_at < self._ended_at:
            if self._loop.time() > limit:
                self.measured.lost += 1
                return
            yield self._quiet
        if counts:
            began_at = self.sink.began_at
            self.measured.answers.append(
                Answer(
                    overhead_s=began_at - self._ended_at - HOLD_S - LATENCY_S,
                    after_s=began_at - self._noticed_at - LATENCY_S,
                )
            )


def conversation(line: Line) -> Frames:
    """Ask, interrupt the long answer, hear the short one out; for ever."""
    while True:
        yield from line.turn(LONG_REPLY)
        yield from line.interruption()
        yield from line.listening()


def interview(line: Line) -> Frames:
    """Ask and hear the long answer out; for ever."""
    while True:
        yield from line.turn(LONG_REPLY)
        yield from line.listening()


def question(line: Line) -> Frames:
    """Ask once and hear the short answer out."""
    yield from line.turn(SHORT_REPLY)
    yield from line.listening()
