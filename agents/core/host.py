"""The host: what an agent is to whatever is mounted on it, which tells the model, prepares requests and asks."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from typing import TypeAlias

from agents.core.abort import AbortSignal
from agents.core.errands import Errands
from agents.core.events import Subscriber, Subscribers
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import Message
from agents.core.mounts import Mounts
from agents.core.pace import UNPACED
from agents.core.progress import Progress
from agents.core.register import Register

__all__ = ["ContextProvider", "Host", "Preparation"]

Context: TypeAlias = str | Message | Sequence[Message] | None
ContextProvider: TypeAlias = Callable[[AbortSignal | None], Context | Awaitable[Context]]
"""Renders what the model must know just now; asked anew before every model call."""

Preparation: TypeAlias = Callable[[AbortSignal], Awaitable[None]]
"""Something that is to be done in a request before the model is called."""


class Host:
    """Whatever is mounted joins here, and leaves when it likes.

    Attributes:
        subscribers: who watches.
        errands: tool calls that outlived their rounds.
        progress: how far it is with its goals and forms, for those who look on.
        mounts: what is mounted on it, for hosts.
    """

    def __init__(self) -> None:
        self.subscribers = Subscribers()
        self.errands = Errands()
        self.progress = Progress()
        self.mounts = Mounts()
        self._providers: Register[ContextProvider] = Register()
        self._preparations: Register[Preparation] = Register()
        self._questions: Register[Callable[[], ExpectedAnswer | None]] = Register()

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
        return self._providers.add(provider)

    def add_preparation(self, step: Preparation) -> Callable[[], None]:
        """Do something in every request before the model is first called: the words are stored by then.

        What a step raises ends the request; later steps do not run.

        Returns:
            A function that ends it. Idempotent.
        """
        return self._preparations.add(step)

    def add_question(self, question: Callable[[], ExpectedAnswer | None]) -> Callable[[], None]:
        """Say what a reply asks for when no tool of its request said it: the open question of a form, say.

        Args:
            question: asked when a reply is whole; ``None`` when nothing is open.

        Returns:
            A function that ends it. Idempotent.
        """
        return self._questions.add(question)

    @property
    def open_question(self) -> ExpectedAnswer | None:
        """What stands open beside what the latest tools asked; the first there is."""
        return next((asked for question in self._questions.members if (asked := question()) is not None), None)

    async def prepare_request(self, signal: AbortSignal) -> bool:
        """Take the steps that precede a request, in the order added.

        Returns:
            Whether there are any.
        """
        steps = self._preparations.members
        for step in steps:
            signal.raise_if_aborted()
            await step(signal)
        return bool(steps)

    async def get_runtime_context(
        self, signal: AbortSignal | None = None, *, now: float | None = None
    ) -> tuple[Message, ...]:
        """Ask all providers, in the order added, and tell subscribers; empty answers are dropped.

        Args:
            signal: stops the asking.
            now: seconds, of the pace requests are run by; tells how long running calls have run.

        Raises:
            Exception: whatever a provider raises.
        """
        messages = await self.render_context(signal, now=now)
        if self._providers.members or self.errands.running:
            await self.subscribers.emit("runtime_context", messages=deepcopy(list(messages)))
        return messages

    async def render_context(
        self, signal: AbortSignal | None = None, *, now: float | None = None
    ) -> tuple[Message, ...]:
        """Ask all providers like :meth:`get_runtime_context`, and tell nobody."""
        messages: list[Message] = []
        for provider in self._providers.members:
            context = provider(signal)
            messages.extend(_as_messages(await context if inspect.isawaitable(context) else context))
        messages.extend(_as_messages(self.errands.render(UNPACED.now() if now is None else now)))
        return tuple(messages)


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
