"""Results of slow tools that wait to be told: until nobody has had anything to say for a while."""

from __future__ import annotations

from pipelines.turns.settings import TurnSettings

__all__ = ["WaitingResults"]


class WaitingResults:
    """Says when what waits is to be told.

    Args:
        settings: how long is waited.
    """

    def __init__(self, settings: TurnSettings) -> None:
        self._settings = settings
        self._waiting = False
        self._silent_since: float | None = None
        """Since when nobody has anything to say; ``None``: somebody has."""

    def add(self) -> None:
        """There is one more."""
        self._waiting = True

    def watch(self, now: float, *, busy: bool) -> None:
        """Learn whether somebody has something to say."""
        if busy:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now

    def due_at(self, *, asked: bool) -> float | None:
        """When they are to be told, if nothing more happens; ``None``: nothing waits, or somebody has the floor.

        Args:
            asked: whether a question is open, which the caller may be about to answer.
        """
        if not self._waiting or self._silent_since is None:
            return None
        return self._silent_since + (self._settings.result_after_question_s if asked else self._settings.result_after_s)

    def take(self) -> None:
        """They are told now, all of them."""
        self._waiting, self._silent_since = False, None
