"""What a speech-to-speech provider says, with one meaning on every provider.

Above: ``agent`` acts on these. Below: each adapter translates its provider's wire into them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from pipelines.audio.frame import Samples

__all__ = [
    "CallerBegan",
    "CallerStopped",
    "CallerWords",
    "CallsWithdrawn",
    "Interrupted",
    "ProviderEvent",
    "ProviderTrouble",
    "ReplyAudio",
    "ReplyBegan",
    "ReplyEnded",
    "ReplyOutcome",
    "ReplyWords",
    "SessionEnded",
    "SessionExpiring",
    "SessionOpened",
    "TokensTold",
    "TokensUsed",
    "ToolCalled",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """The provider has accepted the setup: everything may be sent. Once per connection."""

    resumed: bool = False
    """Whether it still knows the conversation, so that it must not be told again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionExpiring:
    """The connection will be closed; open another one before."""

    in_s: float
    """Seconds left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The connection is over. Once per connection, and the last of its events, however it ended."""

    expected: bool
    """Whether we closed it."""
    code: int | None = None
    """The WebSocket's close code, if there was one."""
    reason: str = ""
    """In the provider's own words."""
    retry: bool = True
    """Whether another connection may fare better; not when the key, the model or the setup was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBegan:
    """The provider hears the caller speak. Not every provider says so, and none when turn taking is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerStopped:
    """The provider hears the caller no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerWords:
    """What the caller said, as the provider writes it.

    Where a provider says that an utterance is a turn before it has written it down, the first event of the item has
    no text: it says where among what is said the words belong, which may come when it has long been answered.
    """

    item: str
    """Which utterance of the caller's, unique in the connection."""
    text: str
    """All of it so far: a later event of the item replaces it."""
    final: bool
    """Once per item; fragments are accumulated by the adapter until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyBegan:
    """The model begins to answer. One at a time."""

    reply: str
    """Its id, unique in the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyAudio:
    """More of an answer's voice."""

    reply: str
    item: str
    """The part of the answer it belongs to, unique in the connection; what is truncated."""
    samples: Samples
    """At the adapter's ``speaks``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyWords:
    """More of what an answer's voice says; may run ahead of its audio or behind it."""

    reply: str
    item: str
    text: str
    """To be appended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """The model calls a tool. Those of a reply are run when it has ended, in order, as one batch."""

    reply: str
    call_id: str
    """Unique in the connection; a repeated one is dropped by the adapter."""
    name: str
    arguments: str
    """JSON text, as the provider sent it; perhaps none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsWithdrawn:
    """The provider wants no results of these calls any more, because the caller interrupted."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """What was being answered is void, because the caller spoke over it or we asked for that.

    Told before ``ReplyEnded`` of the voided reply, and also when nothing was being answered and we asked, or the
    caller began to speak: answers are made faster than they are played.
    """

    reply: str | None
    """The voided one: of its audio nothing more is told. ``None``: none was being made, though one may be playing."""


class ReplyOutcome(Enum):
    """How an answer ended."""

    COMPLETED = auto()
    CANCELLED = auto()
    FAILED = auto()
    INCOMPLETE = auto()
    """Cut by the provider: too long, or filtered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensUsed:
    """What an answer cost, in tokens; 0 where the provider does not tell."""

    audio_in: int = 0
    audio_out: int = 0
    text_in: int = 0
    text_out: int = 0
    cached_in: int = 0
    """Of those that went in, served from a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEnded:
    """Nothing more comes of an answer. Exactly one per ``ReplyBegan``, also when the connection breaks."""

    reply: str
    outcome: ReplyOutcome
    reason: str = ""
    """In the provider's words, when it is not completed."""
    used: TokensUsed | None = None
    """``None``: told later, by ``TokensTold``, or never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensTold:
    """What an answer cost, or more of it, from a provider that tells it behind the answer's end."""

    reply: str
    used: TokensUsed


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTrouble:
    """The provider complains, and goes on. Complaints that mean nothing are swallowed by the adapter."""

    code: str
    message: str
    """In the provider's own words, and what to do where we know it."""


ProviderEvent: TypeAlias = (
    SessionOpened
    | SessionExpiring
    | SessionEnded
    | CallerBegan
    | CallerStopped
    | CallerWords
    | ReplyBegan
    | ReplyAudio
    | ReplyWords
    | ToolCalled
    | CallsWithdrawn
    | Interrupted
    | ReplyEnded
    | TokensTold
    | ProviderTrouble
)
