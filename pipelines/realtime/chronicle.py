"""The chronicle: what of a conversation is kept, in the order in which it was spoken, each thing once.

Pure. Fed with what the provider says and with what was heard; gives what may be kept now. Words of the caller's come
when they have long been answered: what was said after them waits for them, for a while. Above: ``scribe`` keeps it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from pipelines.realtime.events import (
    CallerWords,
    ProviderEvent,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    TokensUsed,
    ToolCalled,
)
from pipelines.responder import CallMade, SpokenKind, TokenCount

__all__ = ["CallerSpoke", "Chronicle", "Cost", "Entry", "HeardOf", "ModelCalled", "ModelSpoke", "Spoken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerSpoke:
    """The caller's words."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpoke:
    """A reply without calls, which has ended."""

    reply: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A reply with calls; they are run when they are kept."""

    reply: str
    text: str
    calls: tuple[CallMade, ...]
    void: bool = False
    """Whether the reply was cut before it called: the calls are kept, and not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardOf:
    """What was heard of a reply, which was kept before."""

    reply: str
    heard: str
    interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What was said without the model."""

    text: str
    kind: SpokenKind
    interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the model was told and told us, in tokens."""

    used: TokenCount


Entry: TypeAlias = CallerSpoke | ModelSpoke | ModelCalled | HeardOf | Spoken | Cost


class _Stage(Enum):
    OPEN = auto()
    """It may still change."""
    WHOLE = auto()
    """It has ended by itself."""
    VOID = auto()
    """It was cut; nothing of it is kept before it is known what was heard."""
    KEPT = auto()


@dataclass(slots=True, kw_only=True, eq=False)
class _Caller:
    item: str
    opened_at: float
    text: str = ""
    final: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class _Reply:
    reply: str
    stage: _Stage = _Stage.OPEN
    items: dict[str, str] = field(default_factory=dict)
    calls: list[CallMade] = field(default_factory=list)
    void: bool = False
    """Whether it was over for the caller before it called."""
    heard: tuple[str, bool] | None = None
    """What was heard of it and whether it was cut, once that is known."""

    @property
    def text(self) -> str:
        return " ".join(stripped for text in self.items.values() if (stripped := text.strip()))


