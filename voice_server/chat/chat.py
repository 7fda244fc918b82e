"""A chat: what is written in one conversation, and who follows.

Above: ``Chats`` opens and ends it; routes write to it. Below: the conversation's agent, an ``Answer`` for every
message, and one event stream for all who follow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from typing import Any

from agents.core.events import EventType
from agents.core.opening import Said
from agents.display import DisplayManager, Slot, SlotState
from pipelines.clock import Clock, Timer
from voice_server.chat.answer import Answer
from voice_server.clients.events import CallEnded, CallerTurn, ChatReady
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.stream import EventStream, Follower, Told
from voice_server.clients.telling import screen
from voice_server.conversations import Conversation
from voice_server.watch import Watch

__all__ = ["FOLLOWING", "FORSAKEN_S", "KEPT", "OPEN", "WAITING", "Chat", "CrowdedError", "SlotAnsweredError"]

WAITING = 8
"""Messages that may be unanswered, the one that is being answered included: more than a person writes ahead."""

OPEN = 32
"""Messages that may be unanswered or wait for slow tools."""

FOLLOWING = 32
"""Connections that may follow a chat: a person's open pages, with room to spare."""

FORSAKEN_S = 600.0
"""Seconds after which nobody who left is waited for: the screen goes away, and a chat in which nothing is going on."""

KEPT = 4_000
"""Events kept for clients that come back, a piece of text each: some ten long answers, at most two megabytes."""


class CrowdedError(Exception):
    """The chat takes no more of something; the message says of what."""


class SlotAnsweredError(Exception):
    """Somebody else was quicker."""


