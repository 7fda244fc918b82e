"""The ears of a realtime call: the caller's frames, as the provider wants them and as our detector does.

Above: ``agent`` gives frames and takes what is heard. Below: resamplers, a detector and a gate. A frame costs no task.
"""

from __future__ import annotations

from collections.abc import Callable

from pipelines.audio.arrival import Arrival
from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.audio.levels import rms
from pipelines.audio.resample import Resampler
from pipelines.clock import Clock, Timer
from pipelines.vad.base import WINDOW_S, VoiceActivity
from pipelines.vad.detector import Detection, DetectorSettings, SpeechDetector, SpeechMisfired, SpeechStarted
from pipelines.vad.gate import SpeechGate
from pipelines.vad.lasting import LastingActivity

__all__ = ["Ears", "Probe"]

AUDIO_GAP_S = 0.5
"""Seconds without any frame after which speech in progress is over: the caller muted, or the line broke."""

Probe = Callable[[float, float], None]
"""Takes the end of each window, in seconds of the call's clock, and its speech probability."""


class Ears:
    """Hears a call.

    Args:
        clock: the call's.
        rate: hertz the provider takes.
        activity: the call's voice activity stream; ``None``: nobody of ours listens along.
        gated: whether only turns are passed on, as :meth:`begin` and :meth:`end` say, with the moment before.
        detector: thresholds.
        send: takes what is for the provider, at its rate.
        detected: takes what our detector hears.
        stopped: called when no frames come any more.
        failed: told when the detector's engine fails; loudness has to do then.
        probe: takes every probability.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        rate: int,
        activity: VoiceActivity | None,
        gated: bool,
        detector: DetectorSettings,
        send: Callable[[Samples], None],
        detected: Callable[[Detection], None],
        stopped: Callable[[], None],
        failed: Callable[[Exception], None],
        probe: Probe | None = None,
    ) -> None:
        self.muted = False
        """Whether the caller's microphone is closed."""
        self._clock = clock
        self._rate = rate
        self._activity = None if activity is None else LastingActivity(activity, failed)
        self._gate = SpeechGate(rate=rate) if gated else None
        self._detector = SpeechDetector(WINDOW_S, detector)
        self._send = send
        self._stopped = stopped
        self._tell = detected
        self._begun = False
        """Whether what comes belongs to a turn."""
        self._probe = probe
        self._resamplers: dict[tuple[int, int], Resampler] = {}
        self._arrival = Arrival()
        self._heard_at = clock.now()
        self._gap: Timer | None = None

    @property
    def sounding(self) -> bool:
        """Whether somebody speaks, perhaps, as far as our detector hears."""
        return self._detector.sounding

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio, at any rate; in order, as they come."""
        now = self._clock.now()
        if now - self._heard_at > AUDIO_GAP_S:
            self._restart()
        self._heard_at = now
        if self.muted:
            return
        self._pass_on(self._resampled(frame, self._rate))
        if self._activity is not None:
            self._judge(self._activity, frame, now)
        self._watch_for_gap()

    def begin(self) -> None:
        """A turn begins: what was kept from before it is passed on, and what comes."""
        self._begun = True
        if self._gate is not None:
            for samples in self._gate.open():
                self._send(samples)

    def end(self) -> None:
        """The turn is over."""
        self._begun = False
        if self._gate is not None:
            self._gate.close()

    def cut(self) -> None:
        """Let the sound in progress end here."""
        for detection in self._detector.lapse():
            self._detected(detection)

    def aclose(self) -> None:
        """Stop hearing. Idempotent."""
        self.muted = True
        if self._gap is not None:
            self._gap.cancel()
            self._gap = None

    def _judge(self, activity: LastingActivity, frame: Frame, now: float) -> None:
        sounded_at = self._arrival.feed(frame.duration, now)
        samples = self._resampled(frame, HEARING_RATE)
        if not len(samples):
            return
        level = rms(samples)
        probabilities, pending = activity.feed(samples)
        ends_at = sounded_at - pending / HEARING_RATE - (len(probabilities) - 1) * WINDOW_S
        for probability in probabilities:
            if self._probe is not None:
                self._probe(ends_at, probability)
            for detection in self._detector.feed(probability, level, ends_at):
                self._detected(detection)
            ends_at += WINDOW_S

    def _pass_on(self, samples: Samples) -> None:
        if not len(samples):
            return
        if self._gate is None:
            self._send(samples)
            return
        passed = self._gate.feed(samples)
        if passed and not self._begun:
            self._detected(self._detector.believe())  # the gate waited long enough
        for chunk in passed:
            self._send(chunk)

    def _detected(self, detection: Detection) -> None:
        if self._gate is not None and isinstance(detection, SpeechStarted):
            self._gate.hold()
        elif self._gate is not None and isinstance(detection, SpeechMisfired):
            self._gate.cancel()
        self._tell(detection)

    def _resampled(self, frame: Frame, rate: int) -> Samples:
        if frame.rate == rate:
            return frame.samples
        if (resampler := self._resamplers.get((frame.rate, rate))) is None:
            resampler = self._resamplers[frame.rate, rate] = Resampler(frame.rate, rate)
        return resampler.process(frame.samples)

    def _restart(self) -> None:
        """Nothing came for a while: what is left of the sound before has nothing to do with what comes now."""
        self.cut()
        if self._activity is not None:
            self._activity.reset()
        self._arrival.restart()
        for resampler in self._resamplers.values():
            resampler.reset()

    def _watch_for_gap(self) -> None:
        if self._gap is None:
            self._gap = self._clock.call_at(self._heard_at + AUDIO_GAP_S, self._check_gap)

    def _check_gap(self) -> None:
        self._gap = None
        if self._clock.now() >= self._heard_at + AUDIO_GAP_S - 1e-6:
            self.cut()
            self._stopped()
        else:
            self._watch_for_gap()
