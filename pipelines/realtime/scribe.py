"""The scribe: has the agent keep what the chronicle says, one thing after the other.

Above: ``agent`` wakes it. Below: a ``ToolHost`` keeps things. What cannot be kept is told, and the call goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipelines.clock import Clock, Timer
from pipelines.events import Tell, trouble
from pipelines.realtime.chronicle import CallerSpoke, Chronicle, Cost, Entry, HeardOf, ModelCalled, ModelSpoke, Spoken
from pipelines.responder import Batch, ResponderError, ToolHost

__all__ = ["Scribe"]

LAST_LIMIT_S = 2.0
"""Seconds a closing call waits for what was said to be kept."""


class Scribe:
    """Keeps one call's conversation.

    Args:
        clock: the call's.
        host: the agent.
        chronicle: what there is to keep.
        group: the call's task group.
        tell: takes what the outside is told.
        heard: called when words of the caller's were kept, and the agent has prepared for them.
        called: takes calls that were kept; ``None`` instead of a batch: they could not be.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        host: ToolHost,
        chronicle: Chronicle,
        group: asyncio.TaskGroup,
        tell: Tell,
        heard: Callable[[], None],
        called: Callable[[ModelCalled, Batch | None], None],
    ) -> None:
        self._clock = clock
        self._host = host
        self._chronicle = chronicle
        self._tell = tell
        self._heard = heard
        self._called = called
        self._messages: dict[str, str] = {}
        """Messages of replies of which it is not settled what was heard."""
        self._news = asyncio.Event()
        self._timer: Timer | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._task = group.create_task(self._run(), name="realtime scribe")

    @property
    def busy(self) -> bool:
        """Whether something is being kept."""
        return not self._idle.is_set()

    def look(self) -> None:
        """Something may be kept now."""
        self._idle.clear()
        self._news.set()

    async def settled(self) -> None:
        """Wait until nothing is being kept."""
        await self._idle.wait()

    async def aclose(self) -> None:
        """Keep everything there is, as it is, and stop. Idempotent."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with asyncio.timeout(LAST_LIMIT_S):
                for entry in self._chronicle.take(self._clock.now(), all=True):
                    await self._careful(entry, last=True)
        except TimeoutError:
            self._tell(trouble("store", TimeoutError(), known=None))
        self._idle.set()

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            for entry in self._chronicle.take(self._clock.now()):
                await self._careful(entry)
            self._arm()
            if not self._news.is_set():
                self._idle.set()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if (deadline := self._chronicle.deadline) is not None:
            self._timer = self._clock.call_at(deadline, self.look)

    async def _careful(self, entry: Entry, *, last: bool = False) -> None:
        try:
            await self._keep(entry, last=last)
        except Exception as error:  # noqa: BLE001 - an agent's boundary: the caller has heard it all the same
            self._tell(trouble("model", error, known=ResponderError))
            if isinstance(entry, ModelCalled) and not last:
                self._called(entry, None)

    async def _keep(self, entry: Entry, *, last: bool) -> None:
        match entry:
            case CallerSpoke():
                await self._host.hear(entry.text)
                self._heard()
            case ModelSpoke():
                self._messages[entry.reply] = await self._host.say(entry.text)
            case ModelCalled():
                batch = await self._host.call(entry.calls, said=entry.text)
                self._messages[entry.reply] = batch.message
                if last:
                    batch.abort()
                    await batch.run()  # Each call has its result, though nobody waits for it.
                else:
                    if entry.void:
                        batch.withhold()
                    self._called(entry, batch)
            case HeardOf():
                message = self._messages.pop(entry.reply, None)
                if message is not None and (entry.heard or entry.interrupted):
                    await self._host.settle(message, entry.heard, interrupted=entry.interrupted)
            case Cost():
                await self._host.spend(entry.used)
            case Spoken():
                await self._host.record(entry.text, kind=entry.kind, interrupted=entry.interrupted)
