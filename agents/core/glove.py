"""An agent: a model, a conversation, tools, and what it must know now."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from typing import TypeAlias
from uuid import uuid4

from agents.core.abort import AbortSignal
from agents.core.errors import DefinitionError
from agents.core.events import Subscriber, Subscribers
from agents.core.executor import Executor
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import Message
from agents.core.model import Model
from agents.core.pace import UNPACED, Pace
from agents.core.request import Request
from agents.core.store import Store
from agents.core.tools import Tool
from agents.display import DisplayManager
from agents.stores.memory import MemoryStore

__all__ = ["MAX_TURNS", "ContextProvider", "Glove"]

MAX_TURNS = 120
"""Model calls one request may take before it is given up: far beyond any real task, well short of a runaway bill."""

Context: TypeAlias = str | Message | Sequence[Message] | None
ContextProvider: TypeAlias = Callable[[AbortSignal | None], Context | Awaitable[Context]]
"""Renders what the model must know just now; asked anew before every model call."""


def _random_id() -> str:
    return uuid4().hex


class Glove:
    """An agent in one conversation. One request at a time.

    Args:
        model: who answers.
        store: where the conversation is kept; in memory by default.
        system_prompt: standing instructions; never changed by the framework.
        display: the screen, when somebody has one.
        max_turns: model calls one request may take.
        new_id: makes message ids that are unique in the store.

    Attributes:
        expectation: what the latest reply asked for; ``None`` when nothing in particular.
    """

    def __init__(
        self,
        *,
        model: Model,
        store: Store | None = None,
        system_prompt: str = "",
        display: DisplayManager | None = None,
        max_turns: int = MAX_TURNS,
        new_id: Callable[[], str] = _random_id,
    ) -> None:
        self.model = model
        self.store: Store = MemoryStore() if store is None else store
        self.system_prompt = system_prompt
        self.display = display
        self.max_turns = max_turns
        self.new_id = new_id
        self.expectation: ExpectedAnswer | None = None
        self.subscribers = Subscribers()
        self._tools: dict[str, Tool] = {}
        self._providers: list[ContextProvider] = []
        self.executor = Executor(self._tools, self.subscribers)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the model can do, in the order folded."""
        return tuple(self._tools.values())

    def fold(self, *tools: Tool) -> Glove:
        """Give the model tools; also in mid-request, where the next model call sees them.

        Returns:
            This glove.

        Raises:
            DefinitionError: a name is taken (names differ by more than case); nothing was folded.
        """
        added: dict[str, Tool] = {}
        for tool in tools:
            key = tool.name.lower()
            if key in self._tools or key in added:
                raise DefinitionError(f"there is a tool named {tool.name!r} already; give this one another name")
            added[key] = tool
        self._tools.update(added)
        return self

    def add_subscriber(self, subscriber: Subscriber) -> Callable[[], None]:
        """Let somebody watch all requests.

        Returns:
            A function that ends it.
        """
        return self.subscribers.add(subscriber)

    def add_context_provider(self, provider: ContextProvider) -> Callable[[], None]:
        """Append to the input of every model call what the provider returns then. Never stored.

        Returns:
            A function that ends it. Idempotent.
        """
        self._providers.append(provider)

        def remove() -> None:
            if provider in self._providers:
                self._providers.remove(provider)

        return remove

    async def get_runtime_context(self, signal: AbortSignal | None = None) -> tuple[Message, ...]:
        """Ask all providers, in the order added; empty answers are dropped. Their errors are the caller's."""
        if not self._providers:
            return ()
        messages: list[Message] = []
        for provider in tuple(self._providers):
            context = provider(signal)
            messages.extend(_as_messages(await context if inspect.isawaitable(context) else context))
        await self.subscribers.emit("runtime_context", messages=deepcopy(messages))
        return tuple(messages)

    def begin(self, text: str, *, signal: AbortSignal | None = None, pace: Pace = UNPACED) -> Request:
        """Prepare a request; nothing happens until it is run."""
        return Request(self, text, signal=signal or AbortSignal(), pace=pace)

    async def process_request(self, text: str, signal: AbortSignal | None = None) -> Message:
        """Answer a message.

        Args:
            text: the user's words.
            signal: stops the work; see :meth:`Request.run`.

        Returns:
            The agent's last message.

        Raises:
            AbortError: the signal was set.
            ModelError: the model failed.
        """
        return await self.begin(text, signal=signal).run()

    async def record(self, text: str, *, interrupted: bool = False) -> None:
        """Make words the agent said without its model part of the conversation.

        Args:
            text: the words that were heard; nothing is stored when there are none.
            interrupted: whether there would have been more.
        """
        if not text.strip():
            return
        message = Message(sender="agent", text=text, id=self.new_id())
        await self.store.append_messages([message])
        await self.store.settle(message.id, text, interrupted)


def _as_messages(context: Context) -> list[Message]:
    match context:
        case None | "":
            return []
        case str():
            return [Message(sender="user", text=context, framework_context="runtime")]
        case Message():
            return [context]
        case _:
            return list(context)
