"""A responder whose small failures are told and do no more harm.

Above: ``cascade`` and ``replies`` see the agent through it. Below: any ``Responder``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pipelines.events import Tell, trouble
from pipelines.responder import OPEN_QUESTION, Draft, Expectation, Reply, Responder, ResponderError, SpokenKind

__all__ = ["CarefulResponder"]

Answer = TypeVar("Answer")


class CarefulResponder:
    """Asks an agent, and makes do without an answer: an agent that cannot say what it expects can still speak.

    What makes a reply may raise as ever, for whoever asked for it has to own up to the caller. Each question's failure
    is told once, until the question was answered again: some are asked with every frame.

    Args:
        responder: the agent.
        tell: takes what the outside is told.
    """

    def __init__(self, responder: Responder, tell: Tell) -> None:
        self._responder = responder
        self._tell = tell
        self._failing: set[str] = set()

    def expects(self) -> Expectation:
        """What the latest reply asked for; nothing in particular, if the agent does not know."""
        return self._ask("expects", self._responder.expects, OPEN_QUESTION)

    def blocked(self) -> bool:
        """Whether a display slot waits for an answer; none, if the agent does not know."""
        return self._ask("blocked", self._responder.blocked, False)

    def overheard(self, text: str) -> None:
        """Tell the next model call of words that were no turn."""
        self._ask("overheard", lambda: self._responder.overheard(text), None)

    def draft(self, text: str) -> Draft:
        """Prepare an answer."""
        return self._responder.draft(text)

    def watch(self, on_result: Callable[[], None], on_said: Callable[[str], None]) -> None:
        """Be called when something happens behind the conversation."""
        self._responder.watch(on_result, on_said)

    def report(self) -> Reply:
        """Begin to tell such results."""
        return self._responder.report()

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Record what the agent said without a model call."""
        await self._responder.record(text, kind=kind, interrupted=interrupted)

    async def aclose(self) -> None:
        """End what goes on behind the conversation."""
        await self._responder.aclose()

    def _ask(self, name: str, question: Callable[[], Answer], otherwise: Answer) -> Answer:
        try:
            answer = question()
        except Exception as error:  # noqa: BLE001 - an agent's boundary: whatever it raises, the call goes on
            if name not in self._failing:
                self._failing.add(name)
                self._tell(trouble("model", error, known=ResponderError))
            return otherwise
        self._failing.discard(name)
        return answer
