"""Agents that callers of these tests talk to; each is named on the command line as ``tests.e2e.agents:NAME``.

The model they are made with is left alone: each says what its test needs, whoever answers the phone that day.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Callable
from datetime import date, datetime
from pathlib import Path

from pydantic import BaseModel

from agents.concierge import create as concierge
from agents.concierge.bookings import BookingDesk
from agents.concierge.trip import FORM_ID
from agents.core.abort import AbortSignal
from agents.core.glove import Glove
from agents.core.messages import ToolCall
from agents.core.model import Model, ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.tools import Tool, ToolContext
from agents.desk import create as desk
from agents.desk.messages import MessagePad
from agents.forms.adapter import MemoryForms
from agents.forms.definition import Form
from agents.forms.field import ask
from agents.forms.mount import use_form_runner
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from agents.stores.keeping import Keeping

__all__ = ["CHOICE", "DIGITS", "STORY", "YES_NO", "chooser", "counter", "echo", "quizmaster", "storyteller"]

STORY = (
    "The old lighthouse stands on a small island close to the shore. Every evening the keeper walks up the narrow "
    "stairs and lights the big lamp. Then the ships can find their way home in the dark. In the morning he comes "
    "down again and makes breakfast for his dog. They have lived there together for seven happy years."
)

YES_NO = "Shall I go on?"
CHOICE = "Would Tuesday or Friday suit you?"
DIGITS = "What is your number?"


class _Words:
    """A model that answers with a function of the caller's latest words."""

    name = "words"

    def __init__(self, answer: Callable[[str, int], str | ToolCall]) -> None:
        self._answer = answer

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer with words, or with a call whose result is then said."""
        last = request.messages[-1]
        answer: str | ToolCall
        if last.tool_results:
            answer = str(last.tool_results[-1].result.data)
        else:
            turns = [message for message in request.messages if message.sender == "user" and not message.tool_results]
            said = [message.text for message in turns if message.framework_context is None]
            answer = self._answer(said[-1], len(said))
        if isinstance(answer, str):
            # Word by word, as language models write.
            for word in answer.split(" "):
                yield TextChunk(text=f"{word} ")
            yield ModelFinished()
        else:
            yield ToolCalled(call=answer)
            yield ModelFinished(stop_reason="tool_calls")


class _Question(BaseModel):
    """No input."""


def _asker(question: str, expect: Callable[[ToolContext], None]) -> Glove:
    """Make an agent that asks a question after the caller's first words, and then says what it understood."""

    def ask(_: _Question, ctx: ToolContext) -> str:
        expect(ctx)
        return question

    def answer(said: str, turn: int) -> str | ToolCall:
        return ToolCall(id="ask-1", tool_name="ask", input_args={}) if turn == 1 else f"You said {said}"

    return Glove(model=_Words(answer)).fold(Tool(name="ask", description="Asks.", input=_Question, do=ask))


def storyteller(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Tell a story of twenty seconds; whatever is said after that is said back."""
    return Glove(model=_Words(lambda said, turn: STORY if turn == 1 else f"You said {said}"))


def echo(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Say back what was understood."""
    return Glove(model=_Words(lambda said, turn: f"You said {said}"))


def quizmaster(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Ask a question that takes a yes or a no."""
    return _asker(YES_NO, lambda ctx: ctx.expect("yes_no"))


def chooser(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Ask which of two."""
    return _asker(CHOICE, lambda ctx: ctx.expect("choice", choices=("Tuesday", "Friday")))


pad = MessagePad()
"""Where the desk of the next call keeps its messages."""


def desk_with_a_pad(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """The desk, with a pad that a test can look at."""
    return desk(model, now=now, pad=pad)


def counter(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Ask for a number of unknown length."""
    return _asker(DIGITS, lambda ctx: ctx.expect("digits"))


class Message(FormStep, title="Message"):
    """What a message needs."""

    phone: str = ask("Number", "What is your number?", pattern=r"^\d{9}$")
    day: date = ask("Day", "On which day shall we call you?")


def receptionist(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """Take a message with a form; it asks for a number of nine digits, and for a day."""
    form = Form("message", version=1, steps=[Message], name="Message", description="Leave a message.")
    glove = Glove(model=model)
    use_form_runner(glove, form, store=MemoryForms(), now=now)
    return glove


books = BookingDesk(Path(tempfile.mkdtemp(prefix="glove-voice-")) / "bookings.db")
"""Where the concierge of these tests books."""


def concierge_with_books(model: Model, *, now: Callable[[], datetime], keeping: Keeping | None = None) -> Glove:
    """The concierge, with books that a test can look at."""
    return concierge(model, now=now, keeping=keeping, bookings=books)


def concierge_who_asks_for_the_loyalty_number(model: Model, *, now: Callable[[], datetime]) -> Glove:
    """The concierge, when the caller has told everything before the loyalty number."""
    glove = concierge(model, now=now, bookings=books)
    forms = glove.mounts.find(FormRunner)
    assert forms is not None
    known = {
        "origin": "London",
        "destination": "Lisbon",
        "depart_date": "2030-11-02",
        "travellers": 2,
        "full_name": "Laura Miller",
        "email": "laura@acme.com",
    }

    async def begin(_signal: AbortSignal) -> None:
        if not await forms.list(limit=1):
            await forms.start(FORM_ID, known)

    glove.add_preparation(begin)
    return glove
