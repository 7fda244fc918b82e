"""A live call: it goes on while its client comes and goes.

Above: ``calls`` admits and ends it, a line attaches to it. Below: a :class:`~pipelines.call.Call` in a conversation.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, assert_never

from agents.core.errors import AnswerError, StoreError
from agents.core.progress import ProgressKind
from agents.display import DisplayManager
from pipelines.audio.frame import Frame
from pipelines.call import Call
from pipelines.cascade import Cascade
from pipelines.clock import Clock, Timer
from pipelines.events import CallEvent
from pipelines.glove import GloveResponder
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import VoiceActivity
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
    LevelHeard,
    PlayoutOrdered,
)
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.stream import EventStream, Told
from voice_server.clients.telling import Telling, screen
from voice_server.conversations import Conversation, Conversations
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.records.journal import Heading
from voice_server.settings import Settings
from voice_server.telemetry.metrics import Metrics
from voice_server.transports.websocket.caller import SocketCaller
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.output import Order, SocketOutput
from voice_server.transports.websocket.session import CloseCode
from voice_server.watch import watching
from voice_server.witnesses import Witnesses

__all__ = ["LiveCall", "Premises"]

_log = logging.getLogger(__name__)

LEVEL_EVERY_S = 0.1
"""Seconds between two levels: as often as a meter has to move to look alive."""


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


class LiveCall:
    """One call, from its admission to its end.

    Args:
        premises: what it is held in.
        start: what its first client asked for.
        since: when it began, for people.

    Attributes:
        id: the call's.
        conversation: what it goes on with.
    """

    def __init__(self, premises: Premises, start: Start, since: datetime) -> None:
        self.id = uuid.uuid4().hex
        self.conversation = start.conversation or uuid.uuid4().hex
        self.since = since
        self.stream = EventStream(self.id, premises.clock.now)
        self._premises = premises
        self._start = start
        self._mode = TurnTaking(start.mode or premises.settings.turn_taking)
        self._telling = Telling(self.stream.t_ms)
        self._caller = SocketCaller(self._begun)
        self._output = SocketOutput(
            rate=premises.house.synthesizer.rate, can_pause=start.pauses, order=self._order_playout
        )
        self._call: Call | None = None
        self._activity: VoiceActivity | None = None
        self._heard = asyncio.Event()
        """Set when the call hears, or never will."""
        self._ending: Ending | None = None
        self._line: Line | None = None
        self._grace: Timer | None = None
        self._screens = AsyncExitStack()
        self._joined: Conversation | None = None
        self._onlooker = Onlooker(self.tell)
        self._display: DisplayManager | None = None
        self._level_at = 0.0
        self._probability = 0.0

    # ------------------------------------------------------------------------------------------------------- its life

    async def run(self) -> None:
        """Hold the call until it is over, and tell its client so. Cancelling ends it."""
        try:
            async with self._premises.conversations.join(self.conversation) as joined, self._screens:
                self._joined = joined
                witnesses = await self._gather(joined)
                try:
                    self._call = self._make(joined, witnesses)
                    async with watching(joined.agent.progress, partial(self._take, witnesses)):
                        await self._call.run()
                finally:
                    await witnesses.aclose(self._ending or Ending.FAILED)
        except StoreError as error:
            self._fail("store", f"the conversation cannot be kept: {error}")
        except Exception as error:  # noqa: BLE001 - a task's boundary: a call that fails fails alone
            _log.exception("a call failed")
            self._fail("internal", f"the call failed ({type(error).__name__}); the server's log says where")
        finally:
            self._close()

    def end(self, ending: Ending) -> None:
        """End the call. Idempotent."""
        self._ending = self._ending or ending
        self._caller.hang_up()

    async def _gather(self, joined: Conversation) -> Witnesses:
        premises, settings = self._premises, self._premises.settings
        heading = Heading(
            conversation=self.conversation,
            pipeline=settings.pipeline,
            agent=settings.agent,
            stt=settings.stt,
            tts=settings.tts,
            model=premises.conversations.model,
            began_at=self.since,
        )
        return await Witnesses.gather(
            call=self.id,
            heading=heading,
            clock=premises.clock,
            metrics=premises.metrics,
            tools=[tool.name for tool in joined.agent.tools],
            records=settings.records,
        )

    def _make(self, joined: Conversation, witnesses: Witnesses) -> Call:
        premises = self._premises
        engines = premises.house.engines()
        self._activity = engines.activity

        def tell(event: CallEvent) -> None:
            self._told(event)
            witnesses.tell(event)

        return Call(
            clock=premises.clock,
            caller=witnesses.caller(self._caller),
            output=witnesses.output(self._output),
            pipeline=partial(
                Cascade,
                engines=engines,
                responder=GloveResponder(joined.agent, premises.clock),
                settings=premises.house.cascade_settings(
                    premises.settings, turn_taking=self._mode, start_muted=self._start.muted
                ),
                probe=witnesses.probe(self._probe),
            ),
            tell=tell,
        )

    def _begun(self) -> None:
        self._heard.set()
        if self._line is None and self._call is not None:
            self._call.suspend()
        for event in self._telling.begin():
            self.tell(event)

    def _fail(self, code: str, message: str) -> None:
        self._ending = Ending.FAILED
        self.tell(Failure(code=code, message=message))

    def _close(self) -> None:
        ending = self._ending = self._ending or Ending.HUNG_UP
        self._stop_waiting()
        self.tell(CallEnded(reason=ending.value))
        line, self._line = self._line, None
        if line is not None:
            if not self._heard.is_set():  # it waits to be greeted
                self._catch_up(line, 0)
            self.stream.drop(line)
            line.close(ending.close, ending.value)
        self.stream.close()
        self._call = None
        self._heard.set()

    @property
    def controls(self) -> Call | None:
        """What the call is steered by; ``None`` before it hears."""
        return self._call if self._heard.is_set() else None

    @property
    def state(self) -> AgentState:
        """What the agent is at."""
        return self._telling.state

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return (call := self.controls) is not None and call.muted

    # ----------------------------------------------------------------------------------------------------- its client

    @property
    def attached(self) -> bool:
        """Whether a client is connected."""
        return self._line is not None

    def attach(self, line: Line, start: Start) -> None:
        """Talk to a client from now on; it is greeted when it waits for :meth:`ready`.

        Raises:
            LineRefusedError: there is one already, or this one differs in what cannot change in mid-call.
        """
        if self._line is not None:
            raise LineRefusedError(CloseCode.TAKEN, "taken", "this conversation's call has a client already")
        if start.pauses != self._output.can_pause or start.mode not in (None, self._mode.value):
            raise LineRefusedError(
                CloseCode.NOT_UNDERSTOOD, "bad_message", "a call goes on with the `mode` and `pauses` it began with"
            )
        self._stop_waiting()
        self._line = line
        self._start = start

    async def ready(self) -> None:
        """Wait until the call hears, then greet the client and tell it what it missed."""
        resumed = self._heard.is_set()
        await self._heard.wait()
        line, call = self._line, self._call
        if line is None or call is None:
            return
        line.offer(self.stream.aside(self._greeting(call, resumed=resumed)))
        self._catch_up(line, self._start.after if resumed else 0)
        self.stream.add(line)
        self._show()
        self._output.connect(line)
        if resumed:
            if self._start.after is None:
                self._onlooker.tell_again()
            if self._start.muted not in (None, call.muted):
                call.mute() if self._start.muted else call.unmute()
            call.restore()

    def detach(self, line: Line) -> None:
        """The client is gone: wait for it a while, and be silent meanwhile. Idempotent."""
        if self._line is not line:
            return
        self._line = None
        self.stream.drop(line)
        self._output.connect(None)
        if self._ending is not None:
            return
        grace_s = self._premises.settings.grace_s
        if grace_s <= 0:
            self.end(Ending.DISCONNECTED)
            return
        if (call := self.controls) is not None:
            call.suspend()
            if self._mode is TurnTaking.MANUAL:
                call.mute()
        clock = self._premises.clock
        self._grace = clock.call_at(clock.now() + grace_s, self.end, Ending.DISCONNECTED)

    def _greeting(self, call: Call, *, resumed: bool) -> CallReady:
        settings = self._premises.settings
        return CallReady(
            conversation=self.conversation,
            resumed=resumed,
            pipeline=settings.pipeline,
            agent=settings.agent,
            model=self._premises.conversations.model,
            stt=settings.stt,
            tts=settings.tts,
            hears=self._start.rate,
            speaks=self._output.rate,
            mode=self._mode.value,
            muted=call.muted,
        )

    def _catch_up(self, line: Line, after: int | None) -> None:
        if after is None:
            return
        if self.stream.missed(after):
            lost = Failure(code="missed", message=f"some events after number {after} are kept no more")
            line.offer(self.stream.aside(lost))
        for told in self.stream.since(after):
            line.offer(told)

    def _show(self) -> None:
        """Show slots to a client that can; a screen stays for as long as the call, for its client may come back."""
        if self._start.screen and self._display is None and self._joined is not None:
            self._display = self._screens.enter_context(self._joined.screen())
            self._screens.callback(self._display.add_listener(lambda slots: self.tell(screen(slots))))
        if self._display is not None and self._display.slots:
            self.tell(screen(self._display.slots))

    def _stop_waiting(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    # ---------------------------------------------------------------------------------------------- what comes from it

    def hear(self, frame: Frame) -> None:
        """Take the caller's audio; before the call hears, it is lost."""
        if self._activity is not None:
            self._premises.rounds.hear(self._activity, frame, self._caller.take)

    def obey(self, command: Command) -> None:
        """Do what the client says."""
        match command:
            case Played():
                self._output.acknowledge(command)
            case HangUp():
                self.end(Ending.HUNG_UP)
            case ResolveSlot() | RejectSlot():
                self._answer(command)
            case Mute() | Unmute() | CommitTurn() | Say() | Interrupt():
                self._steer(command)
            case Start():
                pass  # a line says it once, to get here
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

    def _answer(self, command: ResolveSlot | RejectSlot) -> None:
        if self._display is None:
            self.tell(Failure(code="bad_message", message="there is no screen; `start` with `screen` to have one"))
            return
        try:
            if isinstance(command, ResolveSlot):
                self._display.resolve(command.slot, command.value)
            else:
                self._display.reject(command.slot, command.reason)
        except AnswerError as error:
            self.tell(Failure(code="bad_answer", message=str(error)))

    # ------------------------------------------------------------------------------------------------ what goes to it

    def tell(self, event: ClientEvent) -> None:
        """Tell whoever follows the call."""
        self.stream.tell(event)

    def aside(self, event: ClientEvent) -> Told:
        """Put an event into its envelope for one connection alone."""
        return self.stream.aside(event)

    def _take(self, witnesses: Witnesses, kind: ProgressKind, stands: Any) -> None:
        witnesses.take(kind, stands)
        self._onlooker.take(kind, stands)

    def _told(self, event: CallEvent) -> None:
        for told in self._telling.feed(event, self._premises.clock.now()):
            self.tell(told)

    def _order_playout(self, order: Order, epoch: int) -> None:
        self.tell(PlayoutOrdered(order=order, epoch=epoch))

    def _probe(self, at: float, probability: float) -> None:
        self._probability = max(self._probability, probability)
        now = self._premises.clock.now()
        if now - self._level_at >= LEVEL_EVERY_S:
            self._level_at = now
            probability, self._probability = self._probability, 0.0
            self.tell(LevelHeard(level=round(self._caller.level(), 4), probability=round(probability, 3)))
