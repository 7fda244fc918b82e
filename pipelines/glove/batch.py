"""A batch: the calls of one reply of a speech-to-speech model, run as a request would run them.

Above: ``tool_host`` makes one of each reply with calls. Below: the executor, with its validation, permission, retries,
summaries and slow tools that go on behind the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from agents.core.abort import AbortSignal
from agents.core.executor import Outcome, Round
from agents.core.glove import Glove
from agents.core.messages import Message, ToolCall, ToolResult, ToolResultData
from agents.core.pace import Pace
from agents.core.prompt import RESULTS_TEXT
from agents.core.running import RunningCall
from agents.core.tools import Tool, ToolContext
from pipelines.glove.explained import explained
from pipelines.realtime.base import ToolAnswer

__all__ = ["WITHHELD", "GloveBatch"]

WITHHELD = ToolResultData(
    status="aborted",
    message="Not run, because the caller interrupted you while you made this call. Make it again if it is wanted.",
)
"""The result of calls that a void reply made."""


class GloveBatch:
    """The calls of one message.

    Args:
        glove: whose.
        pace: accounts for the waits.
        message: that made them; it is kept.
        wire_ids: the ids they have on the wire, in order.
        tools: what the model was offered, by lower-case name.
        key: makes a call's idempotency key.
        take_charge: called in the task that runs them, so that what they tell is known to be theirs.
        late: takes the result of a call that outlives the batch.
    """

    def __init__(
        self,
        glove: Glove,
        pace: Pace,
        message: Message,
        *,
        wire_ids: Sequence[str],
        tools: Mapping[str, Tool],
        key: Callable[[ToolCall], str],
        take_charge: Callable[[], None],
        late: Callable[[RunningCall], Awaitable[None]],
    ) -> None:
        self.message = message.id
        self._glove = glove
        self._kept = glove.conversation
        self._pace = pace
        self._made = message
        self._wire_ids = wire_ids
        self._tools = tools
        self._key = key
        self._take_charge = take_charge
        self._late = late
        self._way = AbortSignal()
        self._signal = AbortSignal()
        self._instead: ToolResultData | None = None

    async def run(self) -> tuple[ToolAnswer, ...]:
        """Run them; nobody else talks to the agent meanwhile, for a chat may do that too."""
        self._take_charge()
        with explained("the results of tools could not be kept"):
            async with self._glove.floor.taken(self, urgent=True):
                results = await self._run()
        return tuple(
            ToolAnswer(call_id=wire_id, name=result.tool_name, output=_output(result.result))
            for wire_id, result in zip(self._wire_ids, results, strict=True)
        )

    def give_way(self) -> None:
        """Go on behind the conversation."""
        self._way.abort("the caller went on")

    def make_way(self) -> None:
        """Somebody else wants to talk to the agent."""
        self.give_way()

    def abort(self) -> None:
        """Stop what may be stopped."""
        self._signal.abort()

    def withhold(self) -> None:
        """Run none of them."""
        self._instead = WITHHELD

    async def _run(self) -> tuple[ToolResult, ...]:
        outcome = await self._glove.executor.run(
            Round(
                message_id=self.message,
                calls=self._made.tool_calls,
                tools=self._tools,
                kept=self._kept,
                signal=self._signal,
                way=self._way,
                pace=self._pace,
                context=self._context,
                keep=self._keep,
                late=self._late,
                instead=self._instead,
            )
        )
        self._glove.expectation = outcome.expected or self._glove.open_question
        return outcome.results

    def _context(self, running: RunningCall, tool: Tool) -> ToolContext:
        key = self._key(running.call)
        return ToolContext(glove=self._glove, store=self._kept.store, tool=tool, running=running, idempotency_key=key)

    async def _keep(self, outcome: Outcome) -> None:
        results = Message(
            sender="user",
            text=RESULTS_TEXT,
            tool_results=outcome.results,
            id=self._glove.new_id(),
            expected=outcome.expected if outcome.running else None,
        )
        await self._kept.append(results)


def _output(result: ToolResultData) -> str:
    """Write a result for the wire: what only a screen is shown is left out."""
    told = {"status": result.status, "data": result.data, "message": result.message}
    return json.dumps(told, ensure_ascii=False, default=str)
