"""What the model is shown of a conversation: what was heard, every call with its result, context at the tail.

The one place where history is repaired, so that no adapter has to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.core.late import late_message
from agents.core.messages import Message, Settlement, ToolCall, ToolResult, ToolResultData
from agents.core.results import STILL_RUNNING

__all__ = ["INTERRUPTED_NOTE", "RESULTS_TEXT", "History", "assemble", "open_calls"]

RESULTS_TEXT = "Results of the tool calls above."
"""The text of a message that carries tool results."""

INTERRUPTED_NOTE = (
    "The caller interrupted you here. Your last words were heard as far as they are written above; "
    "whatever you said or meant to say after them was not heard."
)
"""What the model is told behind a message that was cut."""

ORPHANED = ToolResultData(status="aborted", message="The request ended before this call had a result.")
LOST = ToolResultData(status="aborted", message="The program ended while this ran; nobody knows what it has done.")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A conversation, and what else is known of it."""

    messages: Sequence[Message]
    settlements: Mapping[str, Settlement] = field(default_factory=dict)
    """What was heard, by message id."""
    recorded: Mapping[str, ToolResult] = field(default_factory=dict)
    """Results that are not in a message, by call id."""
    lost: Sequence[tuple[Message, ToolCall]] = ()
    """Calls of which nothing tells how they ended, each with the message that made it."""
    running: Collection[str] = ()
    """Ids of calls that outlived their rounds and still run, or whose result was not told yet."""
    summarised: bool = False
    """Whether results of earlier turns are shown as their summaries, where they have one."""


def assemble(history: History, runtime: Sequence[Message] = ()) -> tuple[Message, ...]:
    """Make a model's input from what is stored.

    An interrupted agent message is cut to the words heard and followed by a note. Results stand directly behind their
    calls, wherever they were stored; a call without a result (the process died, the round was aborted) gets one that
    says so, and a result without a call is left out. The late result of a call that outlived its round is told where
    it was stored.

    Args:
        history: the conversation.
        runtime: what the model must know now; put at the very end.
    """
    repair = _Repair(history)
    shown: list[Message] = []
    for place, message in enumerate(history.messages):
        if message.tool_results and message.framework_context is None:
            continue  # They stand behind their calls.
        if message.tool_calls or message.tool_results or message.id in history.settlements:
            shown.extend(repair.parts(place, message))
        elif message.text or message.content:  # Nearly all of a long conversation: there is nothing to repair.
            shown.append(message)
    return (*shown, *runtime)


def open_calls(messages: Sequence[Message]) -> list[tuple[Message, ToolCall]]:
    """The calls of which the messages do not tell how they ended, each with the message that made it."""
    results, late = _results(messages)
    known = {call_id for call_id, result in results.items() if not _is_running(result)} | late.keys()
    if known >= {call.id for message in messages for call in message.tool_calls}:  # Nearly always.
        return []
    return [(message, call) for message in messages for call in message.tool_calls if call.id not in known]


class _Repair:
    def __init__(self, history: History) -> None:
        self._history = history
        self._results, self._late = _results(history.messages)
        self._called = {call.id for message in history.messages for call in message.tool_calls}
        self._boundary = _last_from_person(history.messages) if history.summarised else -1
        """Results up to this place are shown as summaries."""

    def parts(self, place: int, message: Message) -> Iterator[Message]:
        """What is shown of one message."""
        if message.tool_results:
            if message.framework_context == "tool_result":
                yield from self._told(place, message)
            return
        settlement = self._history.settlements.get(message.id)
        cut = settlement is not None and settlement.interrupted
        if settlement is not None and cut:
            message = replace(message, text=settlement.heard.strip())
        if message.text or message.tool_calls or message.content:
            yield message
        if message.tool_calls:
            outcomes = tuple([self._summarised(place, self._outcome(call)) for call in message.tool_calls])
            yield Message(sender="user", text=RESULTS_TEXT, tool_results=outcomes)
        if cut and message.text:
            yield Message(sender="user", text=INTERRUPTED_NOTE, framework_context="runtime")

    def _told(self, place: int, message: Message) -> Iterator[Message]:
        """A late result, as text; one whose round is shown and has no result of its own stands there instead."""
        for result in message.tool_results:
            apart = result.call_id in self._results or result.call_id not in self._called
            if apart and self._late.get(result.call_id) is result:
                yield late_message(self._summarised(place, result))

    def _outcome(self, call: ToolCall) -> ToolResult:
        stored = self._results.get(call.id)
        if stored is not None and not (_is_running(stored) and self._is_lost(call.id)):
            return stored
        known = self._history.recorded.get(call.id) or (self._late.get(call.id) if stored is None else None)
        if known is not None:
            return known
        return ToolResult(tool_name=call.tool_name, call_id=call.id, result=LOST if stored else ORPHANED)

    def _is_lost(self, call_id: str) -> bool:
        return call_id not in self._late and call_id not in self._history.running

    def _summarised(self, place: int, result: ToolResult) -> ToolResult:
        if place > self._boundary or result.result.summary is None:
            return result
        return replace(result, result=replace(result.result, data=result.result.summary))


def _results(messages: Sequence[Message]) -> tuple[dict[str, ToolResult], dict[str, ToolResult]]:
    """Results stored with their rounds, and late ones, by call id. The first of a call holds."""
    results: dict[str, ToolResult] = {}
    late: dict[str, ToolResult] = {}
    for message in messages:
        if message.tool_results:
            kind = late if message.framework_context == "tool_result" else results
            for result in message.tool_results:
                kind.setdefault(result.call_id, result)
    return results, late


def _last_from_person(messages: Sequence[Message]) -> int:
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if messages[place].from_person), -1)


def _is_running(result: ToolResult) -> bool:
    return bool(result.result.data == STILL_RUNNING)
