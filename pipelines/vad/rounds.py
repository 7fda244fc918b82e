"""Rounds: frames of many calls wait a moment for one another, so that their windows are judged in one run.

Above: a server with many calls gives it what comes. Below: an engine that can judge together, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pipelines.audio.frame import HEARING_RATE, Frame
from pipelines.clock import Clock
from pipelines.vad.base import ActivityModel, ForesightedModel, VoiceActivity

__all__ = ["Rounds"]

WAIT_S = 0.008
"""Seconds a frame waits at most: a quarter of a window."""

FEW = 8
"""Calls up to which nobody waits: a core has time for each alone."""

MOST = 16
"""Streams in one run: 1.3 ms; longer, other work would be late."""


class Rounds:
    """Hands frames on, in the order they came.

    Args:
        model: the engine.
        clock: real.
        calls: how many calls there are now.
    """

    def __init__(self, model: ActivityModel, clock: Clock, calls: Callable[[], int]) -> None:
        self._model = model if isinstance(model, ForesightedModel) else None
        self._clock = clock
        self._calls = calls
        self._waiting: list[tuple[VoiceActivity, Frame, Callable[[Frame], None]]] = []

    def hear(self, activity: VoiceActivity, frame: Frame, hear: Callable[[Frame], None]) -> None:
        """Take a frame.

        Args:
            activity: the stream of the call that hears it.
            frame: at any rate; only those that need no other are judged together.
            hear: takes it, at once or a moment later.
        """
        if not self._waiting and (self._model is None or self._calls() <= FEW):
            hear(frame)
            return
        if not self._waiting:
            self._clock.call_at(self._clock.now() + WAIT_S, self._hand_on)
        self._waiting.append((activity, frame, hear))

    def _hand_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        while waiting:
            together: dict[int, tuple[VoiceActivity, Frame, Callable[[Frame], None]]] = {}
            later = []
            for item in waiting:
                if len(together) < MOST and id(item[0]) not in together:
                    together[id(item[0])] = item
                else:
                    later.append(item)
            self._foresee([(activity, frame) for activity, frame, _ in together.values()])
            for _, frame, hear in together.values():
                hear(frame)
            waiting = later

    def _foresee(self, frames: list[tuple[VoiceActivity, Frame]]) -> None:
        upcoming = [(activity, frame.samples) for activity, frame in frames if frame.rate == HEARING_RATE]
        if self._model is not None:
            # An engine's boundary: each call will find out by itself, and go on without it.
            with suppress(Exception):
                self._model.foresee(upcoming)
