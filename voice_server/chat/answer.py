"""An answer: what an agent does about one message, up to what the slow tools came to that it began.

Above: a ``Chat`` runs it in a task of its own. Below: requests of the agent, and a ``ChatTelling``.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError, GloveError, ModelError, StoreError
from agents.core.events import EventType
from agents.core.glove import Glove
from agents.core.opening import Said
from agents.core.request import Request
from voice_server.chat.telling import ChatTelling
from voice_server.clients.events import CallEnded, ClientEvent, Failure

__all__ = ["Answer", "Outcome"]

_log = logging.getLogger(__name__)

PLACES = 4
"""Places in the code that are logged of an error: the innermost, and who called it."""

_ANSWERING: ContextVar[Answer | None] = ContextVar("_ANSWERING", default=None)
"""Whose work is done: the tasks of tools that outlive their rounds inherit it, so that every event finds its answer
although several talk to one agent."""


class Outcome(StrEnum):
    """How an answer ended."""

    ANSWERED = "answered"
    ABORTED = "aborted"
    FAILED = "failed"


class Answer:
    """One message being answered.

    Args:
        agent: who answers.
        turn: the message's number in its chat.
        number: numbers whatever the agent says.
        tell: takes what clients are told.
        settle: waits until they were told all that changed besides, which belongs before the end.

    Attributes:
        turn: the message's number.
        replied: whether the message itself is answered; slow tools may go on.
    """

    def __init__(
        self,
        agent: Glove,
        turn: int,
        *,
        number: Callable[[], int],
        tell: Callable[[ClientEvent], object],
        settle: Callable[[], Awaitable[object]],
    ) -> None:
        self.turn = turn
        self.replied = False
        self._agent = agent
        self._tell = tell
        self._settle = settle
        self._telling = ChatTelling(turn, number)
        self._signal = AbortSignal()
        self._request: Request | None = None
        self._kind = "reply"
        self._told = 0
        """Replies of the request that clients know."""

    @property
    def open_calls(self) -> frozenset[str]:
        """Ids of the tool calls that have not ended."""
        return self._telling.open_calls

    @staticmethod
    def current() -> Answer | None:
        """The answer whose work is done just now, in this task or by the tool it began."""
        return _ANSWERING.get()

    async def run(self, said: Said) -> None:
        """Answer, and tell everything up to the end. Raises nothing; cancelling it ends the answer untold."""
        _ANSWERING.set(self)
        if self._agent.errands.on_result is None:
            self._agent.errands.on_result = _told_by_answers
        outcome = Outcome.FAILED
        try:
            try:
                outcome = await self._attend(self._agent.begin(said, signal=self._signal), "reply")
            finally:
                self.replied = True
            await self._tell_late_results()
        except Exception as error:  # noqa: BLE001 - a task's boundary: an answer that fails fails alone
            self._fail(error)
        await self._settle()
        self._tell(CallEnded(reason=outcome.value, turn=self.turn))

    def abort(self) -> None:
        """Stop the model and the tools that may be stopped; nobody is told of their ends. Idempotent."""
        for call in self._agent.errands.running:
            if call.call.id in self._telling.calls and not call.protected:
                call.dismissed = True
        self._signal.abort("the user stopped it")

    def hear(self, type: EventType, data: dict[str, Any]) -> None:
        """Take an event of the agent's."""
        if type != "text_delta":
            self._tell_replies()
        for event in self._telling.feed(type, data):
            self._tell(event)

    async def _attend(self, request: Request, kind: str) -> Outcome:
        """Run a request; whatever was written of a reply that was cut becomes history as it was read."""
        self._request, self._kind, self._told = request, kind, 0
        outcome = Outcome.FAILED
        try:
            await request.run()
            outcome = Outcome.ANSWERED
        except AbortError:
            outcome = Outcome.ABORTED
        except Exception as error:  # noqa: BLE001 - a model or a store may raise anything
            self._fail(error)
        self._tell_replies()
        for event in self._telling.unfinished(self._agent.errands.open_ids):
            self._tell(event)
        if cut := request.partial:
            for event in self._telling.cut(cut, kind):
                self._tell(event)
            await request.settle("".join(reply.text for reply in request.replies) + cut, interrupted=True)
        return outcome

    async def _tell_late_results(self) -> None:
        """Wait for the slow tools, and tell what they came to, unless a call in this conversation tells it."""
        errands, outcome = self._agent.errands, Outcome.ANSWERED
        while outcome is Outcome.ANSWERED:
            await errands.drain(self._telling.calls)
            if not errands.open_ids & self._telling.calls or errands.on_result is not _told_by_answers:
                return
            self._signal = AbortSignal()
            outcome = await self._attend(self._agent.begin_report(signal=self._signal), "tool_result")

    def _tell_replies(self) -> None:
        if self._request is not None:
            replies = self._request.replies[self._told :]
            self._told += len(replies)
            for event in self._telling.replies(replies, self._kind):
                self._tell(event)

    def _fail(self, error: Exception) -> None:
        code, message = _reason(error)
        if code == "internal":
            # Without the error's own words, which may quote the user.
            _log.error("an answer failed: %s, at %s", type(error).__name__, " < ".join(_places(error)))
        self._tell(Failure(code=code, message=message, turn=self.turn))


def _places(error: Exception) -> list[str]:
    """Where it was raised, the innermost places first."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-PLACES:])]


def _told_by_answers() -> None:
    """Keep the agent from telling late results by itself: the answers wait for theirs."""


def _reason(error: Exception) -> tuple[str, str]:
    """A stable code and a sentence; what other errors say may quote the user."""
    match error:
        case ModelError():
            return "model", str(error)
        case StoreError():
            return "store", str(error)
        case GloveError():
            return "agent", str(error)
        case _:
            return "internal", f"the agent could not answer ({type(error).__name__}); the server's log says where"
