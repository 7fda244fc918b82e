"""The recorded transport: callers from files, and outputs that play into memory. It opens no device and no port.

Three outputs stand for the three families of real ones: those that can pause, those that cannot, and those that say
late what they played.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame, Samples
from pipelines.audio.resample import Resampler
from pipelines.clock import Clock, Timer
from pipelines.events import CallEvent, UtteranceStarted
from pipelines.playout.output import Report

__all__ = ["RecordedCaller", "RecordedOutput", "Recording"]

FRAME_S = 0.02
"""Seconds of a frame, as telephones and browsers send them."""

IDLE_S = 0.3
"""Seconds nothing must happen before the next recording starts: a person's pause before they speak."""

TAIL_S = 0.6
"""Seconds nothing must happen before the caller hangs up: longer than a late output's report."""

PATIENCE_S = 3.0
"""Seconds of idleness after which a recording that waits for the agent to speak starts anyway."""

LIMIT_S = 120.0
"""Seconds after the last recording at which the caller hangs up whatever happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What a caller says, and when."""

    frame: Frame
    after_s: float | None = None
    """Seconds after the first sound of the agent's next utterance; ``None``: when nothing is going on."""


class RecordedCaller:
    """A caller who says recordings one after the other and hangs up when all is answered.

    Args:
        clock: the call's.
        recordings: in order.
    """

    def __init__(self, clock: Clock, recordings: Sequence[Recording]) -> None:
        self._clock = clock
        self._waiting = deque(recordings)
        self._current: Frame | None = None
        self._position = 0
        self._rate = HEARING_RATE
        self._answered_at: float | None = None
        """When the agent's first utterance since the latest recording began to sound."""
        self._idle_since: float | None = None
        self._busy_at = 0.0
        """When there was last something to say, or to wait for with it."""
        self._line: list[tuple[int, Samples]] = []
        self._began: Callable[[], None] | None = None
        self._ended: Callable[[], None] | None = None

    def attend(self, *, began: Callable[[], None], ended: Callable[[], None] | None = None) -> None:
        """Say what a caller does beside speaking, who has a microphone to open or a button to hold.

        Args:
            began: called before the first sample of each recording.
            ended: called behind its last one.
        """
        self._began, self._ended = began, ended

    def notice(self, event: CallEvent) -> None:
        """Take the call's events: some recordings wait for the agent to speak."""
        if isinstance(event, UtteranceStarted) and self._answered_at is None:
            self._answered_at = self._clock.now()

    async def run(self, hear: Callable[[Frame], None], idle: Callable[[], bool]) -> None:
        """Say everything, 20 ms at a time, then wait until nothing is going on."""
        self._busy_at = self._clock.now()

        def frame() -> bool:
            speaks = self._current is not None
            hear(self._next_frame())
            if speaks and self._current is None and self._ended is not None:
                self._ended()
            return self._stays(idle=idle())

        if self._stays(idle=idle()):
            await _Beat(self._clock, FRAME_S, frame).run()

    def line(self) -> Samples:
        """What the caller's line carried, 16 kHz, from the beginning of the call."""
        parts: list[Samples] = []
        resampler: Resampler | None = None
        rate = 0
        for frame_rate, samples in self._line:
            if frame_rate != rate or resampler is None:
                resampler, rate = Resampler(frame_rate, HEARING_RATE), frame_rate
            parts.append(resampler.process(samples))
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)

    def _stays(self, *, idle: bool) -> bool:
        """Begin the next recording if it is due; return whether there is any reason not to hang up."""
        now = self._clock.now()
        self._idle_since = (self._idle_since if self._idle_since is not None else now) if idle else None
        if self._current is None and self._waiting and self._due(self._waiting[0], now):
            self._begin(self._waiting.popleft().frame)
        if self._current is not None or self._waiting:
            self._busy_at = now
            return True
        return self._idle_for(now) < TAIL_S and now - self._busy_at < LIMIT_S

    def _idle_for(self, now: float) -> float:
        return 0.0 if self._idle_since is None else now - self._idle_since

    def _due(self, recording: Recording, now: float) -> bool:
        if recording.after_s is None:
            return self._idle_for(now) >= IDLE_S
        if self._answered_at is not None:
            return now >= self._answered_at + recording.after_s
        return self._idle_for(now) >= PATIENCE_S

    def _begin(self, frame: Frame) -> None:
        if self._began is not None:
            self._began()
        self._current, self._position, self._rate = frame, 0, frame.rate
        self._answered_at = None

    def _next_frame(self) -> Frame:
        count = round(self._rate * FRAME_S)
        samples = np.zeros(count, np.int16)
        if self._current is not None:
            said = self._current.samples[self._position : self._position + count]
            samples[: len(said)] = said
            self._position += count
            if self._position >= len(self._current.samples):
                self._current = None
        self._line.append((self._rate, samples))
        return Frame(samples, self._rate)


