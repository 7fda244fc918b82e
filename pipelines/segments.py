"""The segments: which stretches of the caller's sound go to the recogniser, each as one piece.

Above: ``listener`` gives the sound and what a detector makes of it. Below: a detector and a gate decide, where they
are asked to; a hearing takes the segments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, assert_never

from pipelines.audio.frame import Samples
from pipelines.clock import Clock
from pipelines.events import SpeechBegan, SpeechOver, Tell
from pipelines.responder import ExpectationKind
from pipelines.stt.lasting import LastingHearing
from pipelines.turns.events import TalkBegan, TalkEnded, TurnEvent
from pipelines.turns.machine import TurnMachine
from pipelines.vad.detector import (
    Detection,
    SpeechConfirmed,
    SpeechDetector,
    SpeechEnded,
    SpeechMisfired,
    SpeechPaused,
    SpeechProgressed,
    SpeechStarted,
)
from pipelines.vad.gate import SpeechGate

__all__ = ["DetectedSegments", "PressedSegments", "Segments"]


class Segments(Protocol):
    """Makes segments of a caller's sound. What is heard and judged is what comes while the microphone is open."""

    @property
    def sounding(self) -> bool:
        """Whether a segment is being made, or perhaps one."""
        ...

    def hear(self, samples: Samples) -> None:
        """Take the next sound, as a recogniser wants it."""
        ...

    def judge(self, probability: float, level: float, ends_at: float) -> None:
        """Take what a detector makes of the next window.

        Args:
            probability: that it is speech.
            level: its RMS, full scale 1.
            ends_at: when it ended, seconds of the call's clock.
        """
        ...

    def cut(self) -> None:
        """Let the sound in progress end here: no more of it comes, or nobody waits for its end any more."""
        ...

    def open(self) -> None:
        """The microphone was opened."""
        ...

    def close(self) -> None:
        """The microphone was closed: what was begun is a segment, and ends here."""
        ...


class PressedSegments:
    """The caller says when they speak: what comes while the microphone is open is one segment.

    Args:
        clock: the call's.
        detector: the call's; what it takes for a pause is a good moment to decode ahead, and no more than that.
        hearing: the call's.
        machine: read for what is asked just now; never fed directly.
        feed: takes what happens, for the turn machine.
        tell: takes what the outside is told.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        detector: SpeechDetector,
        hearing: LastingHearing,
        machine: TurnMachine,
        feed: Callable[[TurnEvent], None],
        tell: Tell,
    ) -> None:
        self._clock = clock
        self._detector = detector
        self._hearing = hearing
        self._machine = machine
        self._feed = feed
        self._tell = tell
        self._segment: int | None = None
        """The segment that is being made."""
        self._opened_at = 0.0
        self._level = 0.0
        self._sureness = 0.0

    @property
    def sounding(self) -> bool:
        """Whether the button is held."""
        return self._segment is not None

    def hear(self, samples: Samples) -> None:
        """Take the next sound."""
        if self._segment is not None:
            self._hearing.feed(self._segment, samples)

    def judge(self, probability: float, level: float, ends_at: float) -> None:
        """Take what the detector makes of the next window."""
        if self._segment is None:
            return
        self._level = max(self._level, level)
        self._sureness = max(self._sureness, probability)
        for detection in self._detector.feed(probability, level, ends_at):
            if isinstance(detection, SpeechPaused):
                self._hearing.pause(self._segment)

    def cut(self) -> None:
        """Go on: a line that stutters lets no button go."""

    def open(self) -> None:
        """Begin a segment."""
        self._opened_at = self._clock.now()
        self._level = self._sureness = 0.0
        self._feed(TalkBegan(at=self._opened_at))
        self._segment = self._machine.segment
        self._hearing.begin(self._segment, spelling=self._machine.expectation.kind is ExpectationKind.SPELLING)
        self._tell(SpeechBegan(segment=self._segment))

    def close(self) -> None:
        """End it."""
        if (segment := self._segment) is None:
            return
        self._segment = None
        self._detector.lapse()
        now = self._clock.now()
        self._feed(TalkEnded(at=now, level=self._level, sureness=self._sureness))
        self._tell(
            SpeechOver(
                segment=segment,
                started_at=self._opened_at,
                ended_at=now,
                voiced_s=now - self._opened_at,
                confirmed=True,
            )
        )
        self._hearing.end(segment)


class DetectedSegments:
    """A detector says when somebody speaks, and a gate what of it the recogniser gets.

    Args:
        detector: the call's.
        hearing: the call's.
        machine: read for what is asked just now; never fed directly.
        feed: takes what happens, for the turn machine.
        tell: takes what the outside is told.
    """

    def __init__(
        self,
        *,
        detector: SpeechDetector,
        hearing: LastingHearing,
        machine: TurnMachine,
        feed: Callable[[TurnEvent], None],
        tell: Tell,
    ) -> None:
        self._detector = detector
        self._hearing = hearing
        self._machine = machine
        self._feed = feed
        self._tell = tell
        self._gate = SpeechGate()
        self._segment: int | None = None
        """The segment the gate is open for."""

    @property
    def sounding(self) -> bool:
        """Whether somebody speaks, perhaps."""
        return self._detector.sounding

    def hear(self, samples: Samples) -> None:
        """Take the next sound."""
        passed = self._gate.feed(samples)
        if passed and self._segment is None:
            self._detected(self._detector.believe())  # the gate waited long enough
        for chunk in passed:
            self._pass_on(chunk)

    def judge(self, probability: float, level: float, ends_at: float) -> None:
        """Take what the detector makes of the next window."""
        asked, patience_s = self._machine.asked, self._machine.patience_s
        for detection in self._detector.feed(probability, level, ends_at, asked=asked, patience_s=patience_s):
            self._detected(detection)

    def cut(self) -> None:
        """Let the sound in progress end here, whatever the detector thinks of it."""
        for detection in self._detector.lapse():
            self._detected(detection)

    def open(self) -> None:
        """Wait for somebody to speak."""

    def close(self) -> None:
        """End the word that was begun: its speaker believed to be heard, so that it is no misfire."""
        if self._detector.sounding and self._segment is None:
            self._detected(self._detector.believe())
        self.cut()
        self._gate.close()

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
                if self._segment is not None:
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
        self._hearing.begin(segment, spelling=self._machine.expectation.kind is ExpectationKind.SPELLING)
        for samples in self._gate.open():
            self._pass_on(samples)

    def _pass_on(self, samples: Samples) -> None:
        if self._segment is not None:
            self._hearing.feed(self._segment, samples)

    def _end(self) -> None:
        if (segment := self._segment) is not None:
            self._segment = None
            self._hearing.end(segment)
