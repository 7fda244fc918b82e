"""Whole calls over Google's SDK: what survives a connection that does not last, and what is cut where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from agents.core.tools import Tool
from pipelines.events import EngineTrouble, ToolCalled, ToolReturned, UtteranceEnded, UtteranceStarted
from pipelines.realtime.base import TurnDetection
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.vad.energy import EnergyModel
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.line import PACE, Line, on_the_line
from tests.realtime.mind import Called, Result, ScriptedMind, Words, latest_context, tone

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

WORD_S = 0.2
LONG = " ".join(["one two three four five six seven eight nine ten"] * 4)
"""An answer that is over long after whatever the caller does."""

RATE = 16_000
SPEECH = np.concatenate([np.zeros(RATE // 2, np.int16), tone("one two", word_s=0.3), np.zeros(RATE, np.int16)])


def live(service: GeminiService) -> GeminiLive:
    return GeminiLive(api_key=service.key, base_url=service.url, ssl=service.trust)


async def sessions(service: GeminiService, line: Line, count: int) -> None:
    """Wait until so many sessions were opened."""
    while len(service.sessions) < count:
        await line.clock.sleep(0.05)


def tool(name: str, do: Callable[..., object]) -> Tool:
    return Tool(name=name, description="Do it.", input={"type": "object", "properties": {}}, do=do)


async def test_a_session_that_announces_its_end_is_followed_ahead_of_time_by_one_that_knows_all() -> None:
    mind = ScriptedMind(
        hears=["A trip.", "To Vienna."], answers=[["Where would you like to go?"], ["For how many?"]], word_s=WORD_S
    )
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded)
        await service.session.go_away(6.0)
        await sessions(service, line, 2)
        await line.idle()
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
        first, second = service.sessions
    told = [message for message in second.received[1:] if "realtimeInput" not in message]
    assert first.closed and not told, "resumed, and not told again"
    words = [(item.role, item.text) for item in mind.views[1].items if isinstance(item, Words)]
    assert words == [("user", "A trip."), ("agent", "Where would you like to go?"), ("user", "To Vienna.")]
    assert stored == [
        ("user", "A trip."),
        ("agent", "Where would you like to go?"),
        ("user", "To Vienna."),
        ("agent", "For how many?"),
    ]
    assert not line.all(EngineTrouble)


async def test_a_connection_that_breaks_in_mid_sentence_is_followed_by_one_that_is_told_the_past() -> None:
    mind = ScriptedMind(
        hears=["A trip.", "To Vienna."], answers=[["Where would you like to go to?"], ["For how many?"]], word_s=WORD_S
    )
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceStarted)
        service.session.vanish()
        await sessions(service, line, 2)
        await line.until(UtteranceEnded)
        await line.idle()
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    words = [(item.role, item.text) for item in mind.views[1].items if isinstance(item, Words)]
    assert words[0] == ("user", "A trip.") and words[-1] == ("user", "To Vienna.")
    assert [role for role, _ in stored] == ["user", "agent", "user", "agent"]
    assert [session.refusal for session in service.sessions] == [None, None]


async def test_a_tool_whose_connection_breaks_gives_its_result_once_and_is_answered_once() -> None:
    broken = asyncio.Event()
    ran: list[str] = []

    async def book(*_: object) -> str:
        ran.append("book")
        await broken.wait()
        return "Vienna is booked."

    mind = ScriptedMind(hears=["Book it."], answers=[[Called(name="book")], ["It is booked."]], word_s=WORD_S)
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service), tool("book", book)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(ToolCalled)
        service.session.vanish()
        await sessions(service, line, 2)
        broken.set()
        await line.until(ToolReturned)
        await line.until(UtteranceEnded)
        stored = await line.stored()
    assert ran == ["book"]
    assert len(mind.views) == 2, "one answer, and not one more"
    results = [part for part in mind.views[1].items if "Vienna is booked." in str(part)]
    assert len(results) == 1 and isinstance(results[0], Words | Result)
    assert stored[-1] == ("agent", "It is booked.")
    assert [session.refusal for session in service.sessions] == [None, None]


async def test_after_a_call_the_model_has_the_context_of_that_moment_and_the_words_come_first() -> None:
    async def book(*_: object) -> str:
        return "Vienna is booked."

    mind = ScriptedMind(hears=["Book it."], answers=[[Called(name="book")], ["It is booked."]], word_s=WORD_S)
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service), tool("book", book)) as line:
        called_at = 0.0
        await line.speak(SPEECH, RATE)
        await line.until(ToolCalled)
        called_at = line.clock.now()
        await line.until(ToolReturned)
        assert line.clock.now() - called_at < 1.0, "nobody waits for the end of the turn to know what was said"
        await line.until(UtteranceEnded)
        stored = await line.stored()
    before, after = (latest_context(view) for view in mind.views)
    assert before is not None and after is not None and after.version > before.version
    assert stored[0] == ("user", "Book it.") and stored[-1] == ("agent", "It is booked.")


async def test_a_tool_that_appears_later_reaches_the_model_with_the_next_connection() -> None:
    async def send(*_: object) -> str:
        return "Sent."

    async def book(*_: object) -> str:
        line.glove.fold(tool("send", send))
        return "Vienna is booked."

    mind = ScriptedMind(
        hears=["Book it.", "Send it."],
        answers=[[Called(name="book")], ["It is booked."], [Called(name="send")], ["It is sent."]],
        word_s=WORD_S,
    )
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service), tool("book", book)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded)
        await sessions(service, line, 2)
        await line.idle()
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    assert [offer.name for offer in mind.views[1].tools if offer.name == "send"] == []
    assert "send" in [offer.name for offer in mind.views[2].tools]
    assert stored[-1] == ("agent", "It is sent.")


async def test_the_caller_who_speaks_over_an_answer_is_answered_and_what_was_heard_is_kept() -> None:
    mind = ScriptedMind(hears=["Count.", "Stop."], answers=[[LONG], ["Yes?"]], word_s=0.4)
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceStarted)
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    first = line.all(UtteranceEnded)[0]
    assert first.interrupted and 0 < len(first.heard.split()) < len(LONG.split())
    assert stored[1] == ("agent", first.heard) and stored[-1] == ("agent", "Yes?")


async def test_words_that_are_written_late_are_stored_before_the_answer() -> None:
    mind = ScriptedMind(hears=["A trip."], answers=[["Where would you like to go?"]], word_s=WORD_S)
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service)) as line:
        service.late_transcripts = True
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded)
        await line.idle()
        stored = await line.stored()
    assert stored == [("user", "A trip."), ("agent", "Where would you like to go?")]


async def test_with_our_turn_detection_a_turn_is_answered_and_a_cough_is_not_heard() -> None:
    mind = ScriptedMind(hears=["A trip.", "Stop."], answers=[[LONG], ["Yes?"]], word_s=0.4)
    cough = np.concatenate([tone("hm", word_s=0.2), np.zeros(RATE // 2, np.int16)])
    ear = EnergyModel().open()
    async with (
        GeminiService(mind, pace=PACE) as service,
        on_the_line(live(service), activity=ear, turn_detection=TurnDetection.OURS) as line,
    ):
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceStarted)
        await line.speak(cough, RATE)
        begun = [message for message in service.session.received if "activityStart" in message.get("realtimeInput", {})]
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
        refusal = service.session.refusal
    assert len(begun) == 1, "the cough is no turn, and does not cut the answer off"
    assert refusal is None
    assert [text for role, text in stored if role == "user"] == ["A trip.", "Stop."]
    assert stored[-1] == ("agent", "Yes?") and line.all(UtteranceEnded)[0].interrupted


async def test_an_end_that_is_announced_in_mid_answer_cuts_nothing_that_was_made() -> None:
    mind = ScriptedMind(hears=["Count.", "Again."], answers=[[LONG], ["No."]], word_s=WORD_S)
    async with GeminiService(mind, pace=PACE) as service, on_the_line(live(service)) as line:
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceStarted)
        await service.session.go_away(0.3)
        await sessions(service, line, 2)
        first = await line.until(UtteranceEnded)
        await line.idle()
        await line.speak(SPEECH, RATE)
        await line.until(UtteranceEnded, 2)
        stored = await line.stored()
    assert first.heard.split() == LONG.split() and not first.interrupted
    assert [role for role, _ in stored] == ["user", "agent", "user", "agent"]
    assert [text for _, text in stored[2:]] == ["Again.", "No."]
    assert not line.all(EngineTrouble), "nobody on the call has to know"
