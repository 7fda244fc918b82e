"""A conversation, as one of perhaps several processes writes to it: what others add meanwhile is noticed and told.

Above: a request, a compaction. Below: the store, whose versions are compared and set. Nothing is ever lost; what is
right for something that was made while others wrote differs:

- *A person's words* are added in any case: they were said.
- *A response of words alone* is kept behind what others added. It is not made anew, because it was passed on as it was
  written: a caller has heard it, and must not hear another one. The next model call is shown both.
- *A response with calls* is kept, and its calls do not run: they would change the world on the strength of a
  conversation that has moved on. Each gets a result that says so, and the model decides again on what is there now;
  once in a request, for two busy processes must not keep each other from ever acting.
- *The results of a round* are kept: what tools did is done.
- *A summary* is given up unless it sums up everything that is there; the next opportunity is taken.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from agents.core.errors import ConflictError
from agents.core.events import Subscribers
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import Message, Usage
from agents.core.results import STILL_RUNNING
from agents.core.store import Store, Window

__all__ = ["Conversation", "Followed"]

logger = logging.getLogger(__name__)

TRIES = 5
"""How often something is appended on the version read last, before it is appended on whatever is there."""

OWN_KEPT = 256
"""Ids of this process's own messages that are remembered: more than it adds while a window is held on to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """How an append on a version went."""

    window: Window | None
    """The conversation with the message at its end; ``None`` when nobody knows what it is like just then."""
    others: tuple[Message, ...] = ()
    """What others had added meanwhile."""
    kept: bool = True
    """Whether it was appended."""


class Conversation:
    """A store, and what of it is this process's own.

    Args:
        store: where it is kept.
        subscribers: who is told of conflicts.
    """

    def __init__(self, store: Store, subscribers: Subscribers) -> None:
        self.store = store
        self._subscribers = subscribers
        self._own: deque[str] = deque(maxlen=OWN_KEPT)

    async def read(self) -> Window:
        """Read what a model may be shown."""
        return await self.store.get_window()

    async def expected(self) -> ExpectedAnswer | None:
        """Look up what it was left waiting for: what the latest message says that left the word to the user."""
        messages = reversed((await self.read()).messages)
        return next((message.expected for message in messages if _leaves_the_word(message)), None)

    async def append(self, message: Message, *, after: Window | None = None) -> Window | None:
        """Add a message in any case.

        Args:
            message: rests on nothing that others could have changed.
            after: the conversation as it was a moment ago, where it is known.

        Returns:
            The conversation with the message at its end; ``None``: it has to be read.
        """
        self._own.append(message.id)
        if after is not None and (window := await self._try(message, after)) is not None:
            return window
        await self.store.append_messages([message])
        return None

    async def append_after(
        self, seen: Window, write: Callable[[Window], Message | None], *, during: str, usage: Usage | None = None
    ) -> Followed:
        """Add a message that was made on the strength of a window; tell who watches when others have added to it.

        Args:
            seen: the window.
            write: gives the message, always under the same id, to stand at the end of a window; ``None``: it makes no
                sense there, and is given up.
            during: what was going on meanwhile, for whoever is told: "while the model answered".
            usage: what the model call used that made it.
        """
        found = seen
        for _ in range(TRIES):
            if (message := write(found)) is None:
                return Followed(window=found, others=await self._report(seen, found, during), kept=False)
            self._own.append(message.id)
            if (window := await self._try(message, found, usage)) is not None:
                return Followed(window=window, others=await self._report(seen, found, during))
            found = await self.read()
        message = write(found)
        if message is None or message.is_compaction:  # What a summary does not know of would be lost behind it.
            return Followed(window=found, others=await self._report(seen, found, during), kept=False)
        await self.store.append_messages([message], usage=usage)
        return Followed(window=None, others=await self._report(seen, found, during))

    async def _try(self, message: Message, window: Window, usage: Usage | None = None) -> Window | None:
        """Add a message if the conversation still is as it was read; ``None``: somebody was first."""
        try:
            version = await self.store.append_messages([message], expected_version=window.version, usage=usage)
        except ConflictError as conflict:
            if conflict.message_id is not None:
                raise
            return None
        return _followed(window, message, version)

    async def _report(self, seen: Window, found: Window, during: str) -> tuple[Message, ...]:
        """Tell of what others have added, if they have; what this process added itself is no conflict."""
        if found is seen:
            return ()
        known = {*self._own, *(message.id for message in seen.messages)}
        others = tuple(message for message in found.messages if message.id not in known)
        if others:
            notice = (
                f"somebody else has added {len(others)} message(s) to conversation {self.store.identifier!r} {during}; "
                "nothing is lost, and the next model call is shown them"
            )
            logger.warning("%s", notice)
            await self._subscribers.emit(
                "conflict",
                conversation=self.store.identifier,
                expected=seen.version,
                found=found.version,
                messages=others,
                notice=notice,
            )
        return others


def _followed(window: Window, message: Message, version: int) -> Window:
    if message.is_compaction:
        return Window(version=version, messages=(message,))
    return replace(window, version=version, messages=(*window.messages, message))


def _leaves_the_word(message: Message) -> bool:
    """Whether nothing more comes of the agent by itself: it has spoken, or goes on behind the conversation."""
    if message.sender == "agent":
        return not message.tool_calls
    return message.is_compaction or any(result.result.data == STILL_RUNNING for result in message.tool_results)