class RecordedOutput:
    """An output that plays into memory, at the pace of the call's clock.

    Args:
        clock: the call's.
        can_pause: whether it can stop at a sample and go on there.
        late_s: seconds between something being played and it being reported.
        rate: hertz.
    """

    REPORT_EVERY_S = 0.05

    def __init__(self, clock: Clock, *, can_pause: bool = True, late_s: float = 0.0, rate: int = SPEAKING_RATE) -> None:
        self.rate = rate
        self.can_pause = can_pause
        self._clock = clock
        self._late_s = late_s
        self._report: Report | None = None
        self.last_played_at = clock.now()
        """When the latest sample was played, seconds of the call's clock."""
        self._began = clock.now()
        self._rendered = 0
        """Samples of the track that are final."""
        self._track: list[Samples] = []
        self._buffer: deque[tuple[int, Samples]] = deque()
        self._played: dict[int, int] = {}
        self._epoch = 0
        self._paused = False
        self._timer: Timer | None = None

    def attach(self, report: Report) -> None:
        """Say where reports go."""
        self._report = report

    def play(self, epoch: int, samples: Samples) -> None:
        """Queue samples behind what is queued."""
        self._advance()
        if epoch >= self._epoch:
            self._buffer.append((epoch, samples))
            self._arm()

    def pause(self) -> None:
        """Stop at this sample."""
        self._advance()
        self._paused = True
        self._say(self._epoch, final=False)

    def unpause(self) -> None:
        """Go on."""
        self._advance()
        self._paused = False
        self._arm()

    def clear(self, epoch: int) -> None:
        """Drop what was not played of older epochs, and say what was."""
        self._advance()
        old, self._epoch = self._epoch, epoch
        self._buffer = deque(item for item in self._buffer if item[0] >= epoch)
        self._say(old, final=True)

    async def aclose(self) -> None:
        """Stop reporting."""
        self._advance()
        self._report = None
        if self._timer is not None:
            self._timer.cancel()

    def track(self) -> Samples:
        """Everything played, with its silences, from the beginning of the call to its close."""
        return np.concatenate(self._track) if self._track else np.zeros(0, np.int16)

    def _advance(self) -> None:
        """Play up to now."""
        due = round((self._clock.now() - self._began) * self.rate) - self._rendered
        while due > 0 and self._buffer and not self._paused:
            epoch, samples = self._buffer.popleft()
            taken = samples[:due]
            if len(taken) < len(samples):
                self._buffer.appendleft((epoch, samples[due:]))
            self._render(taken)
            self.last_played_at = self._began + self._rendered / self.rate
            self._played[epoch] = self._played.get(epoch, 0) + len(taken)
            due -= len(taken)
        if due > 0:
            self._render(np.zeros(due, np.int16))

    def _render(self, samples: Samples) -> None:
        self._track.append(samples)
        self._rendered += len(samples)

    def _arm(self) -> None:
        """Report soon, and at the latest when the queue runs dry."""
        if self._timer is None and self._buffer and not self._paused:
            queued_s = sum(len(samples) for _, samples in self._buffer) / self.rate
            self._timer = self._clock.call_at(self._clock.now() + min(self.REPORT_EVERY_S, queued_s), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._advance()
        self._say(self._epoch, final=False)
        self._arm()

    def _say(self, epoch: int, *, final: bool) -> None:
        played_s = self._played.get(epoch, 0) / self.rate
        if self._late_s > 0:
            self._clock.call_at(self._clock.now() + self._late_s, self._deliver, epoch, played_s, final)
        else:
            self._deliver(epoch, played_s, final)

    def _deliver(self, epoch: int, played_s: float, final: bool) -> None:
        if self._report is not None:
            self._report(epoch, played_s, final=final)


class _Beat:
    """Ticks at a steady pace until a tick returns false.

    On timers alone: a task that slept from tick to tick would wake twice for each, a quarter of all that a simulated
    call costs.
    """

    def __init__(self, clock: Clock, every_s: float, tick: Callable[[], bool]) -> None:
        self._clock = clock
        self._every_s = every_s
        self._tick = tick
        self._began = clock.now()
        self._ticks = 0
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Wait for the last tick; what a tick raises is raised here. Cancelling is safe: there is no other tick."""
        self._arm()
        await self._over

    def _arm(self) -> None:
        self._ticks += 1
        self._clock.call_at(self._began + self._ticks * self._every_s, self._ring)

    def _ring(self) -> None:
        if self._over.done():
            return  # cancelled
        try:
            goes_on = self._tick()
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            self._over.set_exception(error)
            return
        if goes_on:
            self._arm()
        else:
            self._over.set_result(None)
