"""A model of rules: it picks a tool, fills its input, and asks on what the tool asks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import date, datetime

from agents.core.late import read_late
from agents.core.messages import ToolCall
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, ToolSpec
from agents.offline.filling import fill
from agents.offline.interview import FILL, Interview
from agents.offline.picking import PLAIN, Pick, pick_all
from agents.offline.saying import (
    ALL_RIGHT,
    DROPPED,
    NOT_UNDERSTOOD,
    courtesy,
    excuse,
    is_stop,
    is_withdrawal,
    say_result,
)
from agents.offline.situation import Question, Situation, read_situation
from agents.offline.step import Step
from agents.reading.assent import read_yes_no
from agents.reading.fields import field_schema, is_free_text, read_value

__all__ = ["OfflineModel", "decide"]


FRAMEWORK = ("glove_", "record_fact")
"""How the names of tools begin that the framework brings."""


def _today() -> date:
    return datetime.now().astimezone().date()


class OfflineModel:
    """Answers without a network, the same way every time; all it knows is in the request, and what day it is.

    Args:
        today: tells the caller's day.
    """

    def __init__(self, today: Callable[[], date] = _today) -> None:
        self._today = today

    @property
    def name(self) -> str:
        """``offline``."""
        return "offline"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer in one piece."""
        # What the framework brings for models that plan (a list of tasks, say) is nothing a caller asks for in words.
        tools = [tool for tool in request.tools if tool.examples or not tool.name.startswith(FRAMEWORK)]
        latest = next(
            (message for message in reversed(request.messages) if message.framework_context != "runtime"), None
        )
        late = None if latest is None else read_late(latest)
        situation = read_situation(request.messages)
        # A call that was stopped in words is told of by the tool that stopped it.
        stopped = late is not None and late.status == "aborted" and bool(situation.outcomes)
        if late is None or stopped:
            step = self._interview(request, situation) or decide(situation, tools, self._today())
        else:
            step = Step(text=say_result(late))
        if step.text:
            yield TextChunk(text=step.text)
        made = sum(len(message.tool_calls) for message in request.messages)
        for number, (tool_name, inputs) in enumerate(step.calls, start=made + 1):
            yield ToolCalled(call=ToolCall(id=f"offline_{number}", tool_name=tool_name, input_args=inputs))
        yield ModelFinished(stop_reason="tool_calls" if step.calls else "stop")

    def _interview(self, request: ModelRequest, situation: Situation) -> Step | None:
        """What comes next where the agent has forms, if it has to do with one."""
        if not any(tool.name == FILL for tool in request.tools):
            return None
        return Interview(
            situation=situation, messages=request.messages, tools=request.tools, today=self._today()
        ).step()


def decide(situation: Situation, tools: Sequence[ToolSpec], today: date) -> Step:
    """Decide what comes next."""
    if situation.outcomes:
        return _after_a_call(situation)
    if situation.question is not None:
        return _to_an_answer(situation.utterance, situation.question, tools, today)
    return _to_a_request(situation.utterance, tools, today)


def _to_a_request(utterance: str, tools: Sequence[ToolSpec], today: date) -> Step:
    picks = pick_all(utterance, tools)
    return _calling(picks, today) if picks else Step(text=courtesy(utterance) or excuse(tools))


def _calling(picks: Sequence[Pick], today: date) -> Step:
    return Step(
        calls=tuple((picked.tool.name, fill(picked.tool.input_schema, picked.words, today)) for picked in picks)
    )


def _to_an_answer(utterance: str, question: Question, tools: Sequence[ToolSpec], today: date) -> Step:
    asking = next((tool for tool in tools if tool.name == question.tool_name), None)
    if asking is None:
        return _to_a_request(utterance, tools, today)
    if is_withdrawal(utterance):
        return Step(text=DROPPED)
    if question.field is None:
        # Without a yes the gate is still shut: calling again then only asks again.
        answered = read_yes_no(utterance)
        if answered is False:
            return Step(text=DROPPED)
        return Step(calls=((asking.name, question.inputs),)) if answered else _to_a_request(utterance, tools, today)
    field = field_schema(asking.input_schema, question.field)
    value = read_value(field, utterance, today)
    if value is None or is_free_text(field):
        if is_stop(utterance):
            return Step(text=f"{ALL_RIGHT} ", calls=((asking.name, question.inputs),))
        others = [tool for tool in tools if tool is not asking]
        # Of free words only the whole can be a request: a message may well have a question in it.
        picks = pick_all(utterance, others, whole_only=is_free_text(field))
        if requests := [picked for picked in picks if picked.score >= PLAIN]:
            return _calling(requests, today)
    given = {} if value is None else {question.field: value}
    return Step(calls=((asking.name, {**question.inputs, **given}),))


def _after_a_call(situation: Situation) -> Step:
    *_, latest = situation.outcomes
    question = situation.question
    everything = " ".join(say_result(outcome.result) for outcome in situation.outcomes)
    if question is None:
        return Step(text=everything)
    called = [outcome.call for outcome in situation.outcomes]
    asking = [call for call in called if call.tool_name == question.tool_name]
    if not asking:
        # The caller wanted something else first; the tool is called as before, so that it asks again.
        return Step(text=f"{everything} ", calls=((question.tool_name, question.inputs),))
    if latest.result.status == "error" and asking[-1].input_args != question.inputs:
        return Step(calls=((question.tool_name, question.inputs),))
    unread = asking[-1].input_args == question.inputs and len(asking) == len(called)
    unread = unread and not is_stop(situation.utterance)
    said = say_result(latest.result)
    return Step(text=f"{NOT_UNDERSTOOD} {said}" if unread and latest.question is not None else said)
