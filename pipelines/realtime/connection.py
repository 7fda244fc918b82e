"""The connection: one session after the other with a provider, as if there were only one.

Above: ``agent`` posts what is to be sent and takes what is said. Below: an adapter opens sessions; ``lasting`` says
when one is renewed and how a lost one is tried again. A new one is there before the old one is let go, where that can
be foreseen.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol, assert_never

from pipelines.clock import Clock, Timer
from pipelines.realtime.base import RealtimeAdapter, RealtimeError, RealtimeSession, SessionSetup
from pipelines.realtime.events import (
    CallerWords,
    ProviderEvent,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyWords,
    SessionEnded,
    SessionExpiring,
    SessionOpened,
    TokensTold,
    ToolCalled,
)
from pipelines.realtime.lasting import Renewal, waits
from pipelines.realtime.outbox import (
    Answers,
    BeginSpeech,
    EndSpeech,
    Hear,
    Inject,
    Interrupt,
    Outbox,
    Refresh,
    Sending,
    Truncate,
    Update,
)
from pipelines.realtime.settings import Lasting

__all__ = ["Connection", "Correspondent", "session_of"]

OPENING_LIMIT_S = 15.0
"""Seconds a provider may take from being asked for a session to accepting it."""


class Correspondent(Protocol):
    """Who talks over a connection. Every method returns at once, but for ``setup``."""

    async def setup(self, resume: str | None) -> SessionSetup:
        """Say what a new session begins with."""
        ...

    def told(self, event: ProviderEvent) -> None:
        """Take what the provider says; ids differ from those of every other session."""
        ...

    def up(self) -> None:
        """A session is there, and what is posted from now on is for it."""
        ...

    def down(self) -> None:
        """It is over, or another one takes over: nothing more of it is told."""
        ...

    def lost(self, error: RealtimeError) -> None:
        """There will be no other."""
        ...

    @property
    def quiet(self) -> bool:
        """Whether nobody speaks and nothing is made, so that nothing is cut by a change of sessions."""
        ...


@dataclass(slots=True, eq=False)
class _Link:
    """One session."""

    number: int
    session: RealtimeSession
    version: int = 0
    """Of the context it began with."""
    told: int = 0
    """How much had been said when it was asked for: it knows nothing later."""
    reading: asyncio.Task[None] | None = None
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it was accepted, or is over."""
    ended: SessionEnded | None = None


