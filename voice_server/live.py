"""A live call: it goes on while its caller comes and goes.

Above: ``calls`` admits and ends it. Below: a :class:`~pipelines.call.Call` in a conversation, and the leg over which
its caller comes.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, assert_never

from agents.core.errors import StoreError
from agents.core.glove import Glove
from agents.core.progress import ProgressKind
from pipelines.audio.frame import Frame
from pipelines.call import Call
from pipelines.clock import Clock, Timer
from pipelines.events import CallEvent
from pipelines.realtime.base import RealtimeError
from pipelines.turns.settings import TurnTaking
from pipelines.vad.rounds import Rounds
from voice_server.clients.commands import (
    Command,
    CommitTurn,
    HangUp,
    Interrupt,
    Mute,
    Played,
    RejectSlot,
    ResolveSlot,
    Say,
    Start,
    Unmute,
)
from voice_server.clients.events import (
    AgentState,
    CallEnded,
    CallReady,
    ClientEvent,
    Failure,
)
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.stream import EventStream, Told
from voice_server.clients.telling import Telling
from voice_server.conversations import Conversation, Conversations
from voice_server.ending import Ending
from voice_server.errors import UsageError
from voice_server.handset import Handset
from voice_server.house import House
from voice_server.introduction import introduction
from voice_server.leg import Leg, LegError
from voice_server.loading import Wanted
from voice_server.microphone import Meter, Microphone
from voice_server.screen import Screen
from voice_server.settings import Settings
from voice_server.speech import Manner, Speech
from voice_server.telemetry.metrics import Metrics
from voice_server.watch import watching
from voice_server.witnesses import Witnesses

__all__ = ["LiveCall", "Premises", "Terms"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What every call is held in."""

    settings: Settings
    house: House
    conversations: Conversations
    clock: Clock
    metrics: Metrics
    rounds: Rounds
    """In which frames of all calls are heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(Manner):
    """What a call is asked for with."""

    conversation: str | None = None
    """What it goes on with; ``None``: a new one."""
    wanted: Wanted = field(default_factory=Wanted)
    """Who is to answer."""


class LiveCall:
    """One call, from its admission to its end.

    Args:
        premises: what it is held in.
        terms: what was asked for.
        since: when it began, for people.
        leg: makes the way to its caller, given the call.

    Attributes:
        id: the call's.
        conversation: what it goes on with.
        mode: who says where a turn of the caller ends.
        stream: what its clients are told.
        hearing: set when it hears, or never will.
        ending: why it is over, or about to be.
        over: set when it is.
        failure: what went wrong, when it failed.
        screen: what its agent shows; ``None`` before there is an agent.
        leg: the way to its caller.
    """

    def __init__(self, premises: Premises, terms: Terms, since: datetime, leg: Callable[[LiveCall], Leg]) -> None:
        self.id = uuid.uuid4().hex
        self.conversation = terms.conversation or uuid.uuid4().hex
        self.mode = terms.mode or premises.settings.turn_taking
        self.since = since
        self.stream = EventStream(self.id, premises.clock.now)
        self.hearing = asyncio.Event()
        self.ending: Ending | None = None
        self.failure: Failure | None = None
        self.over = asyncio.Event()
        self.premises = premises
        self._speech = Speech(premises.house, premises.settings, terms)
        self._wanted = terms.wanted
        heading = self._speech.heading(self.conversation, premises.conversations.model, since)
        self._heading = replace(heading, agent=terms.wanted.agent or heading.agent)
        self._telling = Telling(self.stream.t_ms)
        self._meter = Meter(premises.clock.now, self.tell)
        self._microphone = Microphone(self._begun, self._meter)
        self._call: Call | None = None
        self._grace: Timer | None = None
        self._onlooker = Onlooker(self.tell)
        self.screen: Screen | None = None
        self.leg = leg(self)
        self._handset = Handset(self, self.leg, premises.clock)

    # ------------------------------------------------------------------------------------------------------- its life

    async def run(self) -> None:
        """Hold the call until it is over, and tell its caller so. Cancelling ends it."""
        async with asyncio.TaskGroup() as group:
            walking = group.create_task(self._walk(), name=f"leg of {self.id}")
            try:
                await self._hold()
            finally:
                await self._close()
                walking.cancel()

    async def _hold(self) -> None:
        try:
            async with self.premises.conversations.join(self.conversation, self._wanted) as joined:
                witnesses = await self._gather(joined)
                try:
                    with Screen(joined, self.tell) as self.screen, self._lines(joined.agent):
                        await self._talk(joined, witnesses)
                finally:
                    await witnesses.aclose(self.ending or Ending.FAILED)
        except StoreError as error:
            self._fail("store", f"the conversation cannot be kept: {error}")
        except UsageError as error:
            _log.warning("a call's agent cannot be had: %s", error)
            self._fail("agent", str(error))
        except RealtimeError as error:
            _log.warning("a call's speech-to-speech model cannot be had: %s", error)
            self._fail("provider", str(error))
        except Exception as error:  # noqa: BLE001 - a task's boundary: a call that fails fails alone
            self._fail_unknown(error)

    @contextmanager
    def _lines(self, agent: Glove) -> Iterator[None]:
        """Let the agent's tools have the call, and the agent know who called."""
        forget = agent.add_context_provider(lambda _: introduction(self.leg.caller))
        before, agent.line = agent.line, self._handset
        try:
            yield
        finally:
            self._handset.close()
            agent.line = before
            forget()

    async def _talk(self, joined: Conversation, witnesses: Witnesses) -> None:
        self._call = self._make(joined, witnesses)
        async with watching(joined.agent.progress, partial(self._take, witnesses)):
            await self._call.run()

    async def _walk(self) -> None:
        try:
            await self.leg.run()
        except LegError as error:
            self._fail(error.code, error.message)
            self._microphone.hang_up()
        except Exception as error:  # noqa: BLE001 - a task's boundary: a call that fails fails alone
            self._fail_unknown(error)
            self._microphone.hang_up()

    def end(self, ending: Ending) -> None:
        """End the call. Idempotent."""
        self.ending = self.ending or ending
        self._microphone.hang_up()

    async def _gather(self, joined: Conversation) -> Witnesses:
        premises = self.premises
        return await Witnesses.gather(
            call=self.id,
            heading=self._heading,
            clock=premises.clock,
            metrics=premises.metrics,
            tools=[tool.name for tool in joined.agent.tools],
            records=premises.settings.records,
        )

    def _make(self, joined: Conversation, witnesses: Witnesses) -> Call:
        clock = self.premises.clock

        def tell(event: CallEvent) -> None:
            self._told(event)
            self._handset.tell(event)
            witnesses.tell(event)

        return Call(
            clock=clock,
            caller=witnesses.caller(self._microphone),
            output=witnesses.output(self.leg.output),
            pipeline=self._speech.begin(joined.agent, clock, witnesses.probe(self._meter.judge)),
            tell=tell,
        )

    def _begun(self) -> None:
        self.hearing.set()
        if not self.leg.attached and self._call is not None:
            self._call.suspend()
        for event in self._telling.begin():
            self.tell(event)
        self.leg.begin()

    def _fail_unknown(self, error: Exception) -> None:
        _log.error("a call failed", exc_info=error)
        self._fail("internal", f"the call failed ({type(error).__name__}); the server's log says where")

    def _fail(self, code: str, message: str) -> None:
        self.ending = Ending.FAILED
        self.failure = Failure(code=code, message=message)
        self.tell(self.failure)

    async def _close(self) -> None:
        ending = self.ending = self.ending or Ending.HUNG_UP
        self.stop_waiting()
        self.tell(CallEnded(reason=ending.value))
        await self.leg.aclose(ending)
        self.stream.close()
        self._call = None
        self.hearing.set()
        self.over.set()

    @property
    def controls(self) -> Call | None:
        """What the call is steered by; ``None`` before it hears."""
        return self._call if self.hearing.is_set() else None

    @property
    def state(self) -> AgentState:
        """What the agent is at."""
        return self._telling.state

    @property
    def attached(self) -> bool:
        """Whether the caller is there, and not only awaited."""
        return self.leg.attached

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, and nothing waits to be said or heard."""
        return self._microphone.idle

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return (call := self.controls) is not None and call.muted

    # ----------------------------------------------------------------------------------------------------- its caller

    def greeting(self, *, resumed: bool) -> CallReady:
        """Make the first event on every connection.

        Args:
            resumed: whether the call was there already.
        """
        heading = self._heading
        return CallReady(
            conversation=self.conversation,
            resumed=resumed,
            pipeline=heading.pipeline,
            agent=heading.agent,
            model=heading.model,
            stt=heading.stt,
            tts=heading.tts,
            hears=self.leg.hears,
            speaks=self.leg.output.rate,
            mode=self.mode.value,
            muted=self.muted,
        )

    def missed(self, after: int) -> list[Told]:
        """Give what was told behind a number, and say so if some of it is lost."""
        told = self.stream.since(after)
        if self.stream.missed(after):
            lost = Failure(code="missed", message=f"some events after number {after} are kept no more")
            told.insert(0, self.stream.aside(lost))
        return told

    def tell_again(self) -> None:
        """Tell how goals and forms stand: somebody came who has not been told."""
        self._onlooker.tell_again()

    def wait_for_caller(self, seconds: float, ending: Ending = Ending.DISCONNECTED) -> None:
        """Nobody is there: be silent, and end the call when nobody comes. A button that was pressed is let go.

        Args:
            seconds: how long.
            ending: how it ends then.
        """
        self.stop_waiting()
        if self.ending is not None:
            return
        if seconds <= 0:
            self.end(ending)
            return
        if (call := self.controls) is not None:
            call.suspend()
            if self.mode is TurnTaking.MANUAL:
                call.mute()
        clock = self.premises.clock
        self._grace = clock.call_at(clock.now() + seconds, self.end, ending)

    def stop_waiting(self) -> None:
        """Somebody is there; :meth:`~pipelines.call.Call.restore` lets the agent go on. Idempotent."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def hear(self, frame: Frame) -> None:
        """Take the caller's audio; before the call hears, it is lost."""
        if self._call is not None:
            self.premises.rounds.hear(self._speech.activity, frame, self._microphone.take)

    def obey(self, command: Command) -> None:
        """Do what the caller says. What is for the leg alone is none of the call's business."""
        match command:
            case HangUp():
                self.end(Ending.HUNG_UP)
            case ResolveSlot() | RejectSlot():
                if self.screen is not None:
                    self.screen.answer(command)
            case Mute() | Unmute() | CommitTurn() | Say() | Interrupt():
                self._steer(command)
            case Start() | Played():
                pass
            case _:
                assert_never(command)

    def _steer(self, command: Mute | Unmute | CommitTurn | Say | Interrupt) -> None:
        if (call := self.controls) is None:
            return
        match command:
            case Mute():
                call.mute()
            case Unmute():
                call.unmute()
            case CommitTurn():
                call.commit_turn()
            case Say():
                call.type_in(command.text)
            case Interrupt():
                call.interrupt()
            case _:
                assert_never(command)

    # ------------------------------------------------------------------------------------------------ what goes to it

    def tell(self, event: ClientEvent) -> None:
        """Tell whoever follows the call."""
        self.stream.tell(event)
        self.leg.notice(event)

    def aside(self, event: ClientEvent) -> Told:
        """Put an event into its envelope for one connection alone."""
        return self.stream.aside(event)

    def _take(self, witnesses: Witnesses, kind: ProgressKind, stands: Any) -> None:
        witnesses.take(kind, stands)
        self._onlooker.take(kind, stands)

    def _told(self, event: CallEvent) -> None:
        for told in self._telling.feed(event, self.premises.clock.now()):
            self.tell(told)
