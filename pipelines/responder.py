"""The Protocols through which a pipeline sees an agent, so that any agent loop can be put behind a voice.

Above: ``cascade`` drives a :class:`Responder`, ``realtime`` a :class:`ToolHost`. Below: ``glove`` is the one package
that imports ``agents``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from pipelines.realtime.base import AdvertisedTool, PastTurn, Snapshot, ToolAnswer

__all__ = [
    "OPEN_QUESTION",
    "Batch",
    "CallMade",
    "CompactionFinished",
    "CompactionStarted",
    "Draft",
    "Expectation",
    "ExpectationKind",
    "Reply",
    "Responder",
    "ResponderError",
    "ResponderEvent",
    "SpokenKind",
    "StoreContended",
    "TextCompleted",
    "TextDelta",
    "TokenCount",
    "ToolFinished",
    "ToolHost",
    "ToolSaid",
    "ToolStarted",
]


class ExpectationKind(StrEnum):
    """What sort of answer the agent waits for."""

    OPEN = "open"
    YES_NO = "yes_no"
    CHOICE = "choice"
    DIGITS = "digits"
    SPELLING = "spelling"
    DATE = "date"
    TIME = "time"
    """Of the day."""
    NUMBER = "number"
    """How many, or how much."""
    DICTATION = "dictation"
    """Sentences in the caller's own time: a message, a complaint, a story."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the agent asked for; endpointing and the recogniser listen by it."""

    kind: ExpectationKind
    choices: tuple[str, ...] = ()
    """The names a ``choice`` offers, as they would be said."""
    length: int | None = None
    """How many digits ``digits`` wants; ``None`` when the agent does not know."""


OPEN_QUESTION = Expectation(kind=ExpectationKind.OPEN)
"""Nothing in particular is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More of the reply's text; deltas joined are the source text of the utterance."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCompleted:
    """One model response ended: what was held back for the rest of a sentence may be spoken now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """The model called a tool."""

    call_id: str
    name: str
    input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool call ended, on whichever branch."""

    call_id: str
    name: str
    status: Literal["success", "error", "aborted"]
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSaid:
    """A tool that runs wants something said meanwhile."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted:
    """The agent sums up the conversation before it goes on, which takes as long as a model call; it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFinished:
    """It has summed it up, or failed to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContended:
    """Others have added to the conversation meanwhile."""

    reason: str
    """A sentence for whoever runs the program, without anything that was said."""


ResponderEvent: TypeAlias = (
    CompactionStarted
    | CompactionFinished
    | TextDelta
    | TextCompleted
    | ToolStarted
    | ToolFinished
    | ToolSaid
    | StoreContended
)

SpokenKind: TypeAlias = Literal["greeting", "narration", "apology"]
"""What is said without a model call."""


class ResponderError(Exception):
    """The agent could not answer (model unreachable, refused, broken); the call goes on.

    The message is for the operator's log, never for the caller's ear.
    """


class Reply(Protocol):
    """One committed turn's answer.

    Replies are made one at a time, in the order of their commits; each waits for the settlement of the one before it,
    a third of a second at most.
    """

    def events(self) -> AsyncGenerator[ResponderEvent, None]:
        """Yield the reply as it is made. Iterate once, and close the iterator when leaving it early.

        Ends normally when the reply is whole or was aborted.

        Raises:
            ResponderError: the agent failed.
        """
        ...

    def abort(self) -> None:
        """Stop the model call and what may be stopped. Idempotent; safe before, during and after ``events``."""
        ...

    def give_way(self) -> None:
        """End, because the caller goes on: the model call stops, a tool that runs goes on behind the conversation.

        Idempotent; safe before, during and after ``events``.
        """
        ...

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        """Record what the caller really heard of this reply. Once, after the events ended.

        Args:
            heard: a prefix of the joined deltas (source text), possibly empty.
            interrupted: whether the reply was cut.
        """
        ...


class Draft(Protocol):
    """A reply that nobody asked for yet: nothing of it exists until it is committed."""

    def commit(self) -> Reply:
        """Make the caller's words part of the conversation and answer them. Once."""
        ...

    def discard(self) -> None:
        """Forget it; nothing is stored. Idempotent."""
        ...