class Connection:
    """A provider, for the length of a call.

    Args:
        clock: the call's.
        adapter: opens sessions.
        group: the call's task group.
        outbox: what waits to be sent.
        settings: times.
        correspondent: who talks.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        adapter: RealtimeAdapter,
        group: asyncio.TaskGroup,
        outbox: Outbox,
        settings: Lasting,
        correspondent: Correspondent,
    ) -> None:
        self._clock = clock
        self._adapter = adapter
        self._group = group
        self._outbox = outbox
        self._settings = settings
        self._correspondent = correspondent
        self._renewal = Renewal(settings)
        self._numbers = 0
        self._told = 0
        """How much was said, by the provider and to it, beside sound."""
        self._link: _Link | None = None
        self._next: asyncio.Task[_Link | RealtimeError] | None = None
        """A session being opened to take over."""
        self._news = asyncio.Event()
        self._timer: Timer | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def number(self) -> int:
        """Which session it is; 0 before the first one."""
        return 0 if self._link is None else self._link.number

    def start(self) -> None:
        """Connect. Once."""
        self._task = self._group.create_task(self._run(), name="realtime connection")

    def post(self, sending: Sending) -> None:
        """Send something behind everything posted before, as soon as there is a session."""
        self._outbox.put(sending)
        if not isinstance(sending, Hear):
            self._told += 1
        self._news.set()

    def look(self) -> None:
        """It may have become quiet."""
        if self._renewal.deadline is not None:
            self._news.set()

    async def aclose(self) -> None:
        """End it, within a few seconds. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._next is not None:
            self._next.cancel()
            await asyncio.gather(self._next, return_exceptions=True)
        link, self._link = self._link, None
        if link is not None:
            await self._close(link)

    # -------------------------------------------------------------------------------------------------- its sessions

    async def _run(self) -> None:
        try:
            link = await self._persist(None)
            while True:
                link = await self._serve(link)
        except RealtimeError as error:
            self._correspondent.lost(error)

    async def _serve(self, link: _Link) -> _Link:
        """Send over a session until it is over.

        Returns:
            The one that takes over.
        """
        self._link = link
        self._renewal.opened(self._adapter.lasts_s, self._clock.now())
        self._correspondent.up()
        while link.ended is None:
            self._news.clear()
            await self._send_all(link)
            if link.session.handle is not None and self._due:
                break  # It is given up before it is gone on with: a provider resumes nothing that still lasts.
            if (successor := self._successor()) is not None:
                self._let_go()
                await self._close(link)
                return successor
            self._arm()
            await self._news.wait()
        handle = link.session.handle
        self._let_go()
        await self._close(link)
        if link.ended is not None and not link.ended.retry and not link.ended.expected:
            raise RealtimeError(f"{self._adapter.name} ended the session: {_why(link.ended)}", retry=False)
        if self._next is not None:
            coming, self._next = self._next, None
            if isinstance(came := await coming, _Link):
                return came
        return await self._persist(handle)

    def _let_go(self) -> None:
        self._link = None
        self._outbox.broke()
        self._correspondent.down()

    @property
    def _due(self) -> bool:
        """Whether another session is to take over now."""
        return self._renewal.due(self._clock.now(), busy=not self._correspondent.quiet)

    def _successor(self) -> _Link | None:
        """Have a session opened to take over, when it is time; give it when it is there and nothing is cut by it."""
        if self._next is None:
            if self._due:
                self._next = self._group.create_task(self._try(), name="realtime renewal")
                self._next.add_done_callback(lambda _: self._news.set())
            return None
        if not self._next.done():
            return None
        successor = self._next.result()
        if isinstance(successor, RealtimeError):
            self._next = None
            self._renewal.failed(self._clock.now())
            return None
        if not self._due:
            return None
        self._next = None
        if successor.told == self._told:
            return successor
        self._group.create_task(self._close(successor), name="realtime renewal")  # It has missed something.
        self._news.set()
        return None

    async def _try(self) -> _Link | RealtimeError:
        """Open a session; a failure is no reason for the call to end."""
        try:
            return await self._open(None)
        except RealtimeError as error:
            return error

    async def _persist(self, resume: str | None) -> _Link:
        """Open a session, again and again for a while.

        Raises:
            RealtimeError: it is of no use to go on.
        """
        failure = RealtimeError(f"{self._adapter.name} cannot be had")
        for wait in waits(self._settings):
            if wait:
                await self._clock.sleep(wait)
            try:
                return await self._open(resume)
            except RealtimeError as error:
                failure = error
                if not error.retry and resume is None:
                    break
            resume = None  # It may be the handle that is refused.
        raise failure

    async def _open(self, resume: str | None) -> _Link:
        told = self._told
        setup = await self._correspondent.setup(resume)
        link: _Link | None = None
        try:
            async with asyncio.timeout(OPENING_LIMIT_S):
                self._numbers += 1
                version = 0 if setup.snapshot is None else setup.snapshot.version
                link = _Link(number=self._numbers, session=await self._adapter.open(setup), version=version, told=told)
                link.reading = self._group.create_task(self._read(link), name=f"realtime session {link.number}")
                await link.opened.wait()
            if link.ended is not None:
                raise RealtimeError(f"{self._adapter.name} refuses: {_why(link.ended)}", retry=link.ended.retry)
        except BaseException as error:
            if link is not None:
                await self._close(link)
            if isinstance(error, TimeoutError):
                raise RealtimeError(f"{self._adapter.name} did not answer within {OPENING_LIMIT_S:g} s") from None
            raise
        return link

    async def _close(self, link: _Link) -> None:
        with suppress(Exception):  # An adapter's boundary: it is over anyway.
            await link.session.aclose()
        if link.reading is not None:
            link.reading.cancel()
            await asyncio.gather(link.reading, return_exceptions=True)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._clock.now()
        times = [at for at in (self._renewal.deadline, self._renewal.forced_at) if at is not None and at > now]
        if times:
            self._timer = self._clock.call_at(min(times), self._news.set)

    # ---------------------------------------------------------------------------------------------- what is said

    async def _read(self, link: _Link) -> None:
        try:
            async for event in link.session.events():
                self._take(link, event)
        except Exception as error:  # noqa: BLE001 - an adapter's boundary
            link.ended = SessionEnded(expected=False, reason=f"its adapter raised {type(error).__name__}")
        finally:
            if link.ended is None:
                link.ended = SessionEnded(expected=False, reason="its events stopped")
            link.opened.set()
            self._news.set()

    def _take(self, link: _Link, event: ProviderEvent) -> None:
        match event:
            case SessionOpened():
                link.opened.set()
            case SessionEnded():
                link.ended = event
            case SessionExpiring():
                self._renewal.expiring(event.in_s, self._clock.now())
                self._news.set()
        if link is self._link:
            if isinstance(event, ReplyBegan):
                self._outbox.answered()
            if isinstance(event, CallerWords | ReplyBegan | ReplyEnded | ToolCalled):
                self._told += 1
            self._correspondent.told(_qualified(event, link.number))

    async def _send_all(self, link: _Link) -> None:
        while link.ended is None and (sending := self._outbox.take(link.number)) is not None:
            await self._send(link, sending)

    async def _send(self, link: _Link, sending: Sending) -> None:
        session = link.session
        match sending:
            case Hear():
                await session.hear(sending.samples)
            case BeginSpeech():
                await session.begin_speech()
            case EndSpeech():
                await session.end_speech(respond=sending.respond)
            case Inject():
                await session.inject(sending.text, role=sending.role, respond=sending.respond)
            case Answers():
                await session.answer(sending.results, snapshot=sending.snapshot, respond=sending.respond)
            case Refresh():
                if sending.snapshot.version > link.version:
                    await session.refresh(sending.snapshot)
            case Interrupt():
                await session.interrupt()
            case Truncate():
                await session.truncate(_item(sending.item), sending.heard_s)
            case Update():
                await session.update(sending.setup)
            case _:
                assert_never(sending)


def _why(ended: SessionEnded) -> str:
    code = "" if ended.code is None else f" ({ended.code})"
    return f"{ended.reason or 'no reason was given'}{code}"


def _qualified(event: ProviderEvent, number: int) -> ProviderEvent:
    """Tell the ids of a later session from those of the first."""
    if number == 1:
        return event
    match event:
        case ReplyAudio() | ReplyWords():
            return replace(event, reply=f"{number}/{event.reply}", item=f"{number}/{event.item}")
        case ReplyBegan() | ReplyEnded() | ToolCalled() | TokensTold():
            return replace(event, reply=f"{number}/{event.reply}")
        case CallerWords():
            return replace(event, item=f"{number}/{event.item}")
        case _:
            return event


def session_of(qualified: str) -> int:
    """Tell which session an id is of."""
    number, slash, _ = qualified.partition("/")
    return int(number) if slash and number.isdigit() else 1


def _item(qualified: str) -> str:
    """Give an item's id as its own session knows it."""
    number, slash, item = qualified.partition("/")
    return item if slash and number.isdigit() else qualified
