"""The listener: a call's ears. Frames in; speech, and the words in it, out.

Above: ``cascade`` gives it frames and takes its turn events. Below: the detector and the gate decide, a recogniser
hears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.audio.levels import rms
from pipelines.audio.resample import Resampler
from pipelines.clock import Clock, Timer
from pipelines.events import EngineTrouble, SpeechBegan, SpeechOver, Tell, TranscriptHeard
from pipelines.responder import ExpectationKind
from pipelines.stt.base import Final, Hearing, Partial, Recognition, RecognitionFailed, Recognizer
from pipelines.turns.events import HearingFailed, TurnEvent, WordsHeard
from pipelines.turns.machine import TurnMachine
from pipelines.vad.detector import (
    Detection,
    DetectorSettings,
    SpeechConfirmed,
    SpeechDetector,
    SpeechEnded,
    SpeechMisfired,
    SpeechPaused,
    SpeechProgressed,
    SpeechStarted,
)
from pipelines.vad.gate import SpeechGate

__all__ = ["Listener", "Probe", "VoiceActivity", "reopening_delays"]

WINDOW = 512
"""Samples a voice activity detector judges at once, 32 ms at 16 kHz."""

AUDIO_GAP_S = 0.5
"""Seconds without any frame after which speech in progress is over: the caller muted, or the line broke."""

SECOND_HEARINGS = 1
"""How often a segment that an engine failed on is given to the reopened engine."""

Probe = Callable[[float, float], None]
"""Takes the end of each window, in seconds of the call's clock, and its speech probability."""


class VoiceActivity(Protocol):
    """One call's use of a voice activity detector."""

    @property
    def pending(self) -> int:
        """Samples fed that do not fill a window yet."""
        ...

    def feed(self, samples: Samples) -> list[float]:
        """Take int16 mono at 16 kHz; return a probability per window of 512 that was filled."""
        ...

    def reset(self) -> None:
        """Forget what was heard: a gap follows."""
        ...


def reopening_delays() -> Iterator[float]:
    """Yield the seconds to wait before reopening a failed recogniser: half a second doubling to fifteen, for ever."""
    delay = 0.5
    while True:
        yield delay
        delay = min(delay * 2, 15.0)


@dataclass(slots=True)
class _Kept:
    """A segment's audio until its final is there, in case the engine fails."""

    spelling: bool
    audio: list[Samples] = field(default_factory=list)
    ended: bool = False
    failures: int = 0


