"""One request: from the caller's words through model calls and tools to the last word of the reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agents.core.abort import AbortSignal
from agents.core.compaction import EARLY, compact
from agents.core.executor import OVERTAKEN, Outcome, Round
from agents.core.expectation import ExpectedAnswer
from agents.core.heard import apportion
from agents.core.inbox import deliver_inbox, inbox_reminder
from agents.core.late import as_late
from agents.core.messages import Message
from agents.core.opening import Opening, keep_late
from agents.core.pace import Pace
from agents.core.prompt import RESULTS_TEXT
from agents.core.response import Response, known, respond
from agents.core.running import RunningCall
from agents.core.store import Window
from agents.core.tools import Tool, ToolContext

if TYPE_CHECKING:
    from agents.core.draft import ModelDraft
    from agents.core.glove import Glove

__all__ = ["TURN_LIMIT_TEXT", "Request"]

logger = logging.getLogger(__name__)

TURN_LIMIT_TEXT = "I have gone back and forth over this too often; let us leave it there."
"""What the agent says when a request needed more model calls than it may have."""


class Request:
    """Made by :meth:`Glove.begin`; run once, then settled once when it was spoken.

    Attributes:
        replies: agent messages of this request that are in the store.
    """

    def __init__(
        self,
        glove: Glove,
        opening: Opening,
        *,
        signal: AbortSignal,
        pace: Pace,
        draft: ModelDraft | None = None,
        spoken: bool = False,
    ) -> None:
        self.replies: list[Message] = []
        self._parts: list[str] = []
        self._glove = glove
        self._kept = glove.conversation  # The one it began with, whatever the glove is given meanwhile.
        self._window: Window | None = None
        """What there is of the conversation, as far as this request knows; ``None``: it is to be read."""
        self._reminder: tuple[Message, ...] = ()
        self._reconsidered = False
        self._opening = opening
        self._signal = signal
        self._pace = pace
        self._draft = draft
        self._spoken = spoken
        self._way = AbortSignal()
        self._leaving = False
        self._in_round = False
        self._opened = False
        self._answers = False
        self._expected: ExpectedAnswer | None = None

    @property
    def partial(self) -> str:
        """Text of a model response that is not in the store, because the request was aborted or failed in it."""
        return "".join(self._parts)

    @property
    def worded(self) -> bool:
        """Whether there are words of which it must be settled what was heard."""
        return bool(any(self._parts) or any(message.text for message in self.replies))

    def make_way(self) -> None:
        """Let another request be answered soon: a tool that runs goes on behind the conversation. Idempotent."""
        self._way.abort("made way")

    def give_way(self) -> None:
        """End, because the caller goes on: the model call stops, a tool that runs goes on behind the conversation."""
        self._leaving = True
        self.make_way()
        if not self._in_round:
            self._signal.abort("gave way")

    async def open(self) -> None:
        """Make what begins the request part of the conversation. Idempotent; :meth:`run` does it first."""
        if not self._opened:
            self._opened = True
            # All at the same time: each takes a database's while, and somebody waits.
            seen, self._reminder, _ = await asyncio.gather(
                self._kept.read(), inbox_reminder(self._kept.store), deliver_inbox(self._kept)
            )
            self._answers, self._window = await self._opening.store(self._glove, self._kept, seen)

    async def run(self) -> Message:
        """Answer. A request that runs already goes first, but one that waits for a tool makes way for a person.

        Returns:
            The agent message that ended the request; an empty one when there was nothing to answer.

        Raises:
            AbortError: the signal was set. Results of tools that had run are stored.
            ModelError: the model failed; the conversation is as it was after the last finished step.
        """
        try:
            async with self._glove.floor.taken(self, urgent=self._opening.urgent):
                return await self._answer()
        finally:
            if self._draft is not None:
                self._draft.discard()

    async def _answer(self) -> Message:
        if not self._opened:
            # Before the words are stored, for behind them the model would be shown a summary and no question.
            await compact(self._glove, self._kept, self._pace, force=self._glove.compaction_wanted)
        await self.open()
        if not self._answers:
            return Message(sender="agent")
        if await self._glove.prepare_request(self._signal):
            self._window, self._reminder = None, await inbox_reminder(self._kept.store)
        self._expected = self._opening.expected
        for _ in range(self._glove.max_turns):
            self._signal.raise_if_aborted()
            with self._signal.guard():
                response = await respond(
                    self._glove,
                    self._kept,
                    window=self._window,
                    reminder=self._reminder,
                    signal=self._signal,
                    pace=self._pace,
                    draft=self._draft,
                    on_text=self._take,
                )
            self._signal.raise_if_aborted()
            window = response.window
            if response.message.tool_calls:
                window = await compact(self._glove, self._kept, self._pace, window=window, share=EARLY) or window
            message, others = await self._keep(response, window)
            if not message.tool_calls or not await self._run_tools(response, overtaken=bool(others)):
                self._signal.raise_if_aborted()
                return self._finish(message)
            await self._compact_after_round()
        return self._finish(await self._give_up())

    async def _compact_after_round(self) -> None:
        force, window = self._glove.compaction_wanted, self._window
        self._window = await compact(self._glove, self._kept, self._pace, window=window, force=force) or window

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        """Record what was heard of the replies; a partial one is stored now, if a word of it was heard.

        Args:
            heard: a prefix of all text of this request, joined.
            interrupted: whether the reply was cut. Messages heard whole are not marked.
        """
        await self.open()
        texts = [message.text for message in self.replies] + [self.partial]
        *shares, (last_heard, _) = apportion(texts, heard)
        self._glove.permissions.told(self.replies, "".join(texts), heard)
        for message, (part, whole) in zip(self.replies, shares, strict=True):
            if message.text.strip():
                await self._kept.store.settle(message.id, part, interrupted and not whole)
        if last_heard.strip():
            expected = self._glove.expectation
            message = Message(sender="agent", text=self.partial, id=self._glove.new_id(), expected=expected)
            await self._kept.append(message)
            await self._kept.store.settle(message.id, last_heard, True)
        self._parts.clear()

    # ---------------------------------------------------------------------------------------------- the responses

    def _take(self, text: str) -> None:
        self._parts.append(text)

    async def _keep(self, response: Response, window: Window) -> tuple[Message, Sequence[Message]]:
        """Store a response, counted with what it used.

        Args:
            response: what the model answered.
            window: the conversation it stands behind.

        Returns:
            The message, and what others have added since the model was asked.
        """
        message = response.message
        if not message.tool_calls:
            message = replace(message, expected=self._asked)
        followed = await self._kept.append_after(
            window, lambda _: message, usage=response.usage, during="while the model answered"
        )
        self._window = followed.window
        self.replies.append(message)
        self._parts.clear()
        await self._glove.subscribers.emit("token_consumption", consumption=known(response.usage))
        return message, followed.others

    async def _give_up(self) -> Message:
        glove = self._glove
        message = Message(sender="agent", text=TURN_LIMIT_TEXT, id=glove.new_id(), expected=self._asked)
        await glove.subscribers.emit("text_delta", text=message.text)
        await glove.subscribers.emit("model_response_complete", text=message.text, tool_calls=())
        await self._kept.append(message)
        self.replies.append(message)
        return message

    @property
    def _asked(self) -> ExpectedAnswer | None:
        """What the reply asks for: what a tool of this request said, else what stands open."""
        return self._expected or self._glove.open_question

    def _finish(self, response: Message) -> Message:
        self._glove.expectation = self._asked
        if not self._spoken:  # What is read is read whole; what is spoken is settled when it was heard.
            said = "".join(message.text for message in self.replies)
            self._glove.permissions.told(self.replies, said, said)
        return response

    # -------------------------------------------------------------------------------------------------- the tools

    async def _run_tools(self, response: Response, *, overtaken: bool) -> bool:
        """Run a response's calls and store their results.

        Args:
            response: what the model answered.
            overtaken: whether others had added something before it was stored: then the model decides again, once.

        Returns:
            Whether the model is to go on: no call is still running.
        """
        glove, message = self._glove, response.message

        def context(running: RunningCall, tool: Tool) -> ToolContext:
            key = response.identities.key(message.id, running.call)
            return ToolContext(glove=glove, store=self._kept.store, tool=tool, running=running, idempotency_key=key)

        round = Round(
            message_id=message.id,
            calls=message.tool_calls,
            tools=response.tools,
            kept=self._kept,
            signal=self._signal,
            way=self._way,
            pace=self._pace,
            context=context,
            keep=partial(self._keep_results, message.id),
            late=self._late,
            instead=OVERTAKEN if overtaken and not self._reconsidered else None,
        )
        self._reconsidered |= overtaken
        self._in_round = True
        try:
            outcome = await glove.executor.run(round)
        finally:
            self._in_round = False
        if self._leaving and not outcome.running:
            self._signal.abort("gave way")
        return not outcome.running

    async def _keep_results(self, called_in: str, outcome: Outcome) -> None:
        """Store the results of a round, aborted or not: what a tool did is done, and the model must know of it."""
        self._expected = outcome.expected or self._expected
        results = Message(
            sender="user",
            text=RESULTS_TEXT,
            tool_results=outcome.results,
            id=self._glove.new_id(),
            expected=self._expected if outcome.running else None,
        )

        def placed(window: Window) -> Message:
            # Behind a summary that others made meanwhile nobody would see whose results these are.
            return results if any(message.id == called_in for message in window.messages) else as_late(results)

        seen = self._window or await self._kept.read()
        self._window = (await self._kept.append_after(seen, placed, during="while tools ran")).window

    async def _late(self, running: RunningCall) -> None:
        """Take the result of a call that outlived its round, and see that it is told."""
        glove = self._glove
        if running.dismissed or glove.closing:
            glove.errands.forget(running)
            await keep_late(glove, running)
            return
        glove.errands.ended(running)
        if glove.errands.on_result is not None:
            glove.errands.on_result()
            return
        try:
            await glove.begin_report(pace=self._pace).run()
        except Exception as exc:  # noqa: BLE001 - the boundary of a task nobody awaits; the result itself is stored
            logger.warning("telling the result of a slow tool failed with %s", type(exc).__name__)
