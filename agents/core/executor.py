"""Run the tool calls of a model response, one after the other, each to exactly one result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.core.abort import AbortSignal
from agents.core.conversation import Conversation
from agents.core.errands import Errands
from agents.core.errors import AbortError, SlotRejectedError
from agents.core.events import Subscribers
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import ToolCall, ToolResult, ToolResultData
from agents.core.pace import Pace
from agents.core.permissions import Permissions
from agents.core.results import STILL_RUNNING
from agents.core.running import RunningCall
from agents.core.store import results_of
from agents.core.tools import InvalidInputError, Tool, ToolContext

__all__ = ["OVERTAKEN", "PATIENCE_S", "TOOL_INPUT_INVALID", "Executor", "Outcome", "Round"]

logger = logging.getLogger(__name__)

TOOL_INPUT_INVALID = "TOOL_INPUT_INVALID"
"""The error message of a call whose input did not fit the tool."""

ERROR_LIMIT = 2_000
"""Characters of an error that reach the model: enough to mend the call, too few to crowd out the conversation."""

NAME_LIMIT = 80
"""Characters of a tool name the model made up that are repeated to it."""

PATIENCE_S = 0.05
"""How long a call may go on when the round is to be settled without it: no tool that ends by then is a slow one, and
nobody hears a twentieth of a second."""

NOT_STARTED = ToolResultData(
    status="aborted", message="Not started, because the user went on. Make the call again if it is still wanted."
)
OVERTAKEN = ToolResultData(
    status="aborted",
    message="Not run, because somebody else has added to this conversation while you decided. Look at what is there "
    "now, and make the call again if it is still right.",
)
ABORTED_BEFORE = ToolResultData(status="aborted", message="Not started: the request was aborted before.")
ABORTED = ToolResultData(status="aborted", message="Stopped: the request was aborted while this ran.")
LEFT_BEHIND = ToolResultData(status="aborted", message="Told to stop, and it did not; nobody knows what it has done.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The calls of one model response, and what they run with."""

    message_id: str
    """The stored message that made them."""
    calls: Sequence[ToolCall]
    tools: Mapping[str, Tool]
    """What the model was offered, by lower-case name."""
    kept: Conversation
    signal: AbortSignal
    """Stops the round and what of it may be stopped."""
    way: AbortSignal
    """Settles the round without the call that runs, which goes on."""
    pace: Pace
    context: Callable[[RunningCall, Tool], ToolContext]
    keep: Callable[[Outcome], Awaitable[None]]
    """Stores the results of the round."""
    late: Callable[[RunningCall], Awaitable[None]]
    """Takes the result of a call that went on, when it has one."""
    instead: ToolResultData | None = None
    """What every call gets instead of being run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a round ended."""

    results: tuple[ToolResult, ...]
    """One per call, in order."""
    expected: ExpectedAnswer | None
    """What the latest question in the results wants."""
    running: bool
    """Whether one of the calls goes on."""


