"""What a running tool may use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

from agents.core.abort import AbortSignal
from agents.core.expectation import AnswerKind, ExpectedAnswer
from agents.core.line import Line
from agents.display import DisplayManager, DisplayStrategy

if TYPE_CHECKING:
    from agents.core.glove import Glove
    from agents.core.running import RunningCall
    from agents.core.store import Store
    from agents.core.tools import Tool

__all__ = ["ToolContext", "ToolDisplay"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may use."""

    glove: Glove
    store: Store
    """The conversation the call belongs to."""
    tool: Tool
    running: RunningCall = field(repr=False)
    idempotency_key: str
    """A name for what this call does to the world: give it to whoever must not do it twice.

    Made from the conversation and the call as they are stored, so that it is the same in every retry. When the program
    died in a call, and the model makes the same call again, it is the first one's key.
    """

    @property
    def signal(self) -> AbortSignal:
        """Set when the call is to stop; the tool is cancelled then anyway, unless it may not be."""
        return self.running.signal

    @property
    def call_id(self) -> str:
        """Which call this is, within the conversation."""
        return self.running.call.id

    @property
    def display(self) -> ToolDisplay | None:
        """The screen there is now; ``None`` when nobody has one."""
        display = self.glove.display
        return None if display is None else ToolDisplay(display, self)

    @property
    def line(self) -> Line | None:
        """The call there is now; ``None`` in a chat."""
        return self.glove.line

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Wait inside for somebody else: a person, a machine far away. No work is done here, so none is accounted for.

        Without it the whole run of a tool is work; that matters where time is charged: in tests, in recorded calls.
        """
        work = self.running.work
        return nullcontext() if work is None else work.paused()

    async def say(self, text: str) -> None:
        """Say something while the call goes on, such as "One moment, I am asking the airline".

        On a call it is spoken as soon as the agent has nothing else to say, is heard to its end, and becomes part of
        the conversation. Without a voice it is an event for whoever watches.

        Args:
            text: as it is to be said; nothing happens when it is empty.
        """
        if text.strip():
            tool, call_id = self.tool.name, self.call_id
            await self.glove.subscribers.emit("tool_said", text=text, tool_name=tool, call_id=call_id)

    def expect(self, kind: AnswerKind, *, choices: tuple[str, ...] = (), length: int | None = None) -> None:
        """Say what sort of answer the question in this tool's result wants. The latest call holds.

        Args:
            kind: how the answer will sound.
            choices: for ``choice``, the names as they would be said.
            length: for ``digits``, how many; unknown by default.
        """
        self.running.expected = ExpectedAnswer(kind=kind, choices=choices, length=length)


class ToolDisplay:
    """The screen, as a tool sees it: what it pushes is its own, and its waits are no work.

    Args:
        display: the screen.
        context: of the call whose slots these are.
    """

    def __init__(self, display: DisplayManager, context: ToolContext) -> None:
        self._display = display
        self._context = context
        self._tool = context.tool

    def push_and_forget(
        self, renderer: str, input: Mapping[str, Any] | None = None, *, strategy: DisplayStrategy | None = None
    ) -> str:
        """Show something; see :meth:`DisplayManager.push_and_forget`."""
        chosen = strategy or self._tool.display_strategy
        return self._display.push_and_forget(renderer, input, owner=self._tool.name, strategy=chosen)

    @overload
    async def push_and_wait(
        self, renderer: str, input: Mapping[str, Any] | None = None, *, strategy: DisplayStrategy | None = None
    ) -> Any: ...

    @overload
    async def push_and_wait(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        answer: type[T],
        strategy: DisplayStrategy | None = None,
    ) -> T: ...

    async def push_and_wait(
        self,
        renderer: str,
        input: Mapping[str, Any] | None = None,
        *,
        answer: Any = Any,
        strategy: DisplayStrategy | None = None,
    ) -> Any:
        """Show something and wait for its answer; see :meth:`DisplayManager.push_and_wait`."""
        chosen = strategy or self._tool.display_strategy
        async with self._context.waiting():
            return await self._display.push_and_wait(
                renderer, input, answer=answer, owner=self._tool.name, strategy=chosen
            )
