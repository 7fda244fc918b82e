"""The performance: what the realtime machine decides, carried out, and everything that is said.

Above: ``agent`` asks for things and passes on what happens. Below: ``machine`` decides, ``voices`` speaks, the
chronicle takes what is to be kept. What is decided while something is carried out waits its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from typing import Literal, Protocol, assert_never

from pipelines.clock import Clock
from pipelines.events import Tell, TokensSpent, UtteranceCancelled
from pipelines.realtime.actions import (
    Apologise,
    Begin,
    Cut,
    Finish,
    GiveWay,
    MachineAction,
    Rest,
    Sound,
    Spent,
    Unspoken,
    Withdraw,
    Write,
)
from pipelines.realtime.actions import Tell as Told
from pipelines.realtime.chronicle import Chronicle
from pipelines.realtime.connection import Connection
from pipelines.realtime.events import ProviderEvent
from pipelines.realtime.machine import RealtimeMachine
from pipelines.realtime.outbox import Inject, Interrupt
from pipelines.realtime.voices import Voices
from pipelines.realtime.wording import SAY
from pipelines.responder import SpokenKind
from pipelines.turns.events import Cause

__all__ = ["Performance", "Works"]


class Works(Protocol):
    """What the agent does for the model."""

    def give_way(self) -> None:
        """Let a tool that runs go on behind the conversation."""
        ...

    def withdraw(self, call_ids: tuple[str, ...]) -> None:
        """The model wants no results of these calls."""
        ...


class Performance:
    """Performs one call.

    Args:
        clock: the call's.
        machine: decides; everything it is told goes through here.
        voices: speak.
        chronicle: takes what is to be kept.
        connection: to the provider.
        failed: said when an answer failed.
        changed: called when something was carried out: something may be due at another time, or be kept.
        tell: takes what the outside is told.

    Attributes:
        works: what the agent does; set before the call begins.
    """

    works: Works

    def __init__(
        self,
        *,
        clock: Clock,
        machine: RealtimeMachine,
        voices: Voices,
        chronicle: Chronicle,
        connection: Connection,
        failed: str,
        changed: Callable[[], None],
        tell: Tell,
    ) -> None:
        self._clock = clock
        self._machine = machine
        self._voices = voices
        self._chronicle = chronicle
        self._connection = connection
        self._failed = failed
        self._changed = changed
        self._tell = tell
        self._due: deque[MachineAction] = deque()
        self._doing = False

    def told(self, event: ProviderEvent) -> None:
        """The provider says something."""
        self._do(self._machine.feed(event, self._clock.now()))

    def typed(self, text: str) -> None:
        """The caller typed something: what is being said is void, and this is a turn."""
        self.void(Cause.TYPED)
        self._do(self._machine.typed(text, self._clock.now()))

    def asked(self, kind: SpokenKind | Literal["reply", "tool_result"]) -> None:
        """The model was asked to say something that answers no turn."""
        self._do(self._machine.asked(kind, self._clock.now()))

    def results_told(self, respond: bool) -> None:
        """The model was told the results of its calls, and goes on because of them or not."""
        self._do(self._machine.results_told(self._clock.now(), respond=respond))

    def over(self, utterance: int) -> None:
        """Something was said, and what was heard of it is settled."""
        self._do(self._machine.over(utterance))

    def disconnected(self) -> None:
        """The connection is over."""
        self._do(self._machine.disconnected())

    def tick(self, now: float) -> None:
        """Do what is due."""
        self._do(self._machine.tick(now))

    def close(self) -> None:
        """The call ends: nothing more is made, and what was heard is settled."""
        self._do(self._machine.closed())
        self._voices.stop()

    def void(self, cause: Cause) -> None:
        """Nothing more of what the model says is wanted."""
        connected = self._connection.number > 0
        self._do(self._machine.void(cause, asked=connected))
        if connected:
            self._connection.post(Interrupt())

    def silence(self, cause: Cause) -> None:
        """Cut whatever is being said, by whichever voice."""
        for number in self._voices.own:
            self._cut(number, cause)
        self.void(cause)

    def say(self, text: str, kind: SpokenKind) -> None:
        """Say something without the model's thinking: by our own voice, or else by the model's."""
        if not self.say_ourselves(text, kind):
            self.asked(kind)
            self._connection.post(Inject(text=SAY.format(text=text), role="system", respond=True))

    def say_ourselves(self, text: str, kind: SpokenKind) -> bool:
        """Say something by our own voice.

        Returns:
            Whether it can; if not, nobody hears it.
        """
        if not self._voices.can_say(text):
            return False
        self._voices.say(self._machine.number(kind), kind, text)
        return True

    def _do(self, actions: list[MachineAction]) -> None:
        self._due.extend(actions)
        if self._doing:
            return
        self._doing = True
        try:
            while self._due:
                self._act(self._due.popleft())
        finally:
            self._doing = False
        self._changed()

    def _act(self, action: MachineAction) -> None:
        match action:
            case Sound():
                self._voices.sound(action.utterance, action.item, action.samples)
            case Write():
                self._voices.write(action.utterance, action.item, action.text, self._connection.number)
            case Begin():
                self._voices.begin(action.utterance, action.kind, action.turn, self._connection.number)
            case Rest():
                self._voices.rest(action.utterance)
            case Finish():
                self._voices.finish(action.utterance, whole=action.whole)
            case Cut():
                self._cut(action.utterance, action.cause)
            case Unspoken():
                self._voices.forget(action.utterance)
                for reply in action.replies:
                    self._chronicle.heard(reply, "", interrupted=True)
            case GiveWay():
                self.works.give_way()
            case Withdraw():
                self.works.withdraw(action.call_ids)
            case Apologise():
                self.say_ourselves(self._failed, "apology")
            case Spent():
                self._tell(TokensSpent(turn=action.turn, **asdict(action.used)))
                self._chronicle.spent(action.used)
            case Told():
                self._tell(action.event)
            case _:
                assert_never(action)

    def _cut(self, number: int, cause: Cause) -> None:
        self._tell(UtteranceCancelled(utterance=number, cause=cause))
        self._voices.cut(number)
