"""The outbox: what is to be told a provider, in order, over whichever connection there is.

Pure. What was meant for a connection that is over is told the next one in its own way, or is of no use to it any more;
of the caller's voice only the latest is kept. Above: ``connection`` takes from it and sends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipelines.audio.frame import Samples
from pipelines.realtime.base import PastTurn, SessionSetup, Snapshot, ToolAnswer

__all__ = [
    "Answers",
    "BeginSpeech",
    "EndSpeech",
    "Hear",
    "Inject",
    "Interrupt",
    "Outbox",
    "Refresh",
    "Sending",
    "Truncate",
    "Update",
    "answers_in_words",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hear:
    """The caller's voice, at the adapter's ``hears``."""

    samples: Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginSpeech:
    """The caller begins a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSpeech:
    """The caller's turn is over."""

    respond: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Inject:
    """Words for the conversation."""

    text: str
    role: Literal["caller", "system"]
    respond: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The results of a batch."""

    results: tuple[ToolAnswer, ...]
    snapshot: Snapshot
    respond: bool
    connection: int
    """The one the calls were made over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The context of now."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """The answer being made is void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate:
    """Of an item only so much was heard."""

    item: str
    heard_s: float
    connection: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Instructions and tools of now."""

    setup: SessionSetup


Sending: TypeAlias = Hear | BeginSpeech | EndSpeech | Inject | Answers | Refresh | Interrupt | Truncate | Update


class Outbox:
    """What waits to be sent.

    Args:
        kept_samples: how much of the caller's voice is kept at most; older is dropped.
    """

    def __init__(self, kept_samples: int) -> None:
        self._kept_samples = kept_samples
        self._waiting: deque[Sending] = deque()
        self._voice = 0
        """Samples of the caller's voice that wait."""
        self._turn: deque[Hear] | None = None
        """What was sent of a turn that is begun and not ended; ``None``: none is."""
        self._turn_voice = 0
        self._unsure: list[Inject | Answers] = []
        """What was sent and asked for an answer, of which nothing has come yet."""

    def put(self, sending: Sending) -> None:
        """Add something behind everything else."""
        if isinstance(sending, Hear):
            self._voice += len(sending.samples)
        self._waiting.append(sending)
        while self._voice > self._kept_samples:
            oldest = next(waiting for waiting in self._waiting if isinstance(waiting, Hear))
            self._waiting.remove(oldest)
            self._voice -= len(oldest.samples)

    def take(self, connection: int) -> Sending | None:
        """Give what is to be sent next over a connection; ``None``: nothing just now."""
        while self._waiting:
            sending = self._waiting.popleft()
            if isinstance(sending, Hear):
                self._voice -= len(sending.samples)
            self._follow(sending)
            if (fitting := _fitting(sending, connection)) is not None:
                if isinstance(fitting, Inject | Answers) and fitting.respond:
                    self._unsure.append(fitting)
                return fitting
        return None

    def answered(self) -> None:
        """The provider has begun a reply: it knows what it was sent."""
        self._unsure.clear()

    def broke(self) -> None:
        """The connection is over: what it was asked and has not answered is told the next one, first of all.

        What only made sense while it lasted is forgotten.
        """
        rest = [
            waiting for waiting in self._waiting if not isinstance(waiting, Refresh | Interrupt | Truncate | Update)
        ]
        turn: list[Sending] = [] if self._turn is None else [BeginSpeech(), *self._turn]
        self._voice += self._turn_voice if turn else 0
        self._waiting = deque([*self._unsure, *turn, *rest])
        self._turn = None
        self._unsure.clear()

    def _follow(self, sending: Sending) -> None:
        """Remember a turn while it is being said: if the connection breaks, all of it is told the next one."""
        match sending:
            case BeginSpeech():
                self._turn, self._turn_voice = deque(), 0
            case EndSpeech():
                self._turn = None
            case Hear() if self._turn is not None:
                self._turn.append(sending)
                self._turn_voice += len(sending.samples)
                while self._turn_voice > self._kept_samples:
                    self._turn_voice -= len(self._turn.popleft().samples)
            case _:
                pass

    def without_waiting(self, past: Sequence[PastTurn]) -> tuple[PastTurn, ...]:
        """Leave out of what was said what is still to be told as the caller's words, so that it is not told twice."""
        left = list(past)
        for waiting in reversed(self._waiting):
            if isinstance(waiting, Inject) and waiting.role == "caller":
                turn = PastTurn(role="caller", text=waiting.text.strip())
                if turn in left:
                    del left[len(left) - 1 - left[::-1].index(turn)]
        return tuple(left)

    @property
    def asks(self) -> bool:
        """Whether something waits that the model will answer."""
        return any(isinstance(waiting, Inject | Answers | EndSpeech) and waiting.respond for waiting in self._waiting)


def _fitting(sending: Sending, connection: int) -> Sending | None:
    """Make of something what it is to a connection."""
    match sending:
        case Answers() if sending.connection != connection:
            return Inject(text=answers_in_words(sending.results), role="system", respond=True)
        case Truncate() if sending.connection != connection:
            return None
        case _:
            return sending


def answers_in_words(results: tuple[ToolAnswer, ...]) -> str:
    """Tell results to a model that does not know the calls."""
    lines = [f"- {result.name}: {result.output}" for result in results]
    return "\n".join(["Tool calls that were made before the connection broke have ended:", *lines])
