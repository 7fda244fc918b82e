"""Notes: a call's report and trace, kept in memory. A call that is recorded needs none.

Above: the command ``turn``, and tests. Below: ``minutes`` and ``tracing``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.core.progress import ProgressKind
from pipelines.clock import Clock
from pipelines.events import CallEvent
from pipelines.trace import Trace
from voice_server.records.journal import Entry, Heading, stands
from voice_server.records.minutes import Minutes
from voice_server.records.tracing import Tracing
from voice_server.report import Audio, TurnReport

__all__ = ["Notes"]


class Notes:
    """Listens to one call, which begins now.

    Args:
        clock: the call's.
        heading: what is known of the call.
        trace: is filled as things happen; its audio is left to others.
        last_played_at: when the output last played a sample, seconds of the call's clock.
    """

    def __init__(self, clock: Clock, heading: Heading, trace: Trace, last_played_at: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock.now()
        self._trace = trace
        self._last_played_at = last_played_at
        self._minutes = Minutes(heading)
        self._tracing = Tracing(trace)

    def judge(self, ends_at: float, probability: float) -> None:
        """Take a speech probability: a ``Probe``."""
        self._trace.probabilities.append(((ends_at - self._began) * 1000, probability))

    def tell(self, event: CallEvent) -> None:
        """Take an event: a ``Tell``."""
        now, played_at = self._clock.now(), self._last_played_at()
        entry = Entry.of(event, now=now, began=self._began, played_at=played_at)
        self._minutes.notice(entry)
        self._tracing.notice(entry)

    def take(self, kind: ProgressKind, read: Any) -> None:
        """Take how far the agent is: a ``Take``."""
        self._minutes.notice(Entry.of(stands(kind, read), now=self._clock.now(), began=self._began))

    def report(self, audio: Audio | None = None) -> TurnReport:
        """Give what happened so far.

        Args:
            audio: where the agent's side is, if it is anywhere.
        """
        return self._minutes.report(audio)
