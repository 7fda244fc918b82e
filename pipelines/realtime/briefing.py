"""The briefing: what the model is told of the agent behind it, and what it has the agent do.

Above: ``agent`` lends it the connection and the floor. Below: a ``ToolHost`` renders the context and runs the tools.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

from pipelines.clock import Clock
from pipelines.events import EngineTrouble, Tell, ToolCalled, ToolReturned, trouble
from pipelines.realtime.base import AdvertisedTool, SessionSetup, Snapshot, TurnDetection
from pipelines.realtime.chronicle import ModelCalled
from pipelines.realtime.outbox import Answers, Inject, Refresh, Sending, Update
from pipelines.realtime.settings import RealtimeSettings
from pipelines.realtime.toolwork import ToolWork
from pipelines.responder import (
    Batch,
    ResponderError,
    ResponderEvent,
    StoreContended,
    ToolFinished,
    ToolHost,
    ToolSaid,
    ToolStarted,
)

__all__ = ["Briefing"]


class Briefing:
    """Keeps the model informed in one call.

    Args:
        clock: the call's.
        host: the agent.
        group: the call's task group.
        settings: how.
        post: sends to the provider.
        turn: which turn is being answered just now.
        results_told: called when results were told, with whether the model goes on because of them.
        asks: called before something is told that the model is to answer with the result of a slow tool.
        narrate: takes what a tool wants said.
        changed: called when something may have become due at another time.
        tell: takes what the outside is told.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        host: ToolHost,
        group: asyncio.TaskGroup,
        settings: RealtimeSettings,
        post: Callable[[Sending], None],
        turn: Callable[[], int | None],
        results_told: Callable[[bool], None],
        asks: Callable[[], None],
        narrate: Callable[[str], None],
        changed: Callable[[], None],
        tell: Tell,
    ) -> None:
        self._clock = clock
        self._host = host
        self._group = group
        self._settings = settings
        self._post = post
        self._turn = turn
        self._results_told = results_told
        self._asks = asks
        self._narrate = narrate
        self._changed = changed
        self._tell = tell
        self._tools: tuple[AdvertisedTool, ...] = ()
        """Those the model knows of."""
        self._context: str | None = None
        """What it knows of the moment."""
        self._calls: dict[str, int | None] = {}
        """The turns of tool calls that have not returned."""
        self._results_at: float | None = None
        """When results of slow tools are told; infinite while somebody speaks."""
        self._work = ToolWork(
            clock=clock,
            group=group,
            snapshot=host.snapshot,
            send=self._answer,
            tell=tell,
            patience_s=settings.patience_s,
        )
        self.give_way = self._work.give_way
        self.withdraw = self._work.withdraw
        self.abort = self._work.abort
        host.watch(self._result_ready, self._happened)

    @property
    def working(self) -> bool:
        """Whether tools run for which the model waits."""
        return self._work.busy

    @property
    def waiting(self) -> bool:
        """Whether the result of a slow tool waits to be told."""
        return self._results_at is not None

    def deadline(self, *, quiet: bool) -> float | None:
        """When to call :meth:`tick`; ``None``: not before something changes.

        Args:
            quiet: whether nobody speaks.
        """
        if self._results_at is not None:
            soon = self._clock.now() + self._settings.result_after_s
            self._results_at = min(self._results_at, soon) if quiet else math.inf
        return self._results_at

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self._results_at is not None and now >= self._results_at:
            self._results_at = None
            self._group.create_task(self._careful(self._report), name="realtime report")

    async def setup(self, resume: str | None) -> SessionSetup:
        """Say what a new session begins with."""
        snapshot, past = await self._host.snapshot(), await self._host.past()
        self._context = snapshot.text
        return self._setup(snapshot, resume=resume, past=past)

    async def refresh(self) -> None:
        """Tell what has changed of what the model has to know, and of its tools."""
        snapshot = await self._host.snapshot()
        self._update(snapshot)
        if snapshot.text != self._context:
            self._context = snapshot.text
            self._post(Refresh(snapshot=snapshot))

    def refresh_soon(self) -> None:
        """Do that behind the call's back."""
        self._group.create_task(self._careful(self.refresh), name="realtime refresh")

    def run(self, called: ModelCalled, batch: Batch | None, connection: int) -> None:
        """Run what the model called, and tell it the results."""
        self._work.run(called, batch, connection)

    async def aclose(self) -> None:
        """Stop what may be stopped. Idempotent."""
        await self._work.aclose()

    def _setup(self, snapshot: Snapshot, **more: Any) -> SessionSetup:
        self._tools = self._host.tools
        instructions = self._settings.instructions
        return SessionSetup(
            instructions=self._host.instructions if instructions is None else instructions,
            tools=self._tools,
            turn_detection=TurnDetection.OURS if self._settings.ours else TurnDetection.PROVIDER,
            voice=self._settings.voice,
            snapshot=snapshot,
            **more,
        )

    def _update(self, snapshot: Snapshot) -> None:
        if self._host.tools != self._tools:
            self._post(Update(setup=self._setup(snapshot)))

    def _answer(self, answers: Answers) -> None:
        """Tell the results of a batch, with the context of now, and with the tools of now before them."""
        self._update(answers.snapshot)
        self._context = answers.snapshot.text
        self._post(answers if answers.results else Refresh(snapshot=answers.snapshot))
        self._results_told(bool(answers.results and answers.respond))

    def _happened(self, event: ResponderEvent) -> None:
        """Take what happens to tools."""
        match event:
            case ToolStarted():
                turn = self._calls[event.call_id] = self._turn()
                self._tell(ToolCalled(turn=turn, call_id=event.call_id, name=event.name, input=event.input))
            case ToolFinished():
                self._tell(
                    ToolReturned(
                        turn=self._calls.pop(event.call_id, None),
                        call_id=event.call_id,
                        name=event.name,
                        status=event.status,
                        duration_ms=event.duration_ms,
                    )
                )
            case ToolSaid():
                self._narrate(event.text)
            case StoreContended():
                self._tell(EngineTrouble(engine="store", reason=event.reason))
            case _:
                pass

    def _result_ready(self) -> None:
        """A slow tool has a result: it is told when nobody speaks."""
        self._results_at = math.inf
        self._changed()

    async def _report(self) -> None:
        texts, snapshot = await self._host.late(), await self._host.snapshot()
        self._context = snapshot.text
        self._post(Refresh(snapshot=snapshot))
        if texts:
            self._asks()
            self._post(Inject(text="\n".join(texts), role="system", respond=True))

    async def _careful(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - an agent's boundary
            self._tell(trouble("model", error, known=ResponderError))