class Chat:
    """One conversation's chat, from the first message to its being forsaken.

    Args:
        conversation: joined for as long as the chat lives.
        stream: takes what is told.
        introduction: what every connection is told first.
        clock: tells when nobody comes back.
        group: in which messages are answered.
        idle: called when nobody follows any more and nothing is going on.
        over: called when it has been so for too long; once or more.
    """

    def __init__(
        self,
        conversation: Conversation,
        stream: EventStream,
        introduction: ChatReady,
        *,
        clock: Clock,
        group: asyncio.TaskGroup,
        idle: Callable[[], object],
        over: Callable[[Chat], object],
    ) -> None:
        self.id = conversation.id
        self.stream = stream
        self._conversation = conversation
        self._introduction = introduction
        self._clock = clock
        self._group = group
        self._on_idle = idle
        self._over = over
        self._answers: list[Answer] = []
        self._quiet = asyncio.Event()
        """Set while no answer is made."""
        self._quiet.set()
        self._turns = count()
        self._utterances = count()
        self._timer: Timer | None = None
        self._forsaken = False
        self._leaving = False
        """Whether the server is going away."""
        self._display: DisplayManager | None = None
        self._screen = ExitStack()
        self._stop_watching = conversation.agent.add_subscriber(self)
        self._watch = Watch(conversation.agent.progress, Onlooker(stream.tell).take)
        group.create_task(self._watch.run(), name=f"watch {self.id}")
        self.left_at = clock.now()
        """When the last one who followed left, in the clock's seconds."""
        self._look_after()

    @property
    def idle(self) -> bool:
        """Whether nobody follows and nothing is going on."""
        return not (self._answers or self.stream.readers)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is shown now."""
        display = self._conversation.agent.display
        return () if display is None else display.slots

    @property
    def open_calls(self) -> frozenset[str]:
        """Ids of the tool calls that answers here wait for."""
        return frozenset[str]().union(*(answer.open_calls for answer in self._answers))

    # -------------------------------------------------------------------------------------------------- what is written

    def say(self, said: Said, text: str) -> tuple[int, Follower]:
        """Have a message answered, behind those before it.

        Args:
            said: the message.
            text: its words, for whoever else follows.

        Returns:
            The message's turn, and who follows from its beginning to its end.

        Raises:
            CrowdedError: too many messages wait.
        """
        waiting = sum(not answer.replied for answer in self._answers)
        if waiting >= WAITING or len(self._answers) >= OPEN:
            raise CrowdedError(f"{waiting} messages wait to be answered, as many as may; read the answers first")
        follower = self.follow(None)
        agent = self._conversation.agent
        answer = Answer(
            agent,
            next(self._turns),
            number=lambda: next(self._utterances),
            tell=self.stream.tell,
            settle=self._watch.settle,
        )
        self.stream.tell(CallerTurn(turn=answer.turn, text=text))
        self._group.create_task(self._attend(answer, said, follower), name=f"answer {self.id}/{answer.turn}")
        self._answers.append(answer)
        self._quiet.clear()
        return answer.turn, follower

    def abort(self) -> int:
        """Stop all answers, and the slow tools that may be stopped.

        Returns:
            How many were stopped.
        """
        for answer in self._answers:
            answer.abort()
        return len(self._answers)

    async def settle(self) -> None:
        """Wait until nothing is going on."""
        await self._quiet.wait()

    async def record(self, type: EventType, data: dict[str, Any]) -> None:
        """Take an event of the agent's; what it does for others, a call say, is told to them."""
        if (answer := Answer.current()) is not None and answer in self._answers:
            answer.hear(type, data)

    async def _attend(self, answer: Answer, said: Said, follower: Follower) -> None:
        try:
            await answer.run(said)
        finally:
            self._answers.remove(answer)
            self.leave(follower)
            if not self._answers:
                self._quiet.set()

    # ------------------------------------------------------------------------------------------------------ who follows

    def follow(self, after: int | None) -> Follower:
        """Begin to follow; :meth:`leave` in the end.

        Args:
            after: the number of the last event seen; ``None``: only what comes from now on.

        Raises:
            CrowdedError: too many follow already.
        """
        if self.stream.readers >= FOLLOWING:
            raise CrowdedError(f"{FOLLOWING} connections follow this chat, as many as may; close one first")
        self._forsaken = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self.stream.follow(after)

    def leave(self, follower: Follower) -> None:
        """Follow no longer. Idempotent."""
        follower.close()
        self.left_at = self._clock.now()
        self._look_after()

    def introduce(self, turn: int | None) -> Told:
        """What a connection is told first.

        Args:
            turn: the message it answers, if it answers one.
        """
        return self.stream.aside(self._introduction.model_copy(update={"turn": turn}))

    def retire(self) -> None:
        """Tell everybody that the server is going away, when nothing is going on any more. Idempotent."""
        self._leaving = True
        self._look_after()

    def close(self) -> None:
        """Let everybody go, and leave the screen. Idempotent."""
        self._stop_watching()
        self._watch.close()
        self.stream.close()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._leave_screen()

    def _look_after(self) -> None:
        if self._leaving and not self._answers:
            if self.stream.readers:
                self.stream.tell(CallEnded(reason="draining"))
            self.stream.close()
        if self.idle and (self._forsaken or self._leaving):
            self._over(self)
            return
        if not self.stream.readers and self._timer is None and not self._forsaken:
            self._timer = self._clock.call_at(self._clock.now() + FORSAKEN_S, self._forsake)
        if self.idle:
            self._on_idle()

    def _forsake(self) -> None:
        """Nobody came back: what waits for an answer on the screen waits in vain."""
        self._timer = None
        self._forsaken = True
        self._leave_screen()
        self._look_after()

    # ------------------------------------------------------------------------------------------------------- the screen

    def have_screen(self) -> None:
        """See slots from now on, for as long as somebody follows, and a while longer. Idempotent."""
        if self._display is None:
            self._display = self._screen.enter_context(self._conversation.screen())
            self._screen.callback(self._display.add_listener(self._show))
            if self._display.slots:
                self._show(self._display.slots)

    def resolve(self, slot: str, value: Any) -> None:
        """Answer a slot, or take away one that asks nothing.

        Raises:
            KeyError: nothing of that name is shown.
            SlotAnsweredError: it was answered before.
            AnswerError: the value does not fit.
        """
        display, shown = self._find(slot)
        if shown.state is SlotState.ANSWERED:
            raise SlotAnsweredError(f"slot {slot!r} was answered already; reject it to take it away")
        display.resolve(slot, value)

    def reject(self, slot: str, reason: str) -> None:
        """Refuse to answer a slot, or take it away.

        Raises:
            KeyError: nothing of that name is shown.
        """
        display, _ = self._find(slot)
        display.reject(slot, reason)

    def _find(self, slot: str) -> tuple[DisplayManager, Slot]:
        display = self._conversation.agent.display
        shown = () if display is None else display.slots
        if display is None or (found := next((there for there in shown if there.id == slot), None)) is None:
            raise KeyError(slot)
        return display, found

    def _show(self, slots: tuple[Slot, ...]) -> None:
        self.stream.tell(screen(slots))

    def _leave_screen(self) -> None:
        if self._display is not None:
            shown, self._display = self._display.slots, None
            self._screen.close()
            if shown:
                self._show(())
