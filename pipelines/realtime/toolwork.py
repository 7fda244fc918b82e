"""Tool work: the batches of calls that a model makes, from being kept to their results on the wire.

Above: ``agent`` gives it batches. Below: a ``ToolHost`` runs them. A batch is told exactly once, whatever happens.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from pipelines.clock import Clock, Timer
from pipelines.events import Tell, trouble
from pipelines.realtime.base import Snapshot, ToolAnswer
from pipelines.realtime.chronicle import ModelCalled
from pipelines.realtime.outbox import Answers
from pipelines.responder import Batch, ResponderError

__all__ = ["ToolWork"]


class _Way(Enum):
    """Why a batch is settled before its calls have ended."""

    CALLER = auto()
    """The caller goes on, and is answered: the model does not go on because of the results."""
    PATIENCE = auto()
    """It took too long: the model is to say so."""


class ToolWork:
    """Runs one call's batches, one at a time.

    Args:
        clock: the call's.
        group: the call's task group.
        snapshot: renders the context when a batch has ended.
        send: takes the results, and whether the model is to go on.
        tell: takes what the outside is told.
        patience_s: how long the model waits before it is told that a tool goes on.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        group: asyncio.TaskGroup,
        snapshot: Callable[[], Awaitable[Snapshot]],
        send: Callable[[Answers], None],
        tell: Tell,
        patience_s: float,
    ) -> None:
        self._clock = clock
        self._group = group
        self._snapshot = snapshot
        self._send = send
        self._tell = tell
        self._patience_s = patience_s
        self._batch: Batch | None = None
        self._way: _Way | None = None
        self._withdrawn: set[str] = set()
        self._timer: Timer | None = None
        self._running: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether a batch is being run."""
        return bool(self._running)

    def run(self, called: ModelCalled, batch: Batch | None, connection: int) -> None:
        """Run a batch; without one, the calls could not be kept, and are refused.

        Args:
            called: what the model called.
            batch: what was kept of that.
            connection: the one the calls were made over.
        """
        task = self._group.create_task(self._work(called, batch, connection), name="realtime tools")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def give_way(self) -> None:
        """The caller goes on: settle the batch without the call that runs."""
        self._make_way(_Way.CALLER)

    def withdraw(self, call_ids: tuple[str, ...]) -> None:
        """The model wants no results of these calls any more; what they do is done, and is kept."""
        self._withdrawn.update(call_ids)

    async def aclose(self) -> None:
        """Stop what may be stopped; results are kept, and told nobody. Idempotent."""
        if self._batch is not None:
            self._batch.abort()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _make_way(self, way: _Way) -> None:
        if self._batch is not None and self._way is None:
            self._way = way
            self._batch.give_way()

    async def _work(self, called: ModelCalled, batch: Batch | None, connection: int) -> None:
        self._batch, self._way = batch, None
        timer = self._clock.call_at(self._clock.now() + self._patience_s, self._make_way, _Way.PATIENCE)
        try:
            results = await self._results(called, batch)
        finally:
            timer.cancel()
        wanted = tuple(result for result in results if result.call_id not in self._withdrawn)
        self._withdrawn.clear()
        respond = self._way is not _Way.CALLER and not called.void
        self._batch = None
        snapshot = await self._snapshot()
        self._send(Answers(results=wanted, snapshot=snapshot, respond=respond, connection=connection))

    def abort(self) -> None:
        """Stop what may be stopped; the batch has its results then."""
        if self._batch is not None:
            self._batch.abort()

    async def _results(self, called: ModelCalled, batch: Batch | None) -> tuple[ToolAnswer, ...]:
        reason = "The call was not made: it could not be kept."
        if batch is not None:
            try:
                return await batch.run()
            except Exception as error:  # noqa: BLE001 - an agent's boundary: each call needs its result
                self._tell(trouble("model", error, known=ResponderError))
                reason = "What became of this call could not be kept; do not take it that nothing was done."
        output = json.dumps({"status": "error", "data": None, "message": reason})
        return tuple(ToolAnswer(call_id=call.call_id, name=call.name, output=output) for call in called.calls)
