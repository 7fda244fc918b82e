"""Whole calls over OpenAI's SDK: what is cut where, and what survives a connection that does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest

from agents.core.tools import Tool
from pipelines.events import EngineTrouble, ToolCalled, ToolReturned, UtteranceEnded, UtteranceStarted
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.settings import RealtimeSettings
from tests.realtime.line import on_the_line
from tests.realtime.mind import Called, Result, Said, ScriptedMind, Thought, View, Words, tone
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from voice_server.transports.recorded import RecordedOutput

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

WORDS = "one two three four five six"
WORD_S = 0.2
FRAME_MS = 20


def connect(service: OpenAIService) -> OpenAIRealtime:
    return OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)


def played_by(output: RecordedOutput) -> int:
    """Samples so far; silences between them, and those of the voice itself, do not count."""
    return int(np.count_nonzero(output.track()))


class Dense(ScriptedMind):
    """A mind whose voice has no sample of silence, so that what was played can be counted."""

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        """Give the next response."""
        async for thought in super().respond(view):
            assert isinstance(thought, Said)
            yield replace(thought, samples=np.maximum(thought.samples, 1))


async def test_an_answer_is_cut_where_it_was_heard_whenever_the_caller_speaks() -> None:
    """The caller speaks at every 100 ms of an answer of 1.2 seconds."""
    places = [step / 10 for step in range(12)]
    mind = Dense(hears=["Stop."] * len(places), answers=[[WORDS]] * (len(places) + 1), word_s=WORD_S)
    heard: list[int] = []
    played: list[int] = [0]
    async with OpenAIService(mind) as service, on_the_line(connect(service)) as line:
        line.pipeline.inject("Count.", respond=True)
        for number, place in enumerate(places, start=1):
            await line.until(UtteranceStarted, number)
            await line.clock.sleep(place)
            service.session.speech_started(0)
            heard.append(len((await line.until(UtteranceEnded, number)).heard.split()))
            played.append(played_by(line.output))
            service.session.speech_stopped(0, np.zeros(24_000, np.int16))
        await line.until(UtteranceStarted, len(places) + 1)
        played_ms = (np.diff(played) / 24).tolist()
        truncated = dict(service.session.truncations)
        refusals = service.session.refusals
    assert refusals == []
    answers = [item for item in service.session.conversation.items if item.role == "assistant"]
    for item, ms, words in zip(answers, played_ms, heard, strict=False):
        at_ms = truncated.get(item.id, item.length_ms)
        assert abs(at_ms - ms) <= FRAME_MS, "the model is told what the output played"
        assert abs(words - ms / 1_000 / WORD_S) <= 1, "and so is the store"
    assert len(truncated) >= len(places) - 2, "only one that was nearly over can have been heard whole"


async def test_a_session_that_ends_in_mid_sentence_is_followed_by_one_that_knows_what_was_said() -> None:
    mind = ScriptedMind(
        hears=["A trip.", "To Vienna."], answers=[["Where would you like to go?"], ["For how many?"]], word_s=WORD_S
    )
    async with OpenAIService(mind) as service, on_the_line(connect(service)) as line:
        service.session.hear_turn()
        await line.until(UtteranceStarted)
        service.opened.clear()
        service.session.expire()
        await service.opened.wait()
        await line.until(UtteranceEnded)
        await line.idle()
        service.session.hear_turn()
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    first, second = service.sessions
    assert stored == [
        ("user", "A trip."),
        ("agent", "Where would you like to go?"),
        ("user", "To Vienna."),
        ("agent", "For how many?"),
    ]
    told = [(item.role, item.text) for item in second.conversation.items if item.text]
    assert told[0] == ("user", "A trip."), "the new one knows what was said before"
    assert [answer.role for answer in second.conversation.items].count("assistant") == 2
    assert first.refusals == second.refusals == []
    assert not line.all(EngineTrouble)


async def test_a_session_is_followed_by_another_before_its_hour_is_over_and_no_turn_is_lost() -> None:
    mind = ScriptedMind(hears=["A trip.", "Two."], answers=[["For how many?"], ["Two people."]], word_s=WORD_S)
    async with OpenAIService(mind) as service:
        adapter = connect(service)
        adapter.lasts_s = 10.0  # An hour, as this test has time for it.
        async with on_the_line(adapter) as line:
            adapter.lasts_s = 3_600.0
            service.session.hear_turn()
            await line.until(UtteranceEnded)
            await service.sessions[0].over.wait()
            service.session.hear_turn()
            await line.until(UtteranceEnded, 2)
            stored = await line.stored()
        told = [(item.role, item.text) for item in service.session.conversation.items if item.text]
    assert len(service.sessions) == 2
    assert told[:2] == [("user", "A trip."), ("assistant", "For how many?")]
    assert [text for _, text in stored] == ["A trip.", "For how many?", "Two.", "Two people."]
    assert not line.all(EngineTrouble)
    assert all(session.refusals == [] for session in service.sessions)


async def test_a_tool_whose_connection_breaks_gives_its_result_once_and_is_answered_once() -> None:
    broken = asyncio.Event()
    ran: list[str] = []

    async def book(*_: object) -> str:
        ran.append("book")
        await broken.wait()
        return "Vienna is booked."

    tool = Tool(name="book", description="Book.", input={"type": "object", "properties": {}}, do=book)
    mind = ScriptedMind(hears=["Book it."], answers=[[Called(name="book")], ["It is booked."]], word_s=WORD_S)
    async with OpenAIService(mind) as service, on_the_line(connect(service), tool) as line:
        service.session.hear_turn()
        await line.until(ToolCalled)
        service.opened.clear()
        service.session.socket.abort()
        await service.opened.wait()
        broken.set()
        await line.until(ToolReturned)
        await line.until(UtteranceEnded)
        stored = await line.stored()
    assert ran == ["book"]
    assert len(mind.views) == 2, "one answer, and not one more"
    results = [part for part in mind.views[1].items if "Vienna is booked." in str(part)]
    assert len(results) == 1 and isinstance(results[0], Words | Result)
    assert stored[-1] == ("agent", "It is booked.")
    assert [session.refusals for session in service.sessions] == [[], []]


async def test_what_is_said_while_nobody_is_there_is_delivered_once_and_the_caller_hears_one_apology() -> None:
    mind = ScriptedMind(answers=[["To Vienna, then."]], word_s=WORD_S)
    apology = RealtimeSettings().apology
    phrases = {apology: tone(apology)}
    async with OpenAIService(mind) as service, on_the_line(connect(service), phrases=phrases) as line:
        service.opened.clear()
        service.overloaded = True
        service.session.socket.abort()
        line.pipeline.type_in("To Vienna.")
        first = await line.until(UtteranceEnded)
        service.overloaded = False
        await service.opened.wait()
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    assert (first.kind, first.text) == ("apology", apology)
    assert [event.kind for event in line.all(UtteranceEnded)] == ["apology", "reply"]
    second = service.session
    assert [item.text for item in second.conversation.items if item.role == "user"] == ["To Vienna."]
    assert second.made == len(mind.views) == 1
    assert stored[0] == ("user", "To Vienna.") and stored[-1] == ("agent", "To Vienna, then.")
    assert second.refusals == []
