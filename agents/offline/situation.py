"""Where a conversation stands, read from its messages alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.core.messages import Message, ToolCall, ToolResultData
from agents.core.results import STILL_RUNNING

__all__ = ["Outcome", "Question", "Situation", "read_situation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a tool wants to know, because its result says so."""

    tool_name: str
    field: str | None
    """The input it wants; ``None``: leave, a yes or a no."""
    ask: str
    """The question, as a sentence."""
    inputs: dict[str, Any]
    """What the tool has been given so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A call of this turn with its result."""

    call: ToolCall
    result: ToolResultData

    @property
    def inputs(self) -> dict[str, Any]:
        """What the tool was given."""
        return dict(self.call.input_args) if isinstance(self.call.input_args, dict) else {}

    @property
    def question(self) -> Question | None:
        """What the tool asks now.

        A tool asks by the data of a successful result: ``ask`` is the sentence, ``field`` the input it wants, and
        ``so_far``, when given, the inputs to go on with (else those of the call). A call that needs leave has not
        been successful, and has only ``ask``.
        """
        data = self.result.data
        if self.result.status == "aborted" or not isinstance(data, dict):
            return None
        if self.result.status == "error":
            ask = None if "field" in data else data.get("ask")
            return Question(tool_name=self.call.tool_name, field=None, ask=ask, inputs=self.inputs) if ask else None
        ask, field, so_far = data.get("ask"), data.get("field"), data.get("so_far", self.call.input_args)
        if not isinstance(ask, str) or not isinstance(field, str):
            return None
        inputs = dict(so_far) if isinstance(so_far, dict) else {}
        return Question(tool_name=self.call.tool_name, field=field, ask=ask, inputs=inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the model must answer now."""

    utterance: str
    """What the caller said last; all of it, when it was not answered in between."""
    question: Question | None
    """What had been asked when the caller said it."""
    outcomes: tuple[Outcome, ...]
    """What was called since, in order."""


def read_situation(messages: Sequence[Message]) -> Situation:
    """Read where the conversation stands. What the framework told the model is left out."""
    history = [message for message in messages if message.framework_context is None]
    last = max((place for place, message in enumerate(history) if message.from_person), default=None)
    if last is None:
        return Situation(utterance="", question=None, outcomes=_outcomes(history))
    first, said = last, [history[last].text]
    for place in range(last - 1, -1, -1):
        message = history[place]
        if message.sender == "agent" and message.text.strip():
            break
        if any(result.result.data == STILL_RUNNING for result in message.tool_results):
            break  # What was said before it is being worked on.
        if message.from_person:
            first, said = place, [message.text, *said]
    turn = history[:first]
    begin = max((place for place, message in enumerate(turn) if message.from_person), default=0)
    before = _outcomes(turn[begin:])
    return Situation(
        utterance=" ".join(said),
        question=before[-1].question if before else None,
        outcomes=_outcomes(history[last + 1 :]),
    )


def _outcomes(messages: Sequence[Message]) -> tuple[Outcome, ...]:
    results = {result.call_id: result.result for message in messages for result in message.tool_results}
    calls = [call for message in messages for call in message.tool_calls]
    return tuple(Outcome(call=call, result=results[call.id]) for call in calls if call.id in results)
