"""An onlooker: reads how an agent's goals and forms stand after every change, and tells it.

It reads in a task of its own, so that nobody waits for it, and only once when much changes at a time. Above: a live
call and a chat have one each. Below: :class:`~agents.core.progress.Progress`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agents.core.progress import Progress, ProgressKind
from voice_server.clients.events import ClientEvent, FormsShown, GoalsShown
from voice_server.clients.shown import form_shown, goals_shown

__all__ = ["Onlooker", "look"]

_log = logging.getLogger(__name__)

_NO_GOALS = GoalsShown(program=None, version=0, status="active", active_goal=None, goals=(), deferred=())
_NOTHING: dict[ProgressKind, ClientEvent] = {"goals": _NO_GOALS, "forms": FormsShown(forms=())}


async def look(progress: Progress, kind: ProgressKind) -> GoalsShown | FormsShown:
    """Read how goals or forms stand; without any, an event that says so."""
    read = await progress.read(kind)
    if kind == "goals":
        return _NO_GOALS if read is None or read["program"] is None else GoalsShown(**goals_shown(read))
    return FormsShown(forms=tuple(form_shown(form) for form in read or ()))


class Onlooker:
    """Looks on, from the beginning of :meth:`run` to :meth:`close`.

    Args:
        progress: what is looked at.
        tell: takes how it stands: in the beginning if there is anything, and after every change that can be seen.
    """

    def __init__(self, progress: Progress, tell: Callable[[ClientEvent], object]) -> None:
        self._progress = progress
        self._tell = tell
        self._told = dict(_NOTHING)
        self._changed: set[ProgressKind] = {"goals", "forms"}
        self._news = asyncio.Event()
        self._news.set()
        self._quiet = asyncio.Event()
        """Set while all that changed was told."""
        self._closed = False
        self._stop_listening = progress.add_listener(self._note)

    async def run(self) -> None:
        """Tell, until it is closed; what cannot be read is tried again after the next change."""
        while not self._closed:
            await self._news.wait()
            self._news.clear()
            while self._changed:
                await self._read(self._changed.pop())
            self._quiet.set()

    async def settle(self) -> None:
        """Wait until all that changed so far was told."""
        if not self._closed:
            await self._quiet.wait()

    def tell_again(self) -> None:
        """Tell what was told last, if there is anything: somebody may not have heard it."""
        for kind, shown in self._told.items():
            if shown != _NOTHING[kind]:
                self._tell(shown)

    def close(self) -> None:
        """Look on no longer. Idempotent."""
        self._closed = True
        self._stop_listening()
        self._changed.clear()
        self._news.set()
        self._quiet.set()

    def _note(self, kind: ProgressKind) -> None:
        self._changed.add(kind)
        self._quiet.clear()
        self._news.set()

    async def _read(self, kind: ProgressKind) -> None:
        try:
            shown = await look(self._progress, kind)
        except Exception as error:  # noqa: BLE001 - the boundary to an agent's store
            _log.warning("how the %s stand could not be read: %s", kind, type(error).__name__)
            return
        if not self._closed and shown != self._told[kind]:
            self._told[kind] = shown
            self._tell(shown)