class Responder(Protocol):
    """An agent, as a call sees it."""

    def expects(self) -> Expectation:
        """What the latest reply asked for."""
        ...

    def blocked(self) -> bool:
        """Whether a display slot waits for an answer: speech does not cancel then."""
        ...

    def draft(self, text: str) -> Draft:
        """Prepare an answer to what are likely the caller's words. Whoever can, begins to answer already."""
        ...

    def overheard(self, text: str) -> None:
        """Tell the next model call, as context, of words that were no turn (said over the agent, not interrupting)."""
        ...

    def watch(self, on_result: Callable[[], None], on_said: Callable[[str], None]) -> None:
        """Be called when something happens behind the conversation, while no reply is made.

        Args:
            on_result: whenever a tool that had gone on has a result that waits to be told.
            on_said: whenever such a tool wants something said.
        """
        ...

    def report(self) -> Reply:
        """Begin to tell such results. A reply like any other, and an empty one when there are none any more."""
        ...

    async def aclose(self) -> None:
        """End what goes on behind the conversation, and wait for what may not be ended. Idempotent."""
        ...

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Record what the agent said without a model call: the words the caller heard."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """A tool call, as a speech-to-speech model made it."""

    call_id: str
    """Unique in the connection it was made over."""
    name: str
    arguments: str
    """JSON text, or what the model wrote instead; nothing means no arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """What a reply cost, in tokens."""

    sent: int = 0
    """To the model; what it had in a cache included."""
    received: int = 0
    cached: int = 0


class Batch(Protocol):
    """The calls of one reply, which are part of the conversation and are to be run, in order."""

    @property
    def message(self) -> str:
        """Which message of the conversation made them; for :meth:`ToolHost.settle`."""
        ...

    async def run(self) -> tuple[ToolAnswer, ...]:
        """Run them, once; results are stored before anybody is told of them.

        Cancelling stops what may be stopped.

        Returns:
            One answer per call, in order, whatever happened.

        Raises:
            ResponderError: results could not be kept.
        """
        ...

    def give_way(self) -> None:
        """Settle the batch without the call that runs, because the caller goes on; it goes on too. Idempotent."""
        ...

    def abort(self) -> None:
        """Stop what may be stopped. Idempotent."""
        ...

    def withhold(self) -> None:
        """Run none of them, before any is run: the reply that made them is void. Each has a result that says so."""
        ...


class ToolHost(Protocol):
    """An agent whose turns a speech-to-speech model takes: what that has to know, what it can do, and what was said.

    What is kept is kept in the order of the calls; each waits for the one before it.
    """

    @property
    def instructions(self) -> str:
        """Standing instructions."""
        ...

    @property
    def tools(self) -> tuple[AdvertisedTool, ...]:
        """What the model can do just now."""
        ...

    def expects(self) -> Expectation:
        """What was asked latest."""
        ...

    def blocked(self) -> bool:
        """Whether a display slot waits for an answer: speech does not cancel then."""
        ...

    async def open(self) -> None:
        """Get ready to be talked to. Once, before anything else.

        Raises:
            ResponderError: something is wrong with the agent, or its conversation cannot be read.
        """
        ...

    async def past(self) -> tuple[PastTurn, ...]:
        """Give what was said latest, for a model that does not know it.

        Raises:
            ResponderError: the conversation cannot be read. So does whatever else reads or keeps.
        """
        ...

    async def snapshot(self) -> Snapshot:
        """Render what the model has to know now; each with a higher version than the one before."""
        ...

    async def hear(self, text: str) -> None:
        """Keep the caller's words, and prepare for the answer to them."""
        ...

    async def say(self, text: str, *, used: TokenCount | None = None) -> str:
        """Keep what the model said; of it is settled what was heard.

        Returns:
            Which message it is.
        """
        ...

    async def call(self, calls: Sequence[CallMade], *, said: str, used: TokenCount | None = None) -> Batch:
        """Keep what the model said and the calls it made with it, each under an id of its own; nothing is run yet."""
        ...

    async def settle(self, message: str, heard: str, *, interrupted: bool) -> None:
        """Record what the caller really heard of a message. Once."""
        ...

    async def record(self, text: str, *, kind: SpokenKind, interrupted: bool) -> None:
        """Record what was said without the model: the words the caller heard."""
        ...

    async def spend(self, used: TokenCount) -> None:
        """Count tokens that belong to no message."""
        ...

    def watch(self, on_result: Callable[[], None], on_event: Callable[[ResponderEvent], None]) -> None:
        """Be called when something happens.

        Args:
            on_result: whenever a tool that had gone on has a result that waits to be told.
            on_event: takes what happens to tools, and what they want said; returns at once.
        """
        ...

    async def late(self) -> tuple[str, ...]:
        """Take such results, each once, as the model is to read them; they are part of the conversation then."""
        ...

    async def aclose(self) -> None:
        """End what goes on behind the conversation, and wait for what may not be ended. Idempotent."""
        ...