class Chronicle:
    """Keeps order.

    Args:
        words_wait_s: how long calls wait for the caller's words before them.
        words_lost_s: how long everything else waits for them.
    """

    def __init__(self, *, words_wait_s: float, words_lost_s: float) -> None:
        self._words_wait_s = words_wait_s
        self._words_lost_s = words_lost_s
        self._places: deque[_Caller | _Reply | Spoken] = deque()
        self._callers: dict[str, _Caller] = {}
        self._replies: dict[str, _Reply] = {}
        self._done: deque[Entry] = deque()
        """What is heard of replies that are kept already."""

    def feed(self, event: ProviderEvent, now: float) -> None:
        """Take what the provider says; ids of one connection differ from those of another."""
        match event:
            case CallerWords():
                self._caller_said(event, now)
            case ReplyBegan():
                place = self._replies[event.reply] = _Reply(reply=event.reply)
                self._places.append(place)
            case ReplyWords():
                if (reply := self._replies.get(event.reply)) is not None and reply.stage is _Stage.OPEN:
                    reply.items[event.item] = reply.items.get(event.item, "") + event.text
            case ToolCalled():
                if (reply := self._replies.get(event.reply)) is not None:
                    call = CallMade(call_id=event.call_id, name=event.name, arguments=event.arguments)
                    reply.calls.append(call)
                    reply.void = reply.heard is not None
            case ReplyEnded():
                if (reply := self._replies.get(event.reply)) is not None and reply.stage is _Stage.OPEN:
                    void = event.outcome in (ReplyOutcome.CANCELLED, ReplyOutcome.FAILED)
                    reply.stage = _Stage.VOID if void else _Stage.WHOLE
            case _:
                pass

    def spoke(self, spoken: Spoken) -> None:
        """Take what was said without the model."""
        self._places.append(spoken)

    def heard(self, reply: str, heard: str, *, interrupted: bool) -> None:
        """Take what was heard of a reply, in the end: no more of it will be, though it may still call tools."""
        if (place := self._replies.get(reply)) is None or place.heard is not None:
            return
        place.heard = (heard, interrupted)
        if place.stage is _Stage.KEPT:
            del self._replies[reply]
            self._done.append(HeardOf(reply=reply, heard=heard, interrupted=interrupted))

    def spent(self, used: TokensUsed) -> None:
        """Take what a reply cost."""
        sent, received = used.audio_in + used.text_in, used.audio_out + used.text_out
        self._done.append(Cost(used=TokenCount(sent=sent, received=received, cached=used.cached_in)))

    def parts(self, reply: str) -> tuple[str, ...]:
        """The items of a reply that have words."""
        return tuple(self._replies[reply].items) if reply in self._replies else ()

    def text(self, reply: str) -> str:
        """All words of a reply so far."""
        return self._replies[reply].text if reply in self._replies else ""

    def take(self, now: float, *, all: bool = False) -> list[Entry]:
        """Give what may be kept now, in order.

        Args:
            now: seconds.
            all: whether the call ends: everything that is there, as it is.
        """
        entries: list[Entry] = []
        while self._places and (all or self._ready(self._places[0], now)):
            entries.extend(self._entries(self._places.popleft()))
        entries.extend(self._done)
        self._done.clear()
        return entries

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`take` although nothing was fed; ``None``: never."""
        first = self._places[0] if self._places else None
        return self._lost_at(first) if isinstance(first, _Caller) and not first.final else None

    def _caller_said(self, event: CallerWords, now: float) -> None:
        if (place := self._callers.get(event.item)) is None:
            place = self._callers[event.item] = _Caller(item=event.item, opened_at=now)
            self._places.append(place)
        if place.final:
            return
        if place not in self._places:  # It was kept as it was; what was missing of it comes behind.
            if event.final:
                place.final = True
                rest = event.text[len(place.text) :] if event.text.startswith(place.text) else event.text
                self._places.append(_Caller(item=event.item, opened_at=now, text=rest, final=True))
            return
        place.text, place.final = event.text, event.final

    def _lost_at(self, place: _Caller) -> float:
        called = any(
            isinstance(other, _Reply) and other.calls and other.stage is _Stage.WHOLE for other in self._places
        )
        return place.opened_at + (self._words_wait_s if called else self._words_lost_s)

    def _ready(self, place: _Caller | _Reply | Spoken, now: float) -> bool:
        match place:
            case _Caller():
                return place.final or now >= self._lost_at(place)
            case _Reply():
                return place.stage is _Stage.WHOLE or (place.stage is _Stage.VOID and place.heard is not None)
            case _:
                return True

    def _entries(self, place: _Caller | _Reply | Spoken) -> list[Entry]:
        match place:
            case _Caller():
                return [CallerSpoke(text=place.text.strip())] if place.text.strip() else []
            case _Reply():
                return self._reply(place)
            case _:
                return [place]

    def _reply(self, place: _Reply) -> list[Entry]:
        whole = place.stage is _Stage.WHOLE
        heard, interrupted = place.heard or ("", True)
        place.stage = _Stage.KEPT
        entries: list[Entry] = []
        if whole and place.calls:
            entries.append(ModelCalled(reply=place.reply, text=place.text, calls=tuple(place.calls), void=place.void))
        elif place.text and (whole or heard):
            entries.append(ModelSpoke(reply=place.reply, text=place.text))
        if entries and place.heard is not None and place.text:
            entries.append(HeardOf(reply=place.reply, heard=heard, interrupted=interrupted))
        if place.heard is not None:
            self._replies.pop(place.reply, None)
        return entries
