"""Tests of ``mind`` and ``local_mind``: a mind knows what is on the wire, and nothing else."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np
import pytest

from agents.core.model import ToolSpec
from agents.models.wording import tool_description
from pipelines.audio.frame import Samples
from pipelines.realtime.base import Snapshot
from pipelines.realtime.wording import snapshot_text
from tests.realtime.local_mind import LocalMind, as_request
from tests.realtime.mind import Call, Called, Offer, Result, Said, ScriptedMind, View, Words, latest_context, tone

AUDIO = Path(__file__).parents[1] / "fixtures" / "audio"


@pytest.fixture(scope="module")
def mind() -> LocalMind:
    made = LocalMind()
    made.warm()
    return made


def _recorded(name: str) -> Samples:
    with wave.open(str(AUDIO / name)) as recording:
        return np.frombuffer(recording.readframes(recording.getnframes()), np.int16)


def test_a_tone_is_as_long_as_its_words() -> None:
    assert len(tone("three short words", word_s=0.1)) == 3 * 2_400
    assert len(tone("")) == 0


async def test_a_scripted_mind_answers_what_it_was_told_to() -> None:
    mind = ScriptedMind(hears=["Hello."], answers=[["Hi.", Called(name="look", arguments={"at": 1})]])
    assert await mind.transcribe(tone("hello"), View()) == "Hello."
    said, called = [thought async for thought in mind.respond(View())]
    assert isinstance(said, Said)
    assert said.text == "Hi."
    assert called == Called(name="look", arguments={"at": 1})


async def test_a_response_beyond_the_script_is_an_error() -> None:
    with pytest.raises(AssertionError, match="not in the script"):
        _ = [thought async for thought in ScriptedMind().respond(View())]


def test_of_the_contexts_the_highest_version_holds_wherever_it_stands() -> None:
    old, new = Snapshot(version=2, text="GOALS old"), Snapshot(version=3, text="GOALS new\nmore")
    view = View(
        instructions="Be kind.\n" + snapshot_text(Snapshot(version=1, text="first")),
        items=[
            Call(call_id="a", name="look"),
            Result(call_id="a", output=json.dumps({"output": {"status": "success"}, "context": snapshot_text(new)})),
            Words(role="system", text=snapshot_text(old)),
        ],
    )
    latest = latest_context(view)
    assert latest is not None
    assert (latest.version, latest.text) == (3, "GOALS new\nmore")
    told = [message for message in as_request(view).messages if message.framework_context == "runtime"]
    assert [message.text for message in told] == ["GOALS new\nmore"]


def test_a_tool_is_read_with_the_examples_in_its_description() -> None:
    spec = ToolSpec(
        name="time", description="Tell the time.", input_schema={}, examples=("what time is it", "the time")
    )
    offer = Offer(name="time", description=tool_description(spec), parameters={})
    assert as_request(View(tools=[offer])).tools == (spec,)


def test_a_result_is_read_with_its_call() -> None:
    output = json.dumps({"status": "error", "data": {"field": "to"}, "message": "to is missing"})
    view = View(items=[Call(call_id="a", name="book", arguments={"n": 2}), Result(call_id="a", output=output)])
    called, answered = as_request(view).messages
    assert called.tool_calls[0].input_args == {"n": 2}
    result = answered.tool_results[0]
    assert (result.tool_name, result.result.status, result.result.message) == ("book", "error", "to is missing")


async def test_the_local_mind_hears_a_request_calls_the_tool_and_says_its_result(mind: LocalMind) -> None:
    spec = ToolSpec(
        name="get_time",
        description="Tell the current time.",
        input_schema={"type": "object", "properties": {}},
        examples=("what time is it",),
    )
    offers = [Offer(name="get_time", description=tool_description(spec), parameters=spec.input_schema)]
    asked = View(tools=offers, items=[])
    heard = await mind.transcribe(_recorded("what-time-is-it.wav"), asked)
    assert "what time is it" in heard.lower()
    asked = View(tools=offers, items=[Words(role="user", text=heard)])
    assert [thought async for thought in mind.respond(asked)] == [Called(name="get_time", arguments={})]
    output = json.dumps({"status": "success", "data": {"say": "It is noon. Anything else?"}, "message": None})
    told = View(
        tools=offers, items=[*asked.items, Call(call_id="a", name="get_time"), Result(call_id="a", output=output)]
    )
    said = [thought async for thought in mind.respond(told)]
    assert [thought.text for thought in said if isinstance(thought, Said)] == ["It is noon.", "Anything else?"]
    assert all(isinstance(thought, Said) and 0.4 < len(thought.samples) / 24_000 < 2 for thought in said)