class Listener:
    """Hears a call.

    Args:
        clock: the call's.
        activity: the call's voice activity stream.
        recognizer: the process's recogniser.
        machine: read for what is asked just now; never fed directly.
        feed: takes what is heard, for the turn machine.
        tell: takes what the outside is told.
        detector: thresholds.
        probe: takes every probability, for who draws them.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        activity: VoiceActivity,
        recognizer: Recognizer,
        machine: TurnMachine,
        feed: Callable[[TurnEvent], None],
        tell: Tell,
        detector: DetectorSettings | None = None,
        probe: Probe | None = None,
    ) -> None:
        self._clock = clock
        self._activity = activity
        self._recognizer = recognizer
        self._machine = machine
        self._feed = feed
        self._tell = tell
        self._probe = probe
        self._detector = SpeechDetector(WINDOW / HEARING_RATE, detector)
        self._gate = SpeechGate()
        self._resampler: Resampler | None = None
        self._rate = 0
        self._hearing: Hearing | None = recognizer.open(clock, self._recognised)
        self._delays = reopening_delays()
        self._reopening: Timer | None = None
        self._dead: list[Hearing] = []
        self._segment: int | None = None
        """The segment the gate is open for."""
        self._kept: dict[int, _Kept] = {}
        self._heard_at = clock.now()
        self._gap: Timer | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether somebody speaks, perhaps, or a final text is still to come."""
        return self._detector.sounding or bool(self._kept)

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio, at any rate; real time apart, in order."""
        now = self._clock.now()
        if now - self._heard_at > AUDIO_GAP_S:
            self._activity.reset()
        self._heard_at = now
        samples = self._resampled(frame)
        if not len(samples):
            return
        passed = self._gate.feed(samples)
        if passed and self._segment is None:
            self._detected(self._detector.believe())  # the gate waited long enough
        for chunk in passed:
            self._pass_on(chunk)
        level = rms(samples)
        probabilities = self._activity.feed(samples)
        ends_at = now - (self._activity.pending + (len(probabilities) - 1) * WINDOW) / HEARING_RATE
        for probability in probabilities:
            if self._probe is not None:
                self._probe(ends_at, probability)
            for detection in self._detector.feed(probability, level, ends_at, asked=self._machine.asked):
                self._detected(detection)
            ends_at += WINDOW / HEARING_RATE
        self._watch_for_gap()

    def drop(self, segment: int) -> None:
        """Forget a segment whose text is not wanted any more."""
        self._kept.pop(segment, None)
        if self._hearing is not None:
            self._hearing.drop(segment)

    async def aclose(self) -> None:
        """Stop hearing. Idempotent."""
        self._closed = True
        for timer in (self._reopening, self._gap):
            if timer is not None:
                timer.cancel()
        hearings, self._hearing, self._dead = [self._hearing, *self._dead], None, []
        for hearing in hearings:
            if hearing is not None:
                await hearing.aclose()

    def _resampled(self, frame: Frame) -> Samples:
        if frame.rate == HEARING_RATE:
            return frame.samples
        if self._resampler is None or self._rate != frame.rate:
            self._resampler, self._rate = Resampler(frame.rate, HEARING_RATE), frame.rate
        return self._resampler.process(frame.samples)

    def _detected(self, detection: Detection) -> None:
        match detection:
            case SpeechStarted():
                self._gate.hold()
                self._feed(detection)
                self._tell(SpeechBegan(segment=self._machine.segment))
            case SpeechConfirmed():
                self._open(self._machine.segment)
            case SpeechProgressed():
                self._feed(detection)
            case SpeechPaused():
                if self._hearing is not None and self._segment is not None:
                    self._hearing.pause(self._segment)
            case SpeechMisfired():
                self._gate.cancel()
                self._feed(detection)
                self._tell_over(detection, confirmed=False)
            case SpeechEnded():
                self._gate.close()
                self._feed(detection)
                self._tell_over(detection, confirmed=True)
                self._end()
            case _:
                assert_never(detection)

    def _tell_over(self, sound: SpeechEnded | SpeechMisfired, *, confirmed: bool) -> None:
        self._tell(
            SpeechOver(
                segment=self._machine.segment,
                started_at=sound.started_at,
                ended_at=sound.ended_at,
                voiced_s=sound.voiced_s,
                confirmed=confirmed,
            )
        )

    def _open(self, segment: int) -> None:
        self._segment = segment
        kept = self._kept[segment] = _Kept(spelling=self._machine.expectation.kind is ExpectationKind.SPELLING)
        if self._hearing is not None:
            self._hearing.begin(segment, spelling=kept.spelling)
        for samples in self._gate.open():
            self._pass_on(samples)

    def _pass_on(self, samples: Samples) -> None:
        if self._segment is None:
            return
        self._kept[self._segment].audio.append(samples)
        if self._hearing is not None:
            self._hearing.feed(self._segment, samples)

    def _end(self) -> None:
        if (segment := self._segment) is None:
            return
        self._segment = None
        if (kept := self._kept.get(segment)) is not None:
            kept.ended = True
        if self._hearing is not None:
            self._hearing.end(segment)

    def _watch_for_gap(self) -> None:
        if self._detector.sounding and self._gap is None:
            self._gap = self._clock.call_at(self._heard_at + AUDIO_GAP_S, self._check_gap)

    def _check_gap(self) -> None:
        self._gap = None
        if self._clock.now() >= self._heard_at + AUDIO_GAP_S - 1e-6:
            for detection in self._detector.lapse():
                self._detected(detection)
        else:
            self._watch_for_gap()

    # ------------------------------------------------------------------------------------------------ the recogniser

    def _recognised(self, recognition: Recognition) -> None:
        if self._closed:
            return
        match recognition:
            case Partial(segment=segment, text=text):
                self._words(segment, text, final=False)
            case Final(segment=segment, text=text):
                self._kept.pop(segment, None)
                self._delays = reopening_delays()
                self._words(segment, text, final=True)
            case RecognitionFailed():
                self._failed(recognition)
            case _:
                assert_never(recognition)

    def _words(self, segment: int, text: str, *, final: bool) -> None:
        self._tell(TranscriptHeard(segment=segment, text=text, final=final))
        self._feed(WordsHeard(segment=segment, text=text, final=final))

    def _failed(self, failure: RecognitionFailed) -> None:
        """Reopen the engine after a while and let it hear again what it failed on, once."""
        if self._hearing is None:
            return
        self._tell(EngineTrouble(engine="recognizer", reason=failure.reason))
        self._dead.append(self._hearing)
        self._hearing = None
        self._reopening = self._clock.call_at(self._clock.now() + next(self._delays), self._reopen)
        for segment, kept in list(self._kept.items()):
            kept.failures += 1
            if kept.failures > SECOND_HEARINGS and kept.ended:
                del self._kept[segment]
                self._feed(HearingFailed(segment=segment))

    def _reopen(self) -> None:
        self._reopening = None
        self._hearing = self._recognizer.open(self._clock, self._recognised)
        for segment, kept in list(self._kept.items()):
            self._hear_again(segment, kept)

    def _hear_again(self, segment: int, kept: _Kept) -> None:
        if (hearing := self._hearing) is None:
            return  # it failed again, on an earlier segment
        hearing.begin(segment, spelling=kept.spelling)
        for samples in kept.audio:
            hearing.feed(segment, samples)
        if kept.ended:
            hearing.end(segment)
