"""The desk, put together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pydantic import BaseModel, Field

from agents.core.glove import Glove
from agents.core.model import Model
from agents.core.selection import ToolSelection
from agents.core.store import Store
from agents.core.tools import Tool, ToolContext
from agents.desk.messages import MessagePad, take_message
from agents.desk.sums import SumError, work_out
from agents.display import DisplayManager
from agents.spoken import say_date, say_time

__all__ = ["SYSTEM_PROMPT", "create"]

SYSTEM_PROMPT = (
    "You answer the phone at a small front desk. What you write is spoken aloud: use short plain sentences, no "
    "lists, no markup, no emoji. Use the tools for the time, for every sum and for taking messages; never work "
    "these out yourself. When a tool result has `say`, say that. When it has `ask`, ask exactly that and nothing "
    "else. If the caller changes the subject while you wait for an answer, deal with it first and then ask again. "
    "You may be told that the caller interrupted you; then do not assume they know what they did not hear."
)

ABOUT = (
    "I am the front desk, and I can help you with three small things. First, I can tell you the time of day and "
    "the date. Second, I can do sums for you, such as twelve times seven, or how many ounces are in two pounds. "
    "Third, I can take a message and make sure that somebody gets back to you. For that I will ask how to reach "
    "you, and I will read the number or the address back before I keep anything. You can interrupt me whenever you "
    "like, and I will stop and listen."
)


class Nothing(BaseModel):
    """No input."""


class Sum(BaseModel):
    """A sum."""

    question: str = Field(
        min_length=1,
        max_length=500,
        description="The sum, in words or signs, no brackets: 'three miles in kilometres'",
    )


def create(
    model: Model,
    *,
    now: Callable[[], datetime],
    store: Store | None = None,
    display: DisplayManager | None = None,
    pad: MessagePad | None = None,
) -> Glove:
    """Make the desk for one conversation.

    Args:
        model: who answers.
        now: the local time.
        store: where the conversation is kept; in memory by default.
        display: the screen, when somebody has one.
        pad: where messages are kept; one of this conversation's own by default.
    """
    glove = Glove(
        model=model,
        store=store,
        display=display,
        system_prompt=SYSTEM_PROMPT,
        framework_tools=ToolSelection(allow=()),  # Nothing here takes so many steps that a list would help.
    )
    return glove.fold(tell_time(now), calculate(), take_message(pad or MessagePad()), describe_desk())


def tell_time(now: Callable[[], datetime]) -> Tool:
    """Make the tool that tells the time.

    Args:
        now: the local time.
    """

    def do(_: Nothing, ctx: ToolContext) -> dict[str, str]:
        moment = now()
        said = f"It is {say_time(moment)}, on {say_date(moment)}."
        return {"say": said, "iso": moment.isoformat(timespec="minutes")}

    return Tool(
        name="tell_time",
        description="Tell the time of day and the date, here and now.",
        input=Nothing,
        do=do,
        examples=(
            "what time is it",
            "what is the time",
            "tell me the time",
            "do you have the time",
            "what is the date today",
            "what day is it today",
            "which day of the week is it",
        ),
    )


def calculate() -> Tool:
    """Make the tool that does sums."""

    def do(given: Sum, ctx: ToolContext) -> dict[str, str]:
        try:
            return {"say": work_out(given.question)}
        except SumError as exc:
            return {"say": str(exc)}

    return Tool(
        name="calculate",
        description="Do a sum, or turn a measure into another unit.",
        input=Sum,
        do=do,
        examples=(
            "what is twelve times seven",
            "how many ounces are in two pounds",
            "what is three miles in kilometres",
            "how much is two plus three",
            "what is ten minus three",
            "what is a hundred divided by four",
            "twelve multiplied by seven",
            "what is ten percent of fifty",
            "what is half of nine",
            "how many minutes are in two hours",
            "how many days are in two weeks",
            "convert seventy degrees Fahrenheit to Celsius",
        ),
    )


def describe_desk() -> Tool:
    """Make the tool that says what the desk can do."""

    def do(_: Nothing, ctx: ToolContext) -> dict[str, str]:
        return {"say": ABOUT}

    return Tool(
        name="describe_desk",
        description="Say at length what this desk can do for the caller.",
        input=Nothing,
        do=do,
        examples=(
            "what can you do",
            "what can you do for me",
            "how can you help me",
            "can you help me",
            "what can I ask you",
            "tell me about yourself",
            "tell me what you can do",
            "who are you",
            "what are my options",
            "help",
        ),
    )
