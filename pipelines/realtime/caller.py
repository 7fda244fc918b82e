"""The caller's side of a realtime call: their sound, when they speak, and what that does where turn detection is ours.

Above: ``agent`` gives frames and asks whether somebody speaks. Below: ``ears`` hears, ``detection`` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from pipelines.audio.frame import Frame
from pipelines.clock import Clock
from pipelines.events import (
    CallerMuted,
    OutputHeld,
    OutputResumed,
    SoundIgnored,
    SpeechBegan,
    SpeechOver,
    Tell,
    trouble,
)
from pipelines.realtime.detection import (
    Detected,
    Ignored,
    Interrupts,
    OurDetection,
    Over,
    SpeechGoes,
    TurnBegins,
    TurnEnds,
)
from pipelines.realtime.ears import Ears, Probe
from pipelines.realtime.events import CallerBegan, CallerStopped, ProviderEvent, ReplyBegan
from pipelines.realtime.outbox import BeginSpeech, EndSpeech, Hear, Sending
from pipelines.realtime.settings import RealtimeSettings
from pipelines.realtime.voices import Voices
from pipelines.responder import ExpectationKind
from pipelines.turns.events import Cause, NoteKind
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import VoiceActivity
from pipelines.vad.detector import Detection, SpeechEnded, SpeechMisfired, SpeechProgressed, SpeechStarted

__all__ = ["CallerSide"]


class CallerSide:
    """Hears one caller.

    Args:
        clock: the call's.
        rate: hertz the provider takes.
        activity: the call's voice activity stream, if there is one.
        settings: how.
        voices: what is being said, which is held at the first sound where turn detection is ours.
        over: what a sound lies over just now.
        asked: what sort of answer is expected just now.
        post: sends to the provider.
        void: nothing more of what is being said is wanted.
        spoke: takes when the caller's speech ended, seconds of the call's clock.
        changed: called when something may have become due at another time.
        tell: takes what the outside is told.
        probe: takes every speech probability.

    Raises:
        ValueError: turn detection is ours and there is no ``activity``.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        rate: int,
        activity: VoiceActivity | None,
        settings: RealtimeSettings,
        voices: Voices,
        over: Callable[[], Over],
        asked: Callable[[], ExpectationKind],
        post: Callable[[Sending], None],
        void: Callable[[Cause], None],
        spoke: Callable[[float], None],
        changed: Callable[[], None],
        tell: Tell,
        probe: Probe | None = None,
    ) -> None:
        self._manual = settings.turn_taking is TurnTaking.MANUAL
        if settings.ours and not self._manual and activity is None:
            raise ValueError("our turn detection needs a voice activity detector; give one, or use the provider's")
        self._clock = clock
        self._settings = settings
        self._voices = voices
        self._over = over
        self._asked = asked
        self._post = post
        self._void = void
        self._spoke = spoke
        self._changed = changed
        self._tell = tell
        self._listens = activity is not None
        """Whether we hear ourselves when the caller speaks."""
        self._segment = 0
        self._answer_by = 0.0
        """Until when an answer to what the caller said last is believed to come."""
        self._detection = OurDetection(settings.detecting)
        self._ears = Ears(
            clock=clock,
            rate=rate,
            activity=activity,
            gated=settings.ours,
            detector=settings.detector,
            send=lambda samples: post(Hear(samples=samples)),
            detected=self._detected,
            stopped=self._stopped,
            failed=lambda error: tell(trouble("vad", error)),
            probe=probe,
        )

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return self._ears.muted

    @property
    def sounding(self) -> bool:
        """Whether somebody speaks, perhaps, or a turn is being made of it."""
        return self._ears.sounding or self._detection.busy

    @property
    def waiting(self) -> bool:
        """Whether the caller has spoken a moment ago, and an answer is believed to come."""
        return self._clock.now() < self._answer_by

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick`; ``None``: not before something is heard."""
        return self._detection.deadline

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio."""
        self._ears.hear(frame)

    def mute(self) -> None:
        """Stop listening; a button is let go by it. Idempotent."""
        if self._ears.muted:
            return
        self.release()
        self._ears.cut()
        self._ears.muted = True
        self._tell(CallerMuted(muted=True))

    def unmute(self) -> None:
        """Listen from here on; a button is pressed by it. Idempotent."""
        if not self._ears.muted:
            return
        self._ears.muted = False
        self._tell(CallerMuted(muted=False))
        if self._manual:
            self._act(self._detection.press())

    def release(self) -> None:
        """What was said is the turn, whatever is still to come."""
        if self._settings.ours:
            self._act(self._detection.release(self._clock.now()))
            self._changed()
        else:
            self._post(EndSpeech(respond=True))  # Of the turn that the provider may be hearing.

    def tick(self, now: float) -> None:
        """Do what is due."""
        self._act(self._detection.tick(now))

    def told(self, event: ProviderEvent, now: float) -> None:
        """Take what the provider hears, where nobody of ours does."""
        match event:
            case CallerBegan() if not self._listens:
                self._segment += 1
                self._tell(SpeechBegan(segment=self._segment))
            case CallerStopped() if not self._listens:
                self._over_at(now, now, 0.0, confirmed=True)
            case ReplyBegan():
                self._answer_by = 0.0
            case _:
                pass

    def aclose(self) -> None:
        """Stop hearing. Idempotent."""
        self._ears.aclose()

    def _stopped(self) -> None:
        """No frames come: a provider that hears a turn would wait for its end for ever."""
        if not self._settings.ours:
            self.release()

    def _detected(self, detection: Detection) -> None:
        match detection:
            case SpeechStarted():
                self._segment += 1
                self._tell(SpeechBegan(segment=self._segment))
            case SpeechEnded() | SpeechMisfired():
                confirmed = isinstance(detection, SpeechEnded)
                self._over_at(detection.started_at, detection.ended_at, detection.voiced_s, confirmed=confirmed)
            case _:
                pass
        if self._settings.ours and not self._manual:
            self._act(self._detection.feed(detection, self._over(), self._asked()))
        if not isinstance(detection, SpeechProgressed):
            self._changed()

    def _over_at(self, started_at: float, ended_at: float, voiced_s: float, *, confirmed: bool) -> None:
        self._tell(
            SpeechOver(
                segment=self._segment,
                started_at=started_at,
                ended_at=ended_at,
                voiced_s=voiced_s,
                confirmed=confirmed,
            )
        )
        if confirmed:
            self._spoke(ended_at)
            self._answer_by = self._clock.now() + self._settings.answer_wait_s

    def _act(self, detected: list[Detected]) -> None:
        for each in detected:
            match each:
                case TurnBegins():
                    self._post(BeginSpeech())
                    self._ears.begin()
                case TurnEnds():
                    self._ears.end()
                    self._post(EndSpeech(respond=each.respond))
                    if not each.respond:
                        self._answer_by = 0.0
                case Interrupts():
                    self._void(Cause.PRESSED if self._manual else Cause.SPEECH)
                case Ignored():
                    measures = {"voiced_s": round(each.voiced_s, 3)}
                    self._tell(SoundIgnored(kind=NoteKind.ASIDE, text="", measures=measures))
                case SpeechGoes.HELD:
                    self._voices.hold()
                    self._tell(OutputHeld())
                case SpeechGoes.ON:
                    self._voices.resume()
                    self._tell(OutputResumed())
                case _:
                    assert_never(each)
