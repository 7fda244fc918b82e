"""A device's call: what is said goes between browser and provider; the agent's tools and its memory are here.

Above: ``devices`` opens and ends it. Below: a :class:`~pipelines.responder.ToolHost`, as in calls whose audio comes by.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from agents.core.progress import ProgressKind
from pipelines.clock import Clock, Timer
from pipelines.glove import GloveToolHost
from pipelines.realtime.base import AdvertisedTool, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.wording import snapshot_text
from pipelines.responder import CallMade, ResponderError, ResponderEvent, ToolHost
from voice_server.clients.events import CallEnded, ClientEvent, Failure
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.stream import EventStream, Follower, Told
from voice_server.conversations import Conversations
from voice_server.device.batches import Batches
from voice_server.device.events import Context, ContextChanged, DeviceReady, ResultsCame
from voice_server.ending import Ending
from voice_server.watch import watching

__all__ = ["Answers", "DeviceCall", "Spoken"]

_log = logging.getLogger(__name__)

UNUSED_S = 120.0
"""Seconds after which a call ends whose device follows no events and asks for nothing: it was closed, or never came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the model is sent after its calls."""

    answers: tuple[ToolAnswer, ...]
    context: Context
    """Rendered after them."""
    tools: tuple[AdvertisedTool, ...] | None
    """All it has now, when they have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Something that was said."""

    by_agent: bool
    text: str
    heard: str
    """Of the agent's words those that were played; of the caller's all."""


class DeviceCall:
    """One call, from its admission to its end.

    Args:
        conversations: where it goes on.
        conversation: with which.
        clock: real.
        agent: whose, for people.
        model: of the provider, for people.

    Attributes:
        id: the call's.
        ticket: what its device shows with every request.
        opened: done when there is an agent.
        context: what the model has to know in the beginning, when it is set up.
    """

    def __init__(
        self, conversations: Conversations, conversation: str, clock: Clock, *, agent: str, model: str
    ) -> None:
        self.id = uuid.uuid4().hex
        self.ticket = secrets.token_urlsafe(24)
        self.conversation = conversation
        self.opened: asyncio.Future[ToolHost] = asyncio.get_running_loop().create_future()
        self._conversations = conversations
        self._clock = clock
        self._about = DeviceReady(conversation=conversation, agent=agent, model=model)
        self._stream = EventStream(self.id, clock.now)
        self._onlooker = Onlooker(self._stream.tell)
        self._order = asyncio.Lock()
        """What is kept is kept in the order it came."""
        self._batches: Batches | None = None
        """There when there is an agent."""
        self._told_tools: tuple[AdvertisedTool, ...] = ()
        self._told_text = ""
        self._news = asyncio.Event()
        self._over = asyncio.Event()
        self.context = Context(version=0, text="")
        self._ending = Ending.ENDED
        self._unused: Timer | None = None

    async def run(self) -> None:
        """Be there until :meth:`end`, or until nobody uses it any more. Cancelling ends it."""
        try:
            async with self._conversations.join(self.conversation) as joined:
                host = GloveToolHost(joined.agent, self._clock)
                host.watch(self._came, self._happened)
                try:
                    await host.open()
                    async with watching(joined.agent.progress, self._take):
                        await self._attend(host)
                finally:
                    await host.aclose()
        except Exception as error:  # noqa: BLE001 - a task's boundary: a call that fails fails alone
            self._fail(error)
        finally:
            if self._unused is not None:
                self._unused.cancel()
            self._stream.tell(CallEnded(reason=self._ending.value))
            self._stream.close()

    def end(self, ending: Ending = Ending.ENDED) -> None:
        """End it. Idempotent."""
        if not self._over.is_set():
            self._ending = ending
            self._over.set()

    @property
    def over(self) -> bool:
        """Whether it ends, or has ended."""
        return self._over.is_set()

    def touch(self) -> None:
        """Somebody uses it: it goes on for a while."""
        if self._unused is not None:
            self._unused.cancel()
        self._unused = self._clock.call_at(self._clock.now() + UNUSED_S, self._unattended)

    # ---------------------------------------------------------------------------------------------- what a device asks

    async def setup(self, voice: str | None) -> SessionSetup:
        """Say what the device's session begins with.

        Raises:
            ResponderError: the agent cannot be talked to.
        """
        host = await self.opened
        snapshot = await host.snapshot()
        self._told_tools, self._told_text = host.tools, snapshot.text
        self.context = _context(snapshot)
        return SessionSetup(
            instructions=host.instructions,
            tools=host.tools,
            voice=voice,
            past=await host.past(),
            snapshot=snapshot,
        )

    async def use_tools(self, calls: Sequence[CallMade], said: str) -> Answers:
        """Run the calls of one reply. Asking again with the same ids runs nothing again.

        Args:
            calls: in order.
            said: what the model said with them.

        Raises:
            UsedTwiceError: some ids were used before, and others not.
            ResponderError: calls or results could not be kept.
        """
        host = await self.opened
        assert self._batches is not None, "it is there since it is opened"
        answers = await self._batches.answer(calls, said)
        snapshot = await host.snapshot()
        self._told_text = snapshot.text
        changed, self._told_tools = host.tools != self._told_tools, host.tools
        return Answers(answers=answers, context=_context(snapshot), tools=self._told_tools if changed else None)

    async def keep(self, turns: Sequence[Spoken]) -> None:
        """Keep what was said, in order.

        Raises:
            ResponderError: it could not be kept.
        """
        host = await self.opened
        async with self._order:
            for turn in turns:
                if turn.by_agent:
                    message = await host.say(turn.text)
                    await host.settle(message, turn.heard, interrupted=turn.heard.strip() != turn.text.strip())
                else:
                    await host.hear(turn.text)
        self._news.set()

    def follow(self, after: int | None) -> Follower:
        """Read the events; ``leave`` in the end."""
        self.touch()
        return self._stream.follow(after)

    def introduce(self, turn: int | None) -> Told:
        """Give the first event of a connection."""
        return self._stream.aside(self._about)

    def leave(self, follower: Follower) -> None:
        """Somebody reads no more."""
        follower.close()
        self.touch()

    # ------------------------------------------------------------------------------------------------- what it does

    async def _attend(self, host: ToolHost) -> None:
        """Tell what changes that no call of the model's changed, until it is over."""
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(self._tell_news(host))
            self._batches = Batches(host, group, self._order, self._clock)
            self.opened.set_result(host)
            self.touch()
            await self._over.wait()
            telling.cancel()
            self._batches.cancel()

    async def _tell_news(self, host: ToolHost) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                texts, snapshot = await host.late(), await host.snapshot()
            except ResponderError as error:
                self._stream.tell(Failure(code="agent", message=str(error)))
                continue
            if texts:
                self._tell_context(ResultsCame(texts=texts, context=_context(snapshot)), snapshot)
            elif snapshot.text != self._told_text and not self._batches:
                self._tell_context(ContextChanged(context=_context(snapshot)), snapshot)

    def _tell_context(self, event: ClientEvent, snapshot: Snapshot) -> None:
        self._told_text = snapshot.text
        self._stream.tell(event)

    def _take(self, kind: ProgressKind, stands: object) -> None:
        self._onlooker.take(kind, stands)
        self._news.set()

    def _came(self) -> None:
        self._news.set()

    def _happened(self, event: ResponderEvent) -> None:
        """Tools that speak while they run have nobody to speak for them here."""

    def _unattended(self) -> None:
        if self._stream.readers or self._batches:
            self.touch()
        else:
            self.end(Ending.DISCONNECTED)

    def _fail(self, error: Exception) -> None:
        self._ending = Ending.FAILED
        if not self.opened.done():
            self.opened.set_exception(error)
            return
        _log.error("a device's call failed", exc_info=error)
        self._stream.tell(Failure(code="internal", message=f"the call failed ({type(error).__name__})"))


def _context(snapshot: Snapshot) -> Context:
    return Context(version=snapshot.version, text=snapshot_text(snapshot))
