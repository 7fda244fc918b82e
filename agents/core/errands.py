"""Tool calls that outlived their rounds: those that still run, and those whose result nobody was told yet."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection

from agents.core.running import RunningCall

__all__ = ["Errands"]

logger = logging.getLogger(__name__)

INPUT_SHOWN = 200
"""Characters of a running call's input that are repeated to the model, so that it knows which call is which."""


class Errands:
    """What a glove has under way behind the conversation.

    Attributes:
        on_result: called when a result waits to be told. A voice sets it, to tell it when the floor is free.
    """

    def __init__(self) -> None:
        self.on_result: Callable[[], None] | None = None
        self._running: dict[str, RunningCall] = {}
        self._untold: list[RunningCall] = []
        self._tasks: dict[asyncio.Task[None], RunningCall] = {}

    @property
    def running(self) -> tuple[RunningCall, ...]:
        """Calls under way, oldest first."""
        return tuple(self._running.values())

    @property
    def untold(self) -> bool:
        """Whether a result waits to be told."""
        return bool(self._untold)

    @property
    def open_ids(self) -> frozenset[str]:
        """Ids of the calls whose results the conversation does not have yet."""
        return frozenset((*self._running, *(call.call.id for call in self._untold)))

    def add(self, call: RunningCall, task: asyncio.Task[None]) -> None:
        """Take charge of a call."""
        self._running[call.call.id] = call
        self._tasks[task] = call
        task.add_done_callback(self._done)

    def ended(self, call: RunningCall) -> None:
        """Take note that a call has its result, and that somebody is to be told."""
        self._running.pop(call.call.id, None)
        self._untold.append(call)

    def forget(self, call: RunningCall) -> None:
        """Take note that a call has its result, and that nobody is to be told."""
        self._running.pop(call.call.id, None)

    def take(self) -> list[RunningCall]:
        """Give the calls whose results are to be told now, once."""
        taken, self._untold = self._untold, []
        return taken

    def find(self, call_id: str | None) -> RunningCall | None:
        """A running call by its id; without an id, the latest."""
        if call_id is None:
            return self.running[-1] if self._running else None
        return self._running.get(call_id)

    def render(self, now: float) -> str | None:
        """Tell the model what runs.

        Args:
            now: seconds, of the pace the calls were begun by.
        """
        if not self._running:
            return None
        lines = [_line(call, now) for call in self._running.values()]
        return "\n".join(["Tool calls that are running now; their results will be told to you:", *lines])

    def abort(self, reason: str) -> None:
        """Stop what may be stopped."""
        for call in self.running:
            call.abort(reason)

    async def drain(self, calls: Collection[str] | None = None) -> None:
        """Wait until nothing is under way.

        Args:
            calls: ids of the calls to wait for, looked at again whenever one has ended; ``None``: all.
        """
        while tasks := {task for task, call in self._tasks.items() if calls is None or call.call.id in calls}:
            await asyncio.wait(tasks)

    def _done(self, task: asyncio.Task[None]) -> None:
        call = self._tasks.pop(task)
        self.forget(call)
        if call.failure is not None:
            logger.error("a slow call of tool %r has no result: %r", call.call.tool_name, type(call.failure))


def _line(call: RunningCall, now: float) -> str:
    given = json.dumps(call.call.input_args, ensure_ascii=False, default=str)[:INPUT_SHOWN]
    return f"- {call.call.tool_name} (call {call.call.id}), for {max(0.0, now - call.started):.0f} s, with {given}"
