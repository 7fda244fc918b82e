"""Engines that fail when they are told to, around the real ones; ``module:factory`` for the command line too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from datetime import datetime

from agents.core.errors import ModelError
from agents.core.glove import Glove
from agents.core.model import Model, ModelEvent, ModelFinished, ModelRequest, TextChunk
from pipelines.audio.frame import Samples
from pipelines.clock import Clock
from pipelines.stt.base import Emit, Hearing, Partial, Recognition, RecognitionFailed, Recognizer
from pipelines.stt.whisper import Whisper
from pipelines.tts.base import SpeechAudio, SynthesisError, Synthesizer
from pipelines.tts.hibari import HibariVoice

__all__ = ["FailingRecognizer", "FailingVoice", "breaking_model", "deaf_once", "failing_model", "mute_once"]


class FailingRecognizer:
    """A recogniser whose hearings die at the end of some segments, counted over all of them from 1.

    Without ``partials`` it says nothing of a segment before its final text.
    """

    name = "failing"

    def __init__(self, inner: Recognizer, fails_at: Collection[int], *, partials: bool = True) -> None:
        self.opened_at: list[float] = []
        """When it was opened, seconds of the call's clock."""
        self.ends = 0
        self._inner = inner
        self._fails_at = fails_at
        self._partials = partials

    def warm(self) -> None:
        self._inner.warm()

    def open(self, clock: Clock, emit: Emit) -> Hearing:
        def pass_on(recognition: Recognition) -> None:
            if self._partials or not isinstance(recognition, Partial):
                emit(recognition)

        self.opened_at.append(clock.now())
        return _FailingHearing(self, self._inner.open(clock, pass_on), clock, emit)

    def fails_now(self) -> bool:
        self.ends += 1
        return self.ends in self._fails_at


class _FailingHearing:
    def __init__(self, engine: FailingRecognizer, inner: Hearing, clock: Clock, emit: Emit) -> None:
        self._engine = engine
        self._inner = inner
        self._clock = clock
        self._emit = emit
        self._dead = False

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        if not self._dead:
            self._inner.begin(segment, spelling=spelling)

    def feed(self, segment: int, samples: Samples) -> None:
        if not self._dead:
            self._inner.feed(segment, samples)

    def pause(self, segment: int) -> None:
        if not self._dead:
            self._inner.pause(segment)

    def end(self, segment: int) -> None:
        if self._dead:
            return
        if self._engine.fails_now():
            self._dead = True
            self._inner.drop(segment)
            failed = RecognitionFailed(segment=segment, reason="the server closed the connection")
            self._clock.call_at(self._clock.now(), self._emit, failed)
        else:
            self._inner.end(segment)

    def drop(self, segment: int) -> None:
        self._inner.drop(segment)

    async def aclose(self) -> None:
        await self._inner.aclose()


class FailingVoice:
    """A voice that fails at some of its sentences, counted from 1."""

    name = "failing"

    def __init__(self, inner: Synthesizer, fails_at: Collection[int]) -> None:
        self.rate = inner.rate
        self.sentences = 0
        self._inner = inner
        self._fails_at = fails_at

    def warm(self) -> None:
        self._inner.warm()

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        self.sentences += 1
        if self.sentences in self._fails_at:
            raise SynthesisError("the voice has gone")
        async for audio in self._inner.synthesize(text, clock):
            yield audio


def deaf_once() -> FailingRecognizer:
    """Whisper, failing at the end of the first segment."""
    return FailingRecognizer(Whisper(), {1})


def mute_once() -> FailingVoice:
    """Hibari, failing at the sentence after the two that are rendered beforehand."""
    return FailingVoice(HibariVoice(), {3})


class _FailingModel:
    name = "failing"

    def __init__(self, fails_at: Collection[int], after: str) -> None:
        self._fails_at = fails_at
        self._after = after
        self._calls = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self._calls += 1
        if self._calls in self._fails_at:
            if self._after:
                yield TextChunk(text=self._after)
            raise ModelError(self.name, "the provider has gone")
        said = [message.text for message in request.messages if message.sender == "user"]
        yield TextChunk(text=f"You said {said[-1]}")
        yield ModelFinished()


def failing_model(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """An agent whose model fails at its second call, before a word."""
    return Glove(model=_FailingModel({2}, ""), drafts=False)  # it fails by count


def breaking_model(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """An agent whose model fails at its second call, in the middle of an answer."""
    return Glove(model=_FailingModel({2}, "The first of the three answers is simple. The second "), drafts=False)
