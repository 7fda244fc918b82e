"""The listener: a call's ears. Frames in; speech, and the words in it, out.

Above: ``cascade`` gives it frames and takes its turn events. Below: ``segments`` says what of them is for the
recogniser, which hears.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipelines.audio.arrival import Arrival
from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.audio.levels import rms
from pipelines.audio.resample import Resampler
from pipelines.clock import Clock, Timer
from pipelines.events import CallerMuted, EngineTrouble, Tell, TranscriptHeard, trouble
from pipelines.segments import DetectedSegments, PressedSegments, Segments
from pipelines.stt.base import Recognizer
from pipelines.stt.lasting import LastingHearing
from pipelines.turns.events import HearingFailed, TurnEvent, WordsHeard
from pipelines.turns.machine import TurnMachine
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import WINDOW_S, VoiceActivity
from pipelines.vad.detector import DetectorSettings, SpeechDetector
from pipelines.vad.lasting import LastingActivity

__all__ = ["Listener", "Probe"]

AUDIO_GAP_S = 0.5
"""Seconds without any frame after which speech in progress is over: the caller muted, or the line broke."""

Probe = Callable[[float, float], None]
"""Takes the end of each window, in seconds of the call's clock, and its speech probability."""


class Listener:
    """Hears a call.

    Args:
        clock: the call's.
        activity: the call's voice activity stream.
        recognizer: the process's recogniser.
        group: the call's task group.
        machine: read for what is asked just now; never fed directly.
        feed: takes what is heard, for the turn machine.
        tell: takes what the outside is told.
        detector: thresholds.
        turn_taking: who says when the caller speaks.
        probe: takes every probability, for who draws them.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        activity: VoiceActivity,
        recognizer: Recognizer,
        group: asyncio.TaskGroup,
        machine: TurnMachine,
        feed: Callable[[TurnEvent], None],
        tell: Tell,
        detector: DetectorSettings | None = None,
        turn_taking: TurnTaking = TurnTaking.AUTOMATIC,
        probe: Probe | None = None,
    ) -> None:
        self._clock = clock
        self._activity = LastingActivity(activity, lambda error: tell(trouble("vad", error)))
        self._feed = feed
        self._tell = tell
        self._probe = probe
        self._resampler: Resampler | None = None
        self._rate = 0
        self._hearing = LastingHearing(clock=clock, recognizer=recognizer, group=group, ear=self)
        self._segments = self._segmented(machine, SpeechDetector(WINDOW_S, detector), turn_taking)
        self.muted = False
        """Whether the caller's microphone is closed: what comes is still judged, for who draws it, and not heard."""
        self._arrival = Arrival()
        self._heard_at = clock.now()
        """When the latest frame came."""
        self._gap: Timer | None = None

    def _segmented(self, machine: TurnMachine, detector: SpeechDetector, turn_taking: TurnTaking) -> Segments:
        if turn_taking is TurnTaking.AUTOMATIC:
            return DetectedSegments(
                detector=detector, hearing=self._hearing, machine=machine, feed=self._feed, tell=self._tell
            )
        return PressedSegments(
            clock=self._clock,
            detector=detector,
            hearing=self._hearing,
            machine=machine,
            feed=self._feed,
            tell=self._tell,
        )

    @property
    def busy(self) -> bool:
        """Whether somebody speaks, perhaps, or a final text is still to come."""
        return self._segments.sounding or self._hearing.busy

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio, at any rate; in order, as they come."""
        now = self._clock.now()
        if now - self._heard_at > AUDIO_GAP_S:
            self._restart()
        self._heard_at = now
        sounded_at = self._arrival.feed(frame.duration, now)
        samples = self._resampled(frame)
        if not len(samples):
            return
        if not self.muted:
            self._segments.hear(samples)
        level = rms(samples)
        probabilities, pending = self._activity.feed(samples)
        ends_at = sounded_at - pending / HEARING_RATE - (len(probabilities) - 1) * WINDOW_S
        for probability in probabilities:
            if self._probe is not None:
                self._probe(ends_at, probability)
            if not self.muted:
                self._segments.judge(probability, level, ends_at)
            ends_at += WINDOW_S
        self._watch_for_gap()

    def mute(self) -> None:
        """Close the microphone; a word that was begun ends here. Idempotent."""
        if not self.muted:
            self._segments.close()
            self._switch(muted=True)

    def unmute(self) -> None:
        """Open the microphone; what was said before is not listened to. Idempotent."""
        if self.muted:
            self._switch(muted=False)
            self._segments.open()

    def _switch(self, *, muted: bool) -> None:
        self.muted = muted
        self._tell(CallerMuted(muted=muted))

    def cut(self) -> None:
        """Let the sound in progress end here, whatever the detector thinks of it."""
        self._segments.cut()

    def drop(self, segment: int) -> None:
        """Forget a segment whose text is not wanted any more."""
        self._hearing.drop(segment)

    async def aclose(self) -> None:
        """Stop hearing. Idempotent."""
        if self._gap is not None:
            self._gap.cancel()
        await self._hearing.aclose()

    def _restart(self) -> None:
        """Nothing came for a while: what is left of the sound before has nothing to do with what comes now."""
        self._segments.cut()
        self._activity.reset()
        self._arrival.restart()
        if self._resampler is not None:
            self._resampler.reset()

    def _resampled(self, frame: Frame) -> Samples:
        if frame.rate == HEARING_RATE:
            return frame.samples
        if self._resampler is None or self._rate != frame.rate:
            self._resampler, self._rate = Resampler(frame.rate, HEARING_RATE), frame.rate
        return self._resampler.process(frame.samples)

    def _watch_for_gap(self) -> None:
        if self._segments.sounding and self._gap is None:
            self._gap = self._clock.call_at(self._heard_at + AUDIO_GAP_S, self._check_gap)

    def _check_gap(self) -> None:
        self._gap = None
        if self._clock.now() >= self._heard_at + AUDIO_GAP_S - 1e-6:
            self._segments.cut()
        else:
            self._watch_for_gap()

    # ------------------------------------------------------------------------------------------------ the recogniser

    def words(self, segment: int, text: str, *, final: bool) -> None:
        """Take the recogniser's text of a segment."""
        self._tell(TranscriptHeard(segment=segment, text=text, final=final))
        self._feed(WordsHeard(segment=segment, text=text, final=final))

    def unheard(self, segment: int) -> None:
        """Take the recogniser's word that it will give no final text."""
        self._feed(HearingFailed(segment=segment))

    def trouble(self, reason: str) -> None:
        """Take the recogniser's failure."""
        self._tell(EngineTrouble(engine="recognizer", reason=reason))
