"""The player: decides what an output is given, when, under which epoch, and when an utterance is over.

Pure: it is fed audio, reports and the time, and returns what to do. Above: ``cascade`` carries the actions out. Below:
``ledger`` knows what was heard.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from pipelines.audio.frame import Samples
from pipelines.playout.ledger import Ledger
from pipelines.playout.utterance import Utterance

__all__ = [
    "Advanced",
    "Began",
    "Clear",
    "Flow",
    "Pause",
    "Play",
    "Player",
    "PlayerAction",
    "PlayerSettings",
    "Settled",
    "Unpause",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSettings:
    """Times of playout, in seconds."""

    lead_s: float = 0.2
    """How far ahead of playout audio is given to the output: more survives jitter, less dies quicker at a clear."""
    quantum_s: float = 0.04
    """The longest run of samples given at once."""
    reports_s: float = 0.3
    """How long an output's reports are waited for after a clear."""
    watchdog_s: float = 1.5
    """How long after its audio must have ended an utterance is believed played without proof, and an epoch begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Give samples to the output."""

    epoch: int
    samples: Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Fall silent at this sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpause:
    """Go on at the sample where it fell silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """Drop whatever is older than the epoch. A pause goes on."""

    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """The first sample of an utterance was given to an idle output."""

    utterance: Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """More of an utterance is proven heard."""

    utterance: Utterance
    heard_end: int
    """Offset into its source text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An utterance is over: what was heard of it is final. Exactly one per utterance."""

    utterance: Utterance
    heard_end: int
    """Offset into its source text."""
    interrupted: bool
    estimated: bool
    """The output never reported its end; the clock says that it must be over."""


PlayerAction: TypeAlias = Play | Pause | Unpause | Clear | Began | Advanced | Settled


class Flow(Enum):
    """What the output is made to do."""

    FLOWING = auto()
    PAUSED = auto()
    """Silent at a sample; the output keeps the rest."""
    CLEARED = auto()
    """Silent by a clear, since the output cannot pause."""
    RESUMING = auto()
    """To go on as soon as the output has reported what it played before the clear."""


@dataclass(slots=True)
class _Cut:
    """An interrupted utterance whose last reports are awaited."""

    utterance: Utterance
    epoch: int
    until: float


class Player:
    """Plays one utterance after the other on one output.

    Args:
        rate: hertz of all audio.
        can_pause: whether the output can fall silent at a sample and go on there.
        settings: times.
    """

    def __init__(self, *, rate: int, can_pause: bool, settings: PlayerSettings | None = None) -> None:
        self.settings = settings or PlayerSettings()
        self.epoch = 0
        self.flow = Flow.FLOWING
        self.current: Utterance | None = None
        self.suspended = False
        """Whether nobody is there to hear: what is to go on waits."""
        self._rate = rate
        self._can_pause = can_pause
        self._ledger = Ledger(rate)
        self._queue: deque[Utterance] = deque()
        self._aside: Utterance | None = None
        """An utterance that is at a break, while another is heard."""
        self._cut: list[_Cut] = []
        self._runs_dry_at = 0.0
        """When the output will have played all it was given."""
        self._left_s = 0.0
        """Seconds a paused output still has to play."""
        self._reports_until = 0.0
        """Until when reports of the epoch cleared last are waited for."""
        self._advanced_to = 0
        self._actions: list[PlayerAction] = []

    def begin(self, utterance: Utterance, now: float) -> list[PlayerAction]:
        """Queue an utterance; its audio may come before or after. It waits for those before it, or for their breaks."""
        self._queue.append(utterance)
        return self.tick(now)

    def hold(self, now: float) -> list[PlayerAction]:
        """Fall silent at once, to go on or be cancelled later. Idempotent."""
        if self.flow is Flow.RESUMING:
            self.flow = Flow.CLEARED
        elif self.flow is Flow.FLOWING and self._can_pause:
            self.flow = Flow.PAUSED
            self._left_s = max(0.0, self._runs_dry_at - now)
            self._actions.append(Pause())
        elif self.flow is Flow.FLOWING:
            self.flow = Flow.CLEARED
            self._clear(now)
        return self._take()

    def resume(self, now: float) -> list[PlayerAction]:
        """Go on: at the sample where the output can pause, else at the first word not proven heard. Idempotent."""
        if self.flow is Flow.PAUSED:
            self.flow = Flow.FLOWING
            self._runs_dry_at = now + self._left_s
            self._actions.append(Unpause())
        elif self.flow is Flow.CLEARED:
            self.flow = Flow.RESUMING
        return self.tick(now)

    def suspend(self, now: float) -> list[PlayerAction]:
        """Play nothing before ``restore``: nobody is there to hear it. Idempotent.

        What the output has not reported is played again then, unless it is held: holds and resumes go on meanwhile.
        """
        if not self.suspended:
            self.suspended = True
            if self.flow in (Flow.FLOWING, Flow.PAUSED):
                self.flow = Flow.RESUMING if self.flow is Flow.FLOWING else Flow.CLEARED
                self._clear(now)
        return self._take()

    def restore(self, now: float) -> list[PlayerAction]:
        """Go on at the first word not proven heard; late reports of what was are waited for. Idempotent."""
        if self.suspended:
            self.suspended = False
            self._reports_until = now + self.settings.reports_s
        return self.tick(now)

    def cancel(self, number: int, now: float) -> list[PlayerAction]:
        """Stop an utterance for good; a hold goes on. It is settled when the output has reported, or time is up."""
        for waiting in [utterance for utterance in self._queue if utterance.number == number]:
            self._queue.remove(waiting)
            self._settle(waiting, interrupted=True)
        if self._aside is not None and self._aside.number == number:
            self._settle(self._aside, interrupted=True)
            self._aside = None
        if self.current is not None and self.current.number == number:
            self._cut_current(self.current, now)
        return self.tick(now)

    def report(self, epoch: int, played_s: float, now: float, *, final: bool = False) -> list[PlayerAction]:
        """Take the output's word for what it played.

        Args:
            epoch: of which epoch it speaks.
            played_s: seconds of that epoch's audio that were played.
            now: seconds of the call's clock.
            final: whether nothing more of that epoch will be played.
        """
        self._ledger.played(epoch, played_s, now)
        if final:
            for cut in self._cut:
                if cut.epoch == epoch:
                    cut.until = now
            if epoch == self.epoch - 1:
                self._reports_until = now
        return self.tick(now)

    def tick(self, now: float) -> list[PlayerAction]:
        """Do what is due."""
        self._settle_cut(now)
        if self.flow is Flow.RESUMING and not self.suspended and self._reports_are_in(now):
            self.flow = Flow.FLOWING
            if self.current is not None:
                self.current.given_samples = self.current.resume_sample()
        self._pump(now)
        while self._finish_current(now):
            self._pump(now)
        return self._take()

    @property
    def deadline(self) -> float | None:
        """When to call ``tick`` next, in seconds of the call's clock; ``None``: not before something is fed."""
        times = [cut.until for cut in self._cut]
        if self.flow is Flow.RESUMING and not self.suspended:
            times.append(self._reports_until)
        if self.flow is Flow.FLOWING and self.current is not None:
            if self.current.playable > 0:
                times.append(self._runs_dry_at - self.settings.lead_s)
            elif self.current.complete or self.current.breaks:
                times.append(self._runs_dry_at + self.settings.watchdog_s)
        return min(times, default=None)

    def _take(self) -> list[PlayerAction]:
        taken, self._actions = self._actions, []
        return taken

    def _pump(self, now: float) -> None:
        if self.flow is not Flow.FLOWING:
            return
        self._choose(now)
        if (utterance := self.current) is None:
            return
        if utterance.playable > 0:
            self._runs_dry_at = max(self._runs_dry_at, now)
        quantum = int(self.settings.quantum_s * self._rate)
        while utterance.playable > 0 and self._runs_dry_at - self.settings.lead_s <= now:
            samples = utterance.audio(utterance.given_samples, min(quantum, utterance.playable))
            if not utterance.begun:
                utterance.begun = True
                self._actions.append(Began(utterance=utterance))
            self._ledger.sent(self.epoch, utterance, utterance.given_samples, len(samples), now)
            utterance.given_samples += len(samples)
            self._runs_dry_at += len(samples) / self._rate
            self._actions.append(Play(epoch=self.epoch, samples=samples))

    def _choose(self, now: float) -> None:
        """Make the next utterance the current one, if there is none or that is at a break."""
        if self.current is not None and self._at_break(self.current, now):
            self._aside, self.current = self.current, None
        if self.current is not None:
            return
        if self._aside is not None and not self._at_break(self._aside, now):
            self.current, self._aside = self._aside, None
            self._advanced_to = self.current.heard_end()
        elif self._queue:
            self.current = self._queue.popleft()
            self._advanced_to = 0

    def _at_break(self, utterance: Utterance, now: float) -> bool:
        """Whether others go before the rest of an utterance, all before it having been heard, as far as can be told."""
        if not utterance.breaks:
            return False
        waiting = {other.number for other in self._queue}
        while utterance.breaks and utterance.breaks[0].other not in waiting:
            utterance.breaks.popleft()  # The other had its turn, or is not wanted any more.
        if self._aside not in (None, utterance) or not utterance.breaks or utterance.playable > 0:
            return False
        heard = utterance.heard_samples >= utterance.given_samples
        return heard or now >= self._runs_dry_at + self.settings.watchdog_s

    def _finish_current(self, now: float) -> bool:
        if (utterance := self.current) is None:
            return False
        heard_end = utterance.heard_end()
        if heard_end > self._advanced_to:
            self._advanced_to = heard_end
            self._actions.append(Advanced(utterance=utterance, heard_end=heard_end))
        given = self.flow is Flow.FLOWING and utterance.complete and utterance.unplayed_s <= 0
        overdue = given and now >= self._runs_dry_at + self.settings.watchdog_s
        if not (utterance.heard_whole or overdue):
            return False
        self.current = None
        if not utterance.heard_whole:
            self._clear(now)  # What the output lost or kept to itself must not be missing from the next one's account.
        self._settle(utterance, interrupted=False, estimated=not utterance.heard_whole)
        return True

    def _cut_current(self, utterance: Utterance, now: float) -> None:
        self.current = None
        if self.flow in (Flow.CLEARED, Flow.RESUMING):
            reached = self.epoch - 1
        else:
            reached = self.epoch
            if utterance.given_samples > 0:
                self._clear(now)
        if utterance.given_samples == 0 or self._ledger.everything_played(reached):
            self._settle(utterance, interrupted=True)
        else:
            self._cut.append(_Cut(utterance=utterance, epoch=reached, until=max(now, self._reports_until)))

    def _clear(self, now: float) -> None:
        self._ledger.close(self.epoch, now)
        self.epoch += 1
        self._reports_until = now + self.settings.reports_s
        self._runs_dry_at = now
        self._left_s = 0.0
        self._actions.append(Clear(epoch=self.epoch))

    def _reports_are_in(self, now: float) -> bool:
        if self.current is None or self.current.given_samples == 0:
            return True
        return now >= self._reports_until or self._ledger.everything_played(self.epoch - 1)

    def _settle_cut(self, now: float) -> None:
        for cut in [cut for cut in self._cut if now >= cut.until or self._ledger.everything_played(cut.epoch)]:
            self._cut.remove(cut)
            self._settle(cut.utterance, interrupted=True)

    def _settle(self, utterance: Utterance, *, interrupted: bool, estimated: bool = False) -> None:
        end = len(utterance.text) if estimated else utterance.heard_end()
        cut = utterance.cut_short or (interrupted and not utterance.heard_whole)
        self._actions.append(Settled(utterance=utterance, heard_end=end, interrupted=cut, estimated=estimated))
