"""Engines that hear and speak numbers: a whole call on virtual time, with nothing left to chance.

A caller's word is a run of samples of one value; the recogniser reads the values back. A word of the agent's is a run
of samples of one value too, so that what an output played can be compared, word by word, with what is said to be heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.clock import Clock, Timer
from pipelines.responder import (
    OPEN_QUESTION,
    Expectation,
    ResponderError,
    ResponderEvent,
    SpokenKind,
    TextCompleted,
    TextDelta,
)
from pipelines.stt.base import Emit, Final, Partial, RecognitionFailed
from pipelines.tts.base import SpeechAudio, SynthesisError, WordTime

BASE = 1000
"""Sample value of a caller's word number 0; what is lower, and not silence, is a sound without words."""

VOICE_RATE = 1000
"""Hertz of the agent's numbers: enough for words of a quarter second."""

WORD_S = 0.25
"""Seconds of a word of the agent's."""


def letters(kind: str, *numbers: int) -> str:
    """Name a word by numbers, in letters, so that nothing reads it as a figure."""
    return kind + "x".join(str(number).translate(_LETTERS) for number in numbers)


_LETTERS = str.maketrans("0123456789", "abcdefghij")


def spoken(vocabulary: list[str], phrase: Sequence[str], seconds: float) -> Samples:
    """Say words one after the other, as samples at 16 kHz; new ones are added to the vocabulary."""
    parts = []
    for word in phrase:
        vocabulary.append(word)
        parts.append(np.full(int(seconds * HEARING_RATE), BASE + len(vocabulary) - 1, np.int16))
    return np.concatenate(parts)