class Executor:
    """Runs calls in the model's order; whatever a tool does wrong becomes a result the model can read.

    Args:
        subscribers: who is told of each result.
        permissions: who may do what.
        errands: takes charge of calls that outlive their rounds.
        retries: how often a tool that raised is run again, unless it says otherwise itself.
    """

    def __init__(self, subscribers: Subscribers, permissions: Permissions, errands: Errands, *, retries: int) -> None:
        self._subscribers = subscribers
        self._permissions = permissions
        self._errands = errands
        self._retries = retries

    async def run(self, round: Round) -> Outcome:
        """Run all calls. An abort ends the running one at once, and the later ones before they start.

        A result is stored before anybody is told of it and before the next call runs: by itself, or, where no call
        runs any more, with the round.

        Cancelling it stops the running call, unless that may not be stopped: then it goes on, detached.
        """
        results: list[ToolResult] = []
        untold: list[ToolResult] = []
        expected: ExpectedAnswer | None = None
        rest = round.instead
        goes_on = False
        for call in round.calls:
            if rest is not None:
                untold.append(_result(call, rest))
                results.append(untold[-1])
                continue
            while untold:
                await self._record(round, untold[0])
                await self._tell(untold.pop(0))
            aborted_before = round.signal.aborted
            running = RunningCall(call, kept=round.kept, started=round.pace.now())
            if not await self._attend(running, round):
                results.append(_result(call, ToolResultData(status="success", data=STILL_RUNNING)))
                rest, goes_on = NOT_STARTED, True
                continue
            expected = running.expected or expected
            untold.append(running.result or _timed(running, LEFT_BEHIND, round.pace))
            results.append(untold[-1])
            if untold[-1].result.status == "aborted" and not aborted_before:
                rest = ABORTED_BEFORE
            elif round.way.aborted:
                rest = NOT_STARTED
        outcome = Outcome(results=tuple(results), expected=expected, running=goes_on)
        await round.keep(outcome)
        for result in untold:
            await self._tell(result)
        return outcome

    async def _attend(self, running: RunningCall, round: Round) -> bool:
        """Start a call and wait for its end.

        Returns:
            Whether it ended; else it goes on without its round.
        """
        running.follow(round.signal)
        task = running.start(self._work(running, round))
        try:
            if not await _wait(running, round.way):
                self._detach(running, task)
                return False
        except asyncio.CancelledError:
            running.abort("cancelled")
            if not running.protected:
                await running.wait()
            if running.protected and running.result is None:
                self._detach(running, task)
            raise
        if running.failure is not None:
            raise running.failure
        if running.signal.aborted and not running.timed_out:
            round.signal.abort(running.signal.reason)  # A tool that ends its call so ends the request.
        return True

    def _detach(self, running: RunningCall, task: asyncio.Task[None]) -> None:
        running.detached = True
        self._errands.add(running, task)

    async def _work(self, running: RunningCall, round: Round) -> None:
        """Do everything a call needs, from its permission to its summary."""
        outcome = await self._outcome(running, round)
        running.finish(_timed(running, outcome, round.pace))
        if running.detached and running.result is not None:
            await self._record(round, running.result)
            await self._tell(running.result)
            await round.late(running)

    async def _record(self, round: Round, result: ToolResult) -> None:
        """Keep a result that no message carries yet, so that no crash makes the call run again."""
        if (records := results_of(round.kept.store)) is not None:
            await records.record_result(round.message_id, result)

    async def _tell(self, result: ToolResult) -> None:
        """Tell who watches."""
        await self._subscribers.emit(
            "tool_use_result",
            tool_name=result.tool_name,
            call_id=result.call_id,
            result=result.result,
            duration_ms=result.duration_ms,
            id=result.call_id,
            name=result.tool_name,
        )

    # ------------------------------------------------------------------------------------------------ one call

    async def _outcome(self, running: RunningCall, round: Round) -> ToolResultData:
        call = running.call
        tool = round.tools.get(call.tool_name.lower())
        if running.signal.aborted and not (tool is not None and tool.unabortable):
            return ABORTED_BEFORE
        if tool is None:
            return _unknown(call.tool_name, [known.name for known in round.tools.values()])
        context = round.context(running, tool)
        try:
            refusal = await self._gate(running, tool, context, round)
        except AbortError:
            return ABORTED_BEFORE
        if refusal is not None:
            return refusal
        try:
            value = tool.read(call.input_args)
        except InvalidInputError as exc:
            return ToolResultData(status="error", message=TOOL_INPUT_INVALID, data={"problems": exc.problems})
        if not tool.unabortable:
            return await self._run(running, tool, value, context, round)
        running.protected = True
        return await self._try(running, tool, value, context, round)

    async def _gate(
        self, running: RunningCall, tool: Tool, context: ToolContext, round: Round
    ) -> ToolResultData | None:
        """Ask for leave; an abort takes the question back."""
        if not tool.requires_permission:
            return None
        with running.signal.guard():
            refusal, running.expected = await self._permissions.check(
                tool,
                running.call.input_args,
                called_in=round.message_id,
                store=round.kept.store,
                display=context.glove.display,
            )
            return refusal

    async def _run(
        self, running: RunningCall, tool: Tool, value: object, context: ToolContext, round: Round
    ) -> ToolResultData:
        """Run what may be stopped."""
        timer = None
        if tool.timeout_s is not None:
            timer = asyncio.get_running_loop().call_later(tool.timeout_s, running.time_out)
        try:
            with running.signal.guard():
                return await self._try(running, tool, value, context, round)
        except AbortError:
            if not running.timed_out:
                return ABORTED
            message = f"Stopped, because it took longer than {tool.timeout_s:g} seconds; nobody knows what it has done."
            return ToolResultData(status="error", message=message)
        finally:
            if timer is not None:
                timer.cancel()

    async def _try(
        self, running: RunningCall, tool: Tool, value: object, context: ToolContext, round: Round
    ) -> ToolResultData:
        """Run a tool, again when it raises; a result it returns is final, whatever its status."""
        attempts = 1 + (self._retries if tool.retries is None else tool.retries)
        failure = ""
        for attempt in range(1, attempts + 1):
            try:
                async with round.pace.tool(tool.name) as running.work:
                    result = await tool.run(value, context)
                return replace(result, summary=await tool.summarise(result))
            except SlotRejectedError as exc:
                return ToolResultData(status="error", message=f"The user gave no answer on the screen: {exc}.")
            except (Exception, asyncio.CancelledError) as exc:
                if isinstance(exc, asyncio.CancelledError) and _is_cancelled():
                    raise
                # Without the exception's own text, which may quote the caller.
                logger.warning(
                    "tool %r raised %s in attempt %d of %d", tool.name, type(exc).__name__, attempt, attempts
                )
                failure = f"{type(exc).__name__}: {exc}"[:ERROR_LIMIT]
                if running.signal.aborted and not tool.unabortable:
                    break
        note = f"It failed in {attempt} of {attempts} attempts. Stop here: do not make the same call again."
        return ToolResultData(status="error", message=failure, data=note)


async def _wait(running: RunningCall, way: AbortSignal) -> bool:
    """Wait for a call's end; a little while only, when it is to make way. Return whether it ended."""
    try:
        with way.guard():
            return await running.wait()
    except AbortError:
        return await running.wait(PATIENCE_S)


def _result(call: ToolCall, outcome: ToolResultData) -> ToolResult:
    return ToolResult(tool_name=call.tool_name, call_id=call.id, result=outcome)


def _timed(running: RunningCall, outcome: ToolResultData, pace: Pace) -> ToolResult:
    return replace(_result(running.call, outcome), duration_ms=(pace.now() - running.started) * 1000)


def _is_cancelled() -> bool:
    """Whether somebody cancels the running call, and not the tool something of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _unknown(name: str, names: list[str]) -> ToolResultData:
    asked = name.lower()
    close = [known for known in names if asked and (asked in known.lower() or known.lower() in asked)]
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    known = ", ".join(names) or "none"
    return ToolResultData(
        status="error", message=f"There is no tool {name[:NAME_LIMIT]!r}.{hint} The tools are: {known}."
    )
