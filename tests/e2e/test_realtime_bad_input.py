"""A provider that talks nonsense in the middle of a call: the call goes on, and nothing is run or stored twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.tools import Tool, ToolContext
from agents.models.driven import s2s_driven_model
from agents.stores.memory import MemoryStore
from pipelines.audio.frame import Samples
from pipelines.events import ToolReturned, UtteranceEnded
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.openai.adapter import OpenAIRealtime
from tests.realtime.brisk import BriskClock
from tests.realtime.holding import Desk, hold
from tests.realtime.mind import Said, Thought, View, tone
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

PACE = 5.0

JUNK = (
    {"type": "response.telepathy.delta", "thought": "?"},
    {"type": "response.output_audio.delta", "response_id": "resp_none", "item_id": "item_none", "delta": "AAAA"},
    {"type": "response.output_audio.delta"},
    {"type": "response.output_audio_transcript.delta", "item_id": None, "delta": 7},
    {"type": "conversation.item.input_audio_transcription.completed", "item_id": 3, "transcript": "Ghost."},
    {"type": "response.done", "response": {"id": "resp_none", "status": "perhaps", "output": [None]}},
    {"type": "conversation.item.deleted"},
    {"no": "type"},
)


class Raving:
    """A mind that sends nonsense, calls a tool in four wrong ways and two right ones, and then answers."""

    def __init__(self) -> None:
        self.service: OpenAIService | None = None
        self._responses = 0

    async def transcribe(self, samples: Samples, view: View) -> str:
        return ""

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        assert self.service is not None
        session, self._responses = self.service.session, self._responses + 1
        for message in JUNK:
            session.emit(dict(message))
        if self._responses > 1:
            yield Said(text="It is done.", samples=tone("It is done."))
            return
        response = session.response
        assert response is not None
        response.call("count", '{"by": 1}', "call_a")
        response.call("count", '{"by": 1}', "call_a")
        response.call("count", '{"by": ', "call_b")
        response.call("count", '{"by": "many"}', "call_c")
        response.call("no_such_tool", "{}", "call_d")
        response.call("count", '{"by": 1}', "call_e")


class Step(BaseModel):
    by: int


async def test_nonsense_of_a_provider_s_is_survived_and_nothing_is_run_or_stored_twice() -> None:
    counted: list[str] = []

    def count(given: Step, ctx: ToolContext) -> str:
        counted.append(ctx.idempotency_key)
        return "counted"

    store = MemoryStore()
    glove = Glove(model=s2s_driven_model("openai"), store=store)
    glove.fold(Tool(name="count", description="Count.", input=Step, do=count))
    clock = BriskClock(PACE)

    async def type_in(pipeline: RealtimePipeline) -> None:
        pipeline.type_in("Count, please.")
        while pipeline.idle:
            await clock.sleep(0.05)
        while not pipeline.idle:
            await clock.sleep(0.05)

    mind = Raving()
    async with OpenAIService(mind) as service:
        mind.service = service
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)
        told = await hold(glove, adapter, Desk(type_in), clock)
        results = Counter(
            item.call_id for item in service.session.conversation.items if item.type == "function_call_output"
        )
    assert len(counted) == len(set(counted)) == 2, "the right calls, once each"
    assert results == Counter(["call_a", "call_b", "call_c", "call_d", "call_e"])
    assert Counter(event.status for event in told if isinstance(event, ToolReturned)) == {"success": 2, "error": 3}
    assert [event.heard for event in told if isinstance(event, UtteranceEnded)] == ["It is done."]
    window = await store.get_window()
    said = [(message.sender, message.text) for message in window.messages if not message.tool_results and message.text]
    assert said == [("user", "Count, please."), ("agent", "It is done.")]
    stored = [result.call_id for message in window.messages for result in message.tool_results]
    assert len(stored) == len(set(stored)) == 5
