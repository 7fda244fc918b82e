"""Models that go wrong for ever: the host gets a sentence, and the conversation is usable afterwards."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from agents.core.glove import Glove
from agents.core.messages import ToolCall
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, ToolCalled
from agents.core.request import TURN_LIMIT_TEXT
from agents.core.tools import Tool
from agents.models.openai_wire import write_messages
from agents.models.scripted import ScriptedModel
from tests.agents.core.scenes import Anything, echo
from tests.agents.models.completions_server import complaints

TURNS = 7


class Stuck:
    """Makes the same calls in every response, under ids of its own, and never says a word."""

    name = "stuck"

    def __init__(self, *calls: ToolCall) -> None:
        self.calls = calls
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        for call in self.calls:
            yield ToolCalled(call=call)
        yield ModelFinished(stop_reason="tool_calls")


def _call(name: str, given: object, id: str = "call_0") -> ToolCall:
    return ToolCall(id=id, tool_name=name, input_args=given)


def _raise(given: Anything, ctx: object) -> str:
    raise ValueError("no")


CALLS = {
    "a call that works": (_call("echo", {"word": "x"}),),
    "an unknown tool": (_call("nothing_like_it", {}),),
    "a tool without a name": (_call("", {}),),
    "a call without an id": (_call("echo", {}, id=""),),
    "the same id twice": (_call("echo", {"word": "x"}), _call("echo", {"word": "y"})),
    "broken JSON": (_call("echo", '{"word": "x'),),
    "a list for an object": (_call("echo", ["x"]),),
    "arguments of another type": (_call("echo", {"word": {"deep": [None]}}),),
    "a tool that raises": (_call("fail", {}),),
    "a tool whose result is no JSON": (_call("odd", {}),),
    "all of it at once": (
        _call("nope", {}), _call("echo", "{"), _call("fail", {}), _call("odd", {}), _call("echo", {"word": "x"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
async def test_an_endless_loop_of_calls_is_given_up_in_words_and_the_next_message_is_answered(
    calls: tuple[ToolCall, ...],
) -> None:
    stuck = Stuck(*calls)
    glove = Glove(model=stuck, max_turns=TURNS, max_retries=0).fold(
        echo(),
        Tool(name="fail", description="Fails.", input=Anything, do=_raise),
        Tool(name="odd", description="Returns a set.", input=Anything, do=lambda given, ctx: {1: object()}),
    )
    assert (await glove.process_request("Go")).text == TURN_LIMIT_TEXT
    assert len(stuck.requests) == TURNS

    glove.model = model = ScriptedModel(["Here I am."])
    assert (await glove.process_request("Are you there?")).text == "Here I am."
    wire = write_messages(model.requests[0])
    assert complaints({"stream": True, "stream_options": {"include_usage": True}, "messages": wire}) == []
    stored = await glove.store.get_messages()
    made = [call.id for message in stored for call in message.tool_calls]
    assert len(set(made)) == len(made) == TURNS * len(calls)
    assert made == [result.call_id for message in stored for result in message.tool_results]
    for result in (result for message in stored for result in message.tool_results):
        assert result.result.status == "success" or result.result.message, "an error the model can act on"