class ScriptedActivity:
    """Sure of everything: a window that is mostly words is speech."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.int16)

    @property
    def pending(self) -> int:
        return len(self._rest)

    def feed(self, samples: Samples) -> list[float]:
        self._rest = np.concatenate([self._rest, samples])
        found = []
        while len(self._rest) >= 512:
            window, self._rest = self._rest[:512], self._rest[512:]
            found.append(0.95 if np.count_nonzero(window) >= 256 else 0.02)
        return found

    def reset(self) -> None:
        self._rest = np.zeros(0, np.int16)


@dataclass
class ScriptedRecognizer:
    """Reads the words back after a while."""

    vocabulary: list[str]
    delay_s: float = 0.1
    partial_every_s: float | None = 0.5
    fails_at: frozenset[int] = frozenset()
    """The uses, counted from 0, at which it breaks instead of giving a final."""
    name: str = "scripted"
    finals: list[str] = field(default_factory=list)
    uses: int = 0
    opened: int = 0

    def warm(self) -> None:
        pass

    def open(self, clock: Clock, emit: Emit) -> ScriptedHearing:
        self.opened += 1
        return ScriptedHearing(self, clock, emit)


class ScriptedHearing:
    def __init__(self, engine: ScriptedRecognizer, clock: Clock, emit: Emit) -> None:
        self._engine = engine
        self._clock = clock
        self._emit = emit
        self._audio: dict[int, list[Samples]] = {}
        self._since_partial = 0
        self._timers: list[Timer] = []

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        self._audio[segment] = []
        self._since_partial = 0

    def feed(self, segment: int, samples: Samples) -> None:
        self._audio[segment].append(samples)
        self._since_partial += len(samples)
        every = self._engine.partial_every_s
        if every is not None and self._since_partial >= every * HEARING_RATE:
            self._since_partial = 0
            self._later(self._partial, segment, self._read(segment))

    def pause(self, segment: int) -> None:
        pass

    def end(self, segment: int) -> None:
        self._later(self._final, segment, self._read(segment))

    def drop(self, segment: int) -> None:
        self._audio.pop(segment, None)

    async def aclose(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _later(self, callback: Callable[[int, str], None], segment: int, text: str) -> None:
        self._timers.append(self._clock.call_at(self._clock.now() + self._engine.delay_s, callback, segment, text))

    def _read(self, segment: int) -> str:
        samples = np.concatenate(self._audio[segment]) if self._audio[segment] else np.zeros(0, np.int16)
        values = [int(value) for value, _ in groupby(samples[::80].tolist()) if value >= BASE]
        return " ".join(self._engine.vocabulary[value - BASE] for value in values)

    def _partial(self, segment: int, text: str) -> None:
        if segment in self._audio:
            self._emit(Partial(segment=segment, text=text))

    def _final(self, segment: int, text: str) -> None:
        if segment not in self._audio:
            return
        use, self._engine.uses = self._engine.uses, self._engine.uses + 1
        if use in self._engine.fails_at:
            self._emit(RecognitionFailed(segment=segment, reason="it was told to"))
            return
        del self._audio[segment]
        self._engine.finals.append(text)
        self._emit(Final(segment=segment, text=text))


@dataclass
class ScriptedVoice:
    """Speaks a word as a quarter second of its number."""

    delay_s: float = 0.05
    fails_at: frozenset[int] = frozenset()
    name: str = "scripted"
    rate: int = VOICE_RATE
    words: list[str] = field(default_factory=list)
    """Every word rendered; its sample value is its place, from 1."""
    uses: int = 0

    def warm(self) -> None:
        pass

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        use, self.uses = self.uses, self.uses + 1
        await clock.sleep(self.delay_s)
        if use in self.fails_at:
            raise SynthesisError("it was told to")
        at = 0
        for count, word in enumerate(text.split(), 1):
            self.words.append(word)
            at = text.index(word, at) + len(word)
            samples = np.full(int(WORD_S * self.rate), len(self.words), np.int16)
            yield SpeechAudio(samples=samples, words=(WordTime(end_char=at, end_s=count * WORD_S),))


@dataclass(frozen=True)
class Answer:
    """What the agent says to a turn."""

    words: int = 6
    """How many words it says; 0 says nothing."""
    delay_s: float = 0.1
    """Before the first of them."""
    pace_s: float = 0.02
    """Between two of them."""
    asks: bool = False
    fails: bool = False
    expects: Expectation = OPEN_QUESTION


class ScriptedReply:
    def __init__(self, responder: ScriptedResponder, number: int, answer: Answer) -> None:
        self._responder = responder
        self._number = number
        self._answer = answer
        self._aborted = asyncio.Event()
        self.settled: list[tuple[str, bool]] = []

    async def events(self) -> AsyncGenerator[ResponderEvent, None]:
        clock = self._responder.clock
        await self._wait(self._answer.delay_s)
        for count in range(self._answer.words):
            if self._aborted.is_set():
                return
            last = count == self._answer.words - 1
            mark = ("?" if self._answer.asks else ".") if last else (". " if count % 4 == 3 else " ")
            yield TextDelta(text=f"{letters('r', self._number, count)}{mark}")
            await self._wait(self._answer.pace_s)
        if self._answer.fails and not self._aborted.is_set():
            raise ResponderError("it was told to")
        if not self._aborted.is_set():
            self._responder.expectation = self._answer.expects
        yield TextCompleted()
        assert clock is self._responder.clock

    def abort(self) -> None:
        self._aborted.set()

    def give_way(self) -> None:
        self.abort()

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        self.settled.append((heard, interrupted))

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._aborted.wait()
        except TimeoutError:
            pass


class ScriptedDraft:
    def __init__(self, responder: ScriptedResponder, text: str) -> None:
        self._responder = responder
        self._text = text

    def commit(self) -> ScriptedReply:
        return self._responder.reply(self._text)

    def discard(self) -> None:
        pass


@dataclass
class ScriptedResponder:
    """Answers turn after turn as it was told."""

    clock: Clock
    answers: Sequence[Answer] = (Answer(),)
    committed: list[str] = field(default_factory=list)
    replies: list[ScriptedReply] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    recorded: list[tuple[str, SpokenKind, bool]] = field(default_factory=list)
    expectation: Expectation = OPEN_QUESTION
    is_blocked: bool = False
    on_result: Callable[[], None] | None = None
    on_said: Callable[[str], None] | None = None
    closed: bool = False

    def expects(self) -> Expectation:
        return self.expectation

    def blocked(self) -> bool:
        return self.is_blocked

    def draft(self, text: str) -> ScriptedDraft:
        return ScriptedDraft(self, text)

    def watch(self, on_result: Callable[[], None], on_said: Callable[[str], None]) -> None:
        self.on_result, self.on_said = on_result, on_said

    def report(self) -> ScriptedReply:
        return self.reply("(result)")

    async def aclose(self) -> None:
        self.closed = True

    def overheard(self, text: str) -> None:
        self.asides.append(text)

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        self.recorded.append((text, kind, interrupted))

    def reply(self, text: str) -> ScriptedReply:
        number = len(self.committed)
        self.committed.append(text)
        self.expectation = OPEN_QUESTION
        reply = ScriptedReply(self, number, self.answers[number % len(self.answers)])
        self.replies.append(reply)
        return reply


def frames(samples: Samples, *, frame_s: float = 0.02) -> list[Frame]:
    """Cut samples at 16 kHz into frames; the last one is padded with silence."""
    count = int(frame_s * HEARING_RATE)
    padded = np.concatenate([samples, np.zeros(-len(samples) % count, np.int16)])
    return [Frame(padded[at : at + count], HEARING_RATE) for at in range(0, len(padded), count)]
