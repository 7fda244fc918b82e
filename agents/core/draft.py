"""A draft: a first model call on words that are not a message yet, made so that its answer is there when they are.

It reads what a request would read, and stores, emits and runs nothing. A request that finds it would ask the model the
very same takes it up; any other makes its own call, and the draft's tokens are counted apart.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError
from agents.core.messages import Message, Usage
from agents.core.model import Model, ModelEvent, ModelFinished, ModelRequest, UsageTold
from agents.core.pace import Pace
from agents.core.response import prepare
from agents.core.store import inbox_of

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["ModelDraft"]


class _State(Enum):
    WRITING = auto()
    WHOLE = auto()
    FAILED = auto()
    """It has no answer, or no whole one: something waits that a request would take in first, or the model failed."""


class ModelDraft:
    """Made by :meth:`Glove.draft`; run in a task of its own, then taken up by a request or discarded.

    Args:
        glove: whose model.
        said: the words, as far as they are known.
        pace: accounts for the waits.
    """

    def __init__(self, glove: Glove, said: str, *, pace: Pace) -> None:
        self._glove = glove
        self._said = said
        self._pace = pace
        self._signal = AbortSignal()
        self._state = _State.WRITING
        self._request: ModelRequest | None = None
        self._model: Model | None = None
        self._events: list[ModelEvent] = []
        self._news = asyncio.Event()
        self.begun = False
        """Whether anything was done for it."""
        self._failure: Exception | None = None
        self._taken = False

    async def run(self) -> None:
        """Write it. Ends by itself, when it is discarded, or when its task is cancelled; raises nothing else."""
        try:
            with self._signal.guard():
                self.begun = True
                if await self._may_write():
                    await self._write()
                    self._state = _State.WHOLE
        except AbortError:
            pass
        except Exception as exc:  # noqa: BLE001 - a task's boundary: whoever takes the draft up is told, if anybody does
            self._failure = exc
        finally:
            if self._state is _State.WRITING:
                self._state = _State.FAILED
            self._news.set()

    def discard(self) -> None:
        """Forget it: stop the call, and count what it is known to have used, if nobody took it up. Idempotent."""
        if self._signal.aborted:
            return
        self._signal.abort("discarded")
        if not self._taken:
            told = (event.usage for event in reversed(self._events) if isinstance(event, ModelFinished | UsageTold))
            self._glove.discarded_usage += next(told, Usage())

    def take(self, request: ModelRequest, model: Model) -> AsyncGenerator[ModelEvent, None] | None:
        """Give the answer to a request, as far as it is there and then as it comes; ``None``: it asked something else.

        Closing the generator stops the call.
        """
        same = self._model is model and self._request is not None and _same(self._request, request)
        if self._state is _State.FAILED or self._signal.aborted or not same:
            self.discard()
            return None
        self._taken = True
        return self._replay()

    async def _may_write(self) -> bool:
        """Whether a request on these words would begin with them, and not with what waits to be taken in first."""
        glove = self._glove
        if not glove.drafts or not glove.floor.free or glove.compaction_wanted or glove.errands.open_ids:
            return False
        inbox = inbox_of(glove.store)
        return inbox is None or not await inbox.get_resolved_inbox_items()

    async def _write(self) -> None:
        words = Message(sender="user", text=self._said)
        prepared = await prepare(
            self._glove, self._glove.conversation, said=words, signal=self._signal, pace=self._pace
        )
        self._request, self._model = prepared.request, self._glove.model
        stream = self._model.stream(self._request)
        async with aclosing(stream), aclosing(self._pace.model(stream)) as events:
            async for event in events:
                self._events.append(event)
                self._news.set()

    async def _replay(self) -> AsyncGenerator[ModelEvent, None]:
        at = 0
        try:
            while True:
                self._news.clear()
                while at < len(self._events):
                    yield self._events[at]
                    at += 1
                if self._state is _State.WHOLE:
                    return
                if self._failure is not None:
                    raise self._failure
                await self._news.wait()
        finally:
            self.discard()


def _same(drafted: ModelRequest, asked: ModelRequest) -> bool:
    """Whether two requests ask the same: word for word, but for how the caller's words are written."""
    return (
        drafted.system_prompt == asked.system_prompt
        and drafted.tools == asked.tools
        and len(drafted.messages) == len(asked.messages)
        and all(map(_alike, drafted.messages, asked.messages))
    )


def _alike(one: Message, other: Message) -> bool:
    if one.from_person and other.from_person and _words(one) == _words(other):
        other = replace(other, text=one.text)
    return replace(one, id="") == replace(other, id="")


def _words(message: Message) -> list[str]:
    return re.findall(r"\w+", message.text.casefold())
