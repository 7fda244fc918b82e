"""One request: from the caller's words through model calls and tools to the last word of the reply."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from agents.core.abort import AbortSignal
from agents.core.expectation import ExpectedAnswer
from agents.core.heard import apportion
from agents.core.messages import Message, ToolCall, Usage
from agents.core.model import ModelFinished, ModelRequest, TextChunk, ToolCalled
from agents.core.pace import Pace
from agents.core.prompt import RESULTS_TEXT, assemble
from agents.core.tools import ToolContext

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["TURN_LIMIT_TEXT", "Request"]

TURN_LIMIT_TEXT = "I have gone back and forth over this too often; let us leave it there."
"""What the agent says when a request needed more model calls than it may have."""


class Request:
    """Made by :meth:`Glove.begin`; run once, then settled once when it was spoken.

    Attributes:
        replies: agent messages of this request that are in the store.
        partial: text of a model response that is not in the store, because the request was aborted or failed in it.
    """

    def __init__(self, glove: Glove, text: str, *, signal: AbortSignal, pace: Pace) -> None:
        self.replies: list[Message] = []
        self.partial = ""
        self._glove = glove
        self._text = text
        self._signal = signal
        self._pace = pace
        self._opened = False
        self._asked = False

    @property
    def worded(self) -> bool:
        """Whether there are words of which it must be settled what was heard."""
        return bool(self.partial or any(message.text for message in self.replies))

    async def open(self) -> None:
        """Make the caller's words part of the conversation. Idempotent; :meth:`run` does it first."""
        if not self._opened:
            self._opened = True
            await self._store([Message(sender="user", text=self._text, id=self._glove.new_id())])

    async def run(self) -> Message:
        """Answer.

        Returns:
            The agent message that ended the request.

        Raises:
            AbortError: the signal was set. Results of tools that had run are stored.
            ModelError: the model failed; the conversation is as it was after the last finished step.
        """
        await self.open()
        for _ in range(self._glove.max_turns):
            self._signal.raise_if_aborted()
            with self._signal.guard():
                response, usage = await self._respond()
            self._signal.raise_if_aborted()
            await self._keep(response, usage)
            if not response.tool_calls:
                return self._finish(response)
            results = await self._glove.executor.run(
                response.tool_calls, self._context, signal=self._signal, pace=self._pace
            )
            # Stored even when the round was aborted: what a tool did is done, and the model must know of it.
            message = Message(sender="user", text=RESULTS_TEXT, tool_results=results, id=self._glove.new_id())
            await self._store([message])
        return self._finish(await self._give_up())

    async def settle(self, heard: str, *, interrupted: bool) -> None:
        """Record what was heard of the replies; a partial one is stored now, if a word of it was heard.

        Args:
            heard: a prefix of all text of this request, joined.
            interrupted: whether the reply was cut. Messages heard whole are not marked.
        """
        await self.open()
        texts = [message.text for message in self.replies] + [self.partial]
        *shares, (last_heard, _) = apportion(texts, heard)
        for message, (part, whole) in zip(self.replies, shares, strict=True):
            if message.text.strip():
                await self._glove.store.settle(message.id, part, interrupted and not whole)
        if last_heard.strip():
            message = Message(sender="agent", text=self.partial, id=self._glove.new_id())
            await self._store([message])
            await self._glove.store.settle(message.id, last_heard, True)
        self.partial = ""

    async def _respond(self) -> tuple[Message, Usage]:
        """Make one model call; whatever of its text has come is in ``partial``."""
        glove = self._glove
        history, settlements = await glove.store.get_messages(), await glove.store.get_settlements()
        runtime = await glove.get_runtime_context(self._signal)
        request = ModelRequest(
            system_prompt=glove.system_prompt,
            messages=assemble(history, settlements, runtime),
            tools=tuple(tool.spec for tool in glove.tools),
        )
        used = {call.id for message in history for call in message.tool_calls}
        calls: list[ToolCall] = []
        finished = ModelFinished()
        async with aclosing(glove.model.stream(request)) as stream, aclosing(self._pace.model(stream)) as events:
            async for event in events:
                match event:
                    case TextChunk(text=text):
                        self.partial += text
                        await glove.subscribers.emit("text_delta", text=text)
                    case ToolCalled(call=call):
                        # Some servers number their calls anew in every response, or not at all.
                        call = call if call.id and call.id not in used else replace(call, id=glove.new_id())
                        used.add(call.id)
                        calls.append(call)
                        await glove.subscribers.emit("tool_use", id=call.id, name=call.tool_name, input=call.input_args)
                    case ModelFinished():
                        finished = event
        response = Message(
            sender="agent",
            text=self.partial,
            tool_calls=tuple(calls),
            id=glove.new_id(),
            reasoning_content=finished.reasoning_content,
            provider_options=finished.provider_options,
        )
        await glove.subscribers.emit(
            "model_response_complete",
            text=response.text,
            tool_calls=response.tool_calls,
            stop_reason=finished.stop_reason,
            **_known(finished.usage),
        )
        return response, finished.usage

    async def _keep(self, response: Message, usage: Usage) -> None:
        glove = self._glove
        await self._store([response])
        self.replies.append(response)
        self.partial = ""
        await glove.store.add_tokens(usage)
        await glove.subscribers.emit("token_consumption", consumption=_known(usage))
        await glove.store.increment_turn()

    async def _give_up(self) -> Message:
        glove = self._glove
        message = Message(sender="agent", text=TURN_LIMIT_TEXT, id=glove.new_id())
        await glove.subscribers.emit("text_delta", text=message.text)
        await glove.subscribers.emit("model_response_complete", text=message.text, tool_calls=())
        await self._store([message])
        self.replies.append(message)
        return message

    def _finish(self, response: Message) -> Message:
        if not self._asked:
            self._glove.expectation = None
        return response

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(
            glove=self._glove,
            signal=self._signal,
            call_id=call.id,
            display=self._glove.display,
            on_expect=self._expect,
        )

    def _expect(self, answer: ExpectedAnswer) -> None:
        self._asked = True
        self._glove.expectation = answer

    async def _store(self, messages: list[Message]) -> None:
        await self._glove.store.append_messages(messages)


def _known(usage: Usage) -> dict[str, Any]:
    return {name: count for name, count in asdict(usage).items() if count is not None}
