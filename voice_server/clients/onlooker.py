"""An onlooker: tells clients how an agent's goals and forms stand, after every change that they can see.

Above: a live call and a chat have one each. Below: ``watch`` reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.core.progress import Progress, ProgressKind
from voice_server.clients.events import ClientEvent, FormsShown, GoalsShown
from voice_server.clients.shown import form_shown, goals_shown

__all__ = ["Onlooker", "look"]

_NO_GOALS = GoalsShown(program=None, version=0, status="active", active_goal=None, goals=(), deferred=())
_NOTHING: dict[ProgressKind, ClientEvent] = {"goals": _NO_GOALS, "forms": FormsShown(forms=())}


async def look(progress: Progress, kind: ProgressKind) -> GoalsShown | FormsShown:
    """Read how goals or forms stand; without any, an event that says so."""
    return _shown(kind, await progress.read(kind))


class Onlooker:
    """Looks on.

    Args:
        tell: takes what clients are told.
    """

    def __init__(self, tell: Callable[[ClientEvent], object]) -> None:
        self._tell = tell
        self._told = dict(_NOTHING)

    def take(self, kind: ProgressKind, stands: Any) -> None:
        """Tell how something stands, unless it was told or there is nothing yet: a ``Take``."""
        shown = _shown(kind, stands)
        if shown != self._told[kind]:
            self._told[kind] = shown
            self._tell(shown)

    def tell_again(self) -> None:
        """Tell what was told last, if there is anything: somebody may not have heard it."""
        for kind, shown in self._told.items():
            if shown != _NOTHING[kind]:
                self._tell(shown)


def _shown(kind: ProgressKind, stands: Any) -> GoalsShown | FormsShown:
    if kind == "goals":
        return _NO_GOALS if stands is None or stands["program"] is None else GoalsShown(**goals_shown(stands))
    return FormsShown(forms=tuple(form_shown(form) for form in stands or ()))
