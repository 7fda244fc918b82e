"""A tool call at work, in a task of its own, so that it may outlive the round that began it.

Above: ``executor`` starts and awaits it. Beside: ``errands`` keeps the ones that did outlive theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.conversation import Conversation
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import ToolCall, ToolResult
from agents.core.pace import Work

__all__ = ["CLEANUP_LIMIT_S", "RunningCall"]

CLEANUP_LIMIT_S = 5.0
"""How long a stopped tool may take to clean up before nobody waits for it any more: enough to roll back."""


class RunningCall:
    """One call, from its start to its one result. Made within a running loop.

    Args:
        call: what the model asked for.
        kept: the conversation it belongs to.
        started: when it began, in the pace's seconds.

    Attributes:
        signal: stops it. The request's signal is passed on to it by :meth:`follow`.
        work: the account its real work is on just now.
        expected: what the tool said the question in its result wants.
        protected: whether it has begun what may not be stopped.
        detached: whether its round was settled without it.
        dismissed: whether nobody wants to be told how it ended.
        timed_out: whether it was stopped for taking too long.
        result: how it ended.
        failure: what, not the tool's own, kept it from having a result: a store that failed, say.
    """

    def __init__(self, call: ToolCall, *, kept: Conversation, started: float) -> None:
        self.call = call
        self.kept = kept
        self.started = started
        self.signal = AbortSignal()
        self.work: Work | None = None
        self.expected: ExpectedAnswer | None = None
        self.protected = False
        self.detached = False
        self.dismissed = False
        self.timed_out = False
        self.result: ToolResult | None = None
        self.failure: BaseException | None = None
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._giving_up: asyncio.TimerHandle | None = None

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin the work, which calls :meth:`finish`."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        return task

    def follow(self, signal: AbortSignal) -> None:
        """Stop when the signal is set."""
        unwatch = signal.watch(lambda: self.abort(signal.reason))
        self._over.add_done_callback(lambda _: unwatch())

    def abort(self, reason: str = "aborted") -> None:
        """Stop what may be stopped; a protected call only learns that it is no longer wanted. Idempotent."""
        if self._over.done() or self.signal.aborted:
            return
        self.signal.abort(reason)
        if not self.protected:
            # A tool that will not be stopped must not hold the conversation.
            self._giving_up = asyncio.get_running_loop().call_later(CLEANUP_LIMIT_S, self._leave_behind)

    def time_out(self) -> None:
        """Stop it because it took too long."""
        self.timed_out = True
        self.abort("timed out")

    def finish(self, result: ToolResult) -> None:
        """Give the call its result. The first one holds, and none after nobody waits any more."""
        if not self._over.done():
            self.result = result
            self._give_up()

    async def wait(self, limit_s: float | None = None) -> bool:
        """Wait until it is over; cancelling the wait does not stop the call.

        Args:
            limit_s: how long at most; ``None``: as long as it takes.

        Returns:
            Whether it is over.
        """
        done, _ = await asyncio.wait({self._over}, timeout=limit_s)
        return bool(done)

    def _leave_behind(self) -> None:
        if not self.protected:
            self._give_up()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self.failure = task.exception()
        self._give_up()

    def _give_up(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
        if not self._over.done():
            self._over.set_result(None)
