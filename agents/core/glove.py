"""An agent: a model, a conversation, tools, and what it must know now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from uuid import uuid4

from agents.core.abort import AbortSignal
from agents.core.cancellation import cancel_tool
from agents.core.compaction import Compaction, compact
from agents.core.conversation import Conversation
from agents.core.draft import ModelDraft
from agents.core.errors import DefinitionError
from agents.core.executor import Executor
from agents.core.expectation import ExpectedAnswer
from agents.core.floor import Floor
from agents.core.host import Host
from agents.core.inbox import INBOX_TOOL, inbox_tool
from agents.core.line import Line
from agents.core.messages import Message, Usage
from agents.core.model import Model
from agents.core.opening import LateResults, Opening, Said, Words, keep_late
from agents.core.pace import UNPACED, Pace
from agents.core.permissions import Permissions
from agents.core.request import Request
from agents.core.selection import ToolSelection
from agents.core.store import Store, inbox_of, tasks_of
from agents.core.tasks import TASKS_TOOL, tasks_tool
from agents.core.toolbox import Toolbox
from agents.core.tools import Tool
from agents.display import DisplayManager
from agents.stores.memory import MemoryStore

__all__ = ["MAX_RETRIES", "MAX_TURNS", "Glove"]

MAX_RETRIES = 3
"""How often a tool that raised is run again: enough for a hiccup, too few to be kept waiting."""

MAX_TURNS = 120
"""Model calls one request may take before it is given up: far beyond any real task, well short of a runaway bill."""


def _random_id() -> str:
    return uuid4().hex


class Glove(Host):
    """An agent in one conversation. One request at a time.

    Args:
        model: who answers; may be changed at any time, and answers the next model call then.
        store: where the conversation is kept; in memory by default.
        system_prompt: standing instructions; never changed by the framework.
        display: the screen, when somebody has one; may be changed at any time.
        server_mode: whether nobody sits before the program; read by what is mounted.
        max_turns: model calls one request may take.
        max_retries: how often a tool that raised is run again, unless it says otherwise.
        enable_tool_result_summary: whether the model is shown results of earlier turns as their summaries.
        compaction: when and how the conversation is summed up; ``None``: never.
        framework_tools: which of the tools the framework brings are wanted; all that the store can serve by default.
        drafts: whether the model may be called on words that are not a message yet; may be changed at any time.
        new_id: makes message ids that are unique in the store.

    Attributes:
        conversation: the store, as this glove writes to it; :meth:`rebuild` changes it.
        line: the call it is in, when it is in one; set by whoever holds the call.
        expectation: what the latest reply asked for; ``None`` when nothing in particular.
        permissions: who may do what.
        compaction_wanted: whether there will be a compaction at the next opportunity.
        discarded_usage: tokens of drafts that nobody took up and of responses that were stopped, as far as the
            provider had told them.
        closing: whether :meth:`aclose` is at work: nobody is told of results then.
    """

    def __init__(
        self,
        *,
        model: Model,
        store: Store | None = None,
        system_prompt: str = "",
        display: DisplayManager | None = None,
        server_mode: bool = False,
        max_turns: int = MAX_TURNS,
        max_retries: int = MAX_RETRIES,
        enable_tool_result_summary: bool = False,
        compaction: Compaction | None = None,
        framework_tools: ToolSelection | None = None,
        drafts: bool = True,
        new_id: Callable[[], str] = _random_id,
    ) -> None:
        super().__init__()
        self.model = model
        self.system_prompt = system_prompt
        self.server_mode = server_mode
        self.max_turns = max_turns
        self.enable_tool_result_summary = enable_tool_result_summary
        self.compaction = compaction
        self.compaction_wanted = False
        self.new_id = new_id
        self.line: Line | None = None
        self.expectation: ExpectedAnswer | None = None
        self.permissions = Permissions()
        self.floor = Floor()
        self.executor = Executor(self.subscribers, self.permissions, self.errands, retries=max_retries)
        self.closing = False
        self.drafts = drafts
        self.discarded_usage = Usage()
        self.conversation = Conversation(MemoryStore() if store is None else store, self.subscribers)
        self._has_store = store is not None
        self._display = display
        self._toolbox = Toolbox()
        self._framework_tools = framework_tools or ToolSelection()
        self._cancel = cancel_tool(self.errands)
        self._built = False
        self._mistakes = [
            *_limits(max_turns=max_turns, max_retries=max_retries),
            *(() if compaction is None else compaction.mistakes()),
        ]

    # --------------------------------------------------------------------------------------------------- what it is

    @property
    def store(self) -> Store:
        """Where the conversation is kept; :meth:`rebuild` changes it."""
        return self.conversation.store

    @property
    def display(self) -> DisplayManager | None:
        """The screen; ``None`` when nobody has one. When it changes, whoever waits for the old one is told."""
        return self._display

    @display.setter
    def display(self, display: DisplayManager | None) -> None:
        old, self._display = self._display, display
        if old is not None and old is not display:
            old.clear("the screen went away")

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the model can do, in the order folded."""
        return tuple(self._toolbox.tools.values())

    @property
    def offered(self) -> Mapping[str, Tool]:
        """The tools of the next model call, by lower-case name."""
        if not self.errands.running:
            return self._toolbox.tools
        return {**self._toolbox.tools, self._cancel.name: self._cancel}

    def fold(self, *tools: Tool, selection: ToolSelection | None = None) -> Glove:
        """Give the model tools; also in mid-request, where the next model call sees them.

        Args:
            tools: in the order they are shown. Names differ by more than case.
            selection: which of them are wanted.

        Returns:
            This glove.

        Raises:
            ToolSelectionError: the selection names a tool that is not among them; nothing was folded.
            DefinitionError: the glove is built, and something is wrong with a tool; nothing was folded.
        """
        self._toolbox.fold(tools, selection)
        return self

    def replace_tools(self, previous: Iterable[str], tools: Sequence[Tool]) -> Glove:
        """Put tools where others were, all or nothing; a round in progress keeps those it was offered.

        Args:
            previous: names of tools to take away, whatever their case.
            tools: what comes where the first of them stood; at the end, when none of them is there.

        Returns:
            This glove.

        Raises:
            DefinitionError: a name is given twice or belongs to a tool that stays, or a tool is ill-defined; nothing
                was changed.
        """
        self._toolbox.replace(previous, tools)
        return self

    def build(self, store: Store | None = None) -> Glove:
        """Check the definition, and add the tools the framework brings. Done at the first request otherwise.

        Args:
            store: where the conversation is kept, if none was given before.

        Returns:
            This glove.

        Raises:
            DefinitionError: something is wrong; it names every mistake.
        """
        if mistakes := (*self._mistakes, *self._toolbox.seal()):
            raise DefinitionError(*mistakes)
        self._built = True
        if store is not None and not self._has_store:
            return self.rebuild(store)
        self._add_framework_tools()
        return self

    def rebuild(self, store: Store) -> Glove:
        """Go on in another conversation. Tools, subscribers and context stay; a request in progress stays where it was.

        Nothing is read of it yet; :meth:`recall` tells what it was left waiting for.

        Returns:
            This glove.
        """
        self.conversation, self._has_store = Conversation(store, self.subscribers), True
        self.expectation = None
        if self._built:
            self._add_framework_tools()
        return self

    async def recall(self) -> ExpectedAnswer | None:
        """Take up what the conversation was left waiting for, so that the next words are heard as the answer they are.

        Returns:
            The expectation now: what the latest reply asked for, whichever process made it.

        Raises:
            StoreError: the conversation cannot be read.
        """
        self.expectation = await self.conversation.expected()
        return self.expectation

    def _add_framework_tools(self) -> None:
        known = [tasks_tool(), inbox_tool()]
        wanted = {tool.name for tool in self._framework_tools.pick(known)}
        serves = {TASKS_TOOL: tasks_of(self.store) is not None, INBOX_TOOL: inbox_of(self.store) is not None}
        for tool in reversed(known):
            if tool.name in wanted and serves[tool.name]:
                self._toolbox.first(tool)
            else:
                self._toolbox.without(tool.name)

    # ------------------------------------------------------------------------------------------------ what it does

    def draft(self, said: str, *, pace: Pace = UNPACED) -> ModelDraft:
        """Prepare a first model call on words that may become a message; run it in a task of its own.

        Nothing is stored, told or run of it. Give it to :meth:`begin`, or discard it.

        Raises:
            DefinitionError: the glove was not built, and something is wrong with its definition.
        """
        if not self._built:
            self.build()
        return ModelDraft(self, said, pace=pace)

    def begin(
        self,
        said: Said,
        *,
        signal: AbortSignal | None = None,
        pace: Pace = UNPACED,
        draft: ModelDraft | None = None,
        spoken: bool = False,
    ) -> Request:
        """Prepare a request; nothing happens until it is run.

        Args:
            said: the user's words, or content parts.
            signal: stops the work.
            pace: accounts for the waits.
            draft: an answer that may be there already; it is used if it answers just what the model would be asked.
            spoken: whether the answer is spoken: then a question in it counts as put when it is settled as heard.

        Raises:
            DefinitionError: the glove was not built, and something is wrong with its definition.
        """
        return self._begin(Words(said), signal, pace, draft, spoken)

    def begin_report(self, *, signal: AbortSignal | None = None, pace: Pace = UNPACED, spoken: bool = False) -> Request:
        """Prepare a request that tells what the calls have come to that outlived their rounds, if any has ended."""
        return self._begin(LateResults(), signal, pace, None, spoken)

    def _begin(
        self, opening: Opening, signal: AbortSignal | None, pace: Pace, draft: ModelDraft | None, spoken: bool
    ) -> Request:
        if not self._built:
            self.build()
        return Request(self, opening, signal=signal or AbortSignal(), pace=pace, draft=draft, spoken=spoken)

    async def process_request(self, said: Said, signal: AbortSignal | None = None) -> Message:
        """Answer a message.

        While a tool of an earlier message runs, this one is answered at once; that tool's result is told when it is
        there, by a request of its own.

        Args:
            said: the user's words, or content parts.
            signal: stops the work; see :meth:`Request.run`.

        Returns:
            The agent's last message.

        Raises:
            AbortError: the signal was set.
            ModelError: the model failed.
        """
        return await self.begin(said, signal=signal).run()

    async def force_compaction(self) -> None:
        """Sum up the conversation: now, or, while a request is under way, when its round is over.

        Raises:
            DefinitionError: the glove was made without compaction.
        """
        if self.compaction is None:
            raise DefinitionError("this glove has no compaction; give it a Compaction when it is made")
        self.compaction_wanted = True
        if not self.floor.free:
            return
        async with self.floor.taken(None, urgent=False):
            await compact(self, self.conversation, UNPACED, force=True)

    async def aclose(self) -> None:
        """End what runs behind the conversation, and wait for what may not be ended. Idempotent.

        Results that nobody was told are kept in the conversation, which may be gone on with.
        """
        self.closing = True
        try:
            self.errands.abort("closed")
            await self.errands.drain()
            for call in self.errands.take():
                await keep_late(self, call)
        finally:
            self.closing = False

    async def record(self, text: str, *, interrupted: bool = False) -> None:
        """Make words the agent said without its model part of the conversation.

        Args:
            text: the words that were heard; nothing is stored when there are none.
            interrupted: whether there would have been more.
        """
        if not text.strip():
            return
        message = Message(sender="agent", text=text, id=self.new_id(), expected=self.expectation)
        await self.conversation.append(message)
        await self.store.settle(message.id, text, interrupted)


def _limits(**limits: int) -> Iterator[str]:
    for name, value in limits.items():
        if value < (1 if name == "max_turns" else 0):
            yield f"{name} is {value}; it cannot be negative, and a request needs a turn"
