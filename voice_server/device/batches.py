"""Batches: the tool calls of a device's model, each run once however often it is asked for.

Above: ``call`` hands them over. Below: a :class:`~pipelines.responder.ToolHost`.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from pipelines.clock import Clock
from pipelines.realtime.base import ToolAnswer
from pipelines.responder import CallMade, ResponderError, ToolHost

__all__ = ["Batches", "UsedTwiceError"]

PATIENCE_S = 15.0
"""Seconds a model waits for its tools before it is told that one goes on."""

REMEMBERED = 256
"""Answers kept for a device that asks again, because the connection broke before it had them."""


class UsedTwiceError(Exception):
    """Some of a batch's call ids were used before, and others not."""


class Batches:
    """Those of one call.

    Args:
        host: runs them.
        group: in which they are run.
        order: what is kept is kept in the order it came.
        clock: real.
    """

    def __init__(self, host: ToolHost, group: asyncio.TaskGroup, order: asyncio.Lock, clock: Clock) -> None:
        self._host = host
        self._group = group
        self._order = order
        self._clock = clock
        self._answers: OrderedDict[str, ToolAnswer] = OrderedDict()
        self._running: dict[tuple[str, ...], asyncio.Task[tuple[ToolAnswer, ...] | ResponderError]] = {}
        """By the ids of the calls."""

    def __bool__(self) -> bool:
        return bool(self._running)

    async def answer(self, calls: Sequence[CallMade], said: str) -> tuple[ToolAnswer, ...]:
        """Run the calls of one reply, in order; those that were run are only answered. Safe to cancel: they go on.

        Raises:
            UsedTwiceError: some ids were used before, and others not.
            ResponderError: calls or results could not be kept, or the call is over.
        """
        ids = tuple(call.call_id for call in calls)
        if all(each in self._answers for each in ids):
            return tuple(self._answers[each] for each in ids)
        if (running := self._running.get(ids)) is None:
            busy = {each for batch in self._running for each in batch}
            if len(set(ids)) < len(ids) or any(each in self._answers or each in busy for each in ids):
                raise UsedTwiceError
            running = self._running[ids] = self._group.create_task(self._work(ids, calls, said))
        await asyncio.wait([running])
        if running.cancelled():
            raise ResponderError("the call is over")
        outcome = running.result()
        if isinstance(outcome, ResponderError):
            raise outcome
        return outcome

    def cancel(self) -> None:
        """Stop what may be stopped."""
        for running in self._running.values():
            running.cancel()

    async def _work(
        self, ids: tuple[str, ...], calls: Sequence[CallMade], said: str
    ) -> tuple[ToolAnswer, ...] | ResponderError:
        try:
            async with self._order:
                batch = await self._host.call(calls, said=said)
            patience = self._clock.call_at(self._clock.now() + PATIENCE_S, batch.give_way)
            try:
                answers = await batch.run()
            finally:
                patience.cancel()
        except ResponderError as error:  # For whoever asked; the call goes on.
            return error
        finally:
            del self._running[ids]
        self._answers.update(zip(ids, answers, strict=True))
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return answers
