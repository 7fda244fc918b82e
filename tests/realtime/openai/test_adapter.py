"""OpenAI's SDK against the strict service: connecting, a caller's turns, and all that goes wrong on a connection."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.realtime.base import AdvertisedTool, RealtimeError, SessionSetup, Snapshot, ToolAnswer, TurnDetection
from pipelines.realtime.events import (
    CallerBegan,
    CallerStopped,
    CallerWords,
    Interrupted,
    ProviderTrouble,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    SessionEnded,
    SessionOpened,
    ToolCalled,
)
from pipelines.realtime.openai import adapter as adapter_module
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.openai.options import OpenAIOptions, ServerVad, Transcription
from pipelines.realtime.stage import Talk
from pipelines.realtime.wording import snapshot_text
from tests.realtime.mind import Called, Result, ScriptedMind, Words, tone
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.realtime.openai_service.session import Session

pytestmark = pytest.mark.wire

TOOL = AdvertisedTool(name="book", description="Book.", parameters={"type": "object", "properties": {}})
SETUP = SessionSetup(instructions="Be brief.", tools=(TOOL,))
TURNS = OpenAIOptions(turn_detection=ServerVad(silence_duration_ms=300))
SILENCE = np.zeros(24_000, np.int16)
SPEECH = np.concatenate([SILENCE[:4_800], tone("one two three four five"), SILENCE])
"""A caller: 0.2 s of silence, a second of sound, a second of silence."""


def connect(service: OpenAIService, *, key: str = KEY, model: str = MODEL, **how: Any) -> OpenAIRealtime:
    return OpenAIRealtime(model, api_key=key, base_url=service.base_url, **{"options": TURNS, **how})


@asynccontextmanager
async def talking(adapter: OpenAIRealtime, setup: SessionSetup = SETUP, *, opened: bool = True) -> AsyncIterator[Talk]:
    async with asyncio.timeout(8), asyncio.TaskGroup() as group:
        talk = Talk(await adapter.open(setup))
        listening = group.create_task(talk.listen())
        try:
            if opened:
                await talk.until(SessionOpened)
            yield talk
        finally:
            await talk.session.aclose()
            await listening


async def hear(talk: Talk, samples: Samples) -> None:
    for start in range(0, len(samples), 480):
        await talk.session.hear(samples[start : start + 480])


async def until(service: OpenAIService, holds: Callable[[Session], bool]) -> None:
    """Wait until the service's session is as it should be; it says when something happened."""
    while not holds(service.session):
        await service.session.more.wait()
        service.session.more.clear()


async def test_a_spoken_turn_is_heard_answered_and_written_down() -> None:
    mind = ScriptedMind(hears=["A trip."], answers=[["Where to?"]])
    async with OpenAIService(mind) as service, talking(connect(service)) as talk:
        await hear(talk, SPEECH)
        ended = await talk.until(ReplyEnded)
        while not talk.of(CallerWords)[-1].final:
            await talk.until(CallerWords, len(talk.of(CallerWords)) + 1)
    kinds = [type(event) for event in talk.told if not isinstance(event, ReplyAudio | CallerWords)]
    assert kinds == [
        SessionOpened,
        CallerBegan,
        Interrupted,
        CallerStopped,
        ReplyBegan,
        ReplyWords,
        ReplyEnded,
        SessionEnded,
    ]
    first, *_, last = talk.of(CallerWords)
    assert (first.text, last.text, last.final) == ("", "A trip.", True)
    assert talk.told.index(first) < talk.told.index(talk.of(ReplyBegan)[0]), "its place is before its answer"
    heard = np.concatenate([event.samples for event in talk.of(ReplyAudio)])
    assert heard.tolist() == tone("Where to?").tolist()
    assert ended.used is not None and ended.used.audio_out == 8
    assert service.session.refusals == []


async def test_a_tool_round_goes_result_context_answer_and_the_model_sees_all_of_it() -> None:
    mind = ScriptedMind(hears=["Book it."], answers=[["One moment.", Called(name="book")], ["Booked."]])
    setup = SessionSetup(instructions="", tools=(TOOL,), snapshot=Snapshot(version=1, text="Nothing is booked."))
    async with OpenAIService(mind) as service, talking(connect(service), setup) as talk:
        await hear(talk, SPEECH)
        await talk.until(ReplyEnded)
        (call,) = talk.of(ToolCalled)
        results = [ToolAnswer(call_id=call.call_id, name="book", output='{"status": "success"}')]
        await talk.session.answer(results, snapshot=Snapshot(version=2, text="Vienna is booked."))
        await talk.until(ReplyEnded, 2)
        snapshots = service.session.snapshots()
    assert snapshots == ["Vienna is booked."]
    result, context = mind.views[1].items[-2:]
    assert isinstance(result, Result) and result.call_id == call.call_id
    assert context == Words(role="system", text=snapshot_text(Snapshot(version=2, text="Vienna is booked.")))
    assert service.session.refusals == []


async def test_transcripts_that_come_late_and_backwards_find_their_turns() -> None:
    mind = ScriptedMind(hears=["One.", "Two."], answers=[["First."], ["Second."]])
    async with OpenAIService(mind) as service, talking(connect(service)) as talk:
        service.late_transcripts = True
        for turn in (1, 2):
            await hear(talk, SPEECH)
            await talk.until(ReplyEnded, turn)
        service.session.release_transcripts(backwards=True)
        await talk.until(CallerWords, 4)
    announced = [event.item for event in talk.of(CallerWords) if event.text == ""]
    final = {event.item: event.text for event in talk.of(CallerWords) if event.final}
    assert [final[item] for item in announced] == ["One.", "Two."]


async def test_an_answer_that_is_spoken_over_is_cancelled_and_cut_where_it_was_heard() -> None:
    mind = ScriptedMind(hears=["Go on.", "Stop."], answers=[["word " * 40], ["Yes."]])
    async with OpenAIService(mind, pace=8) as service, talking(connect(service)) as talk:
        await hear(talk, SPEECH)
        audio = await talk.until(ReplyAudio, 3)
        await hear(talk, SPEECH)
        ended = await talk.until(ReplyEnded)
        await talk.session.truncate(audio.item, 0.25)
        await talk.until(ReplyEnded, 2)
        await until(service, lambda session: bool(session.truncations))
        session = service.session
    assert ended.outcome is ReplyOutcome.CANCELLED
    assert [event.reply for event in talk.of(Interrupted)] == [None, ended.reply]
    assert session.truncations == [(audio.item, 250)]
    cut = session.conversation.find(audio.item)
    assert cut is not None and (cut.transcript, cut.length_ms) == (None, 250)
    assert session.refusals == []


async def test_what_interrupts_a_running_tool_leaves_one_answer_to_its_result() -> None:
    mind = ScriptedMind(hears=["Book.", "Quick."], answers=[[Called(name="book")], ["I am at it."], ["Booked."]])
    async with OpenAIService(mind) as service, talking(connect(service)) as talk:
        await hear(talk, SPEECH)
        await talk.until(ReplyEnded)
        (call,) = talk.of(ToolCalled)
        await hear(talk, SPEECH)
        await talk.until(ReplyEnded, 2)
        results = [ToolAnswer(call_id=call.call_id, name="book", output="{}")]
        await talk.session.answer(results, snapshot=Snapshot(version=1, text=""))
        await talk.until(ReplyEnded, 3)
        await until(service, lambda session: session.response is None)
    assert [event.outcome for event in talk.of(ReplyEnded)] == [ReplyOutcome.COMPLETED] * 3
    assert service.session.refusals == []


async def test_a_trigger_that_races_the_provider_s_own_answer_is_refused_and_comes_after_it() -> None:
    mind = ScriptedMind(answers=[["Its own."], ["The asked one."]])
    async with OpenAIService(mind, pace=20) as service, talking(connect(service)) as talk:
        # The provider begins by itself at the very moment at which we ask: its news is not here yet.
        service.session._respond(None)
        await talk.session.inject("Hello?", role="caller", respond=True)
        await talk.until(ReplyEnded, 2)
    assert [refusal["code"] for refusal in service.session.refusals] == ["conversation_already_has_active_response"]
    assert "".join(event.text for event in talk.of(ReplyWords)) == "Its own.The asked one."
    assert not talk.of(ProviderTrouble)


async def test_a_cancel_that_comes_too_late_is_no_trouble() -> None:
    mind = ScriptedMind(answers=[["It is noon."], ["Yes."]])
    async with OpenAIService(mind, pace=20) as service, talking(connect(service)) as talk:
        await talk.session.inject("What time is it?", role="caller", respond=True)
        began = await talk.until(ReplyBegan)
        service.session.end("completed")
        await talk.session.interrupt()
        ended = await talk.until(ReplyEnded)
        await talk.session.inject("Hello?", role="caller", respond=True)
        await talk.until(ReplyEnded, 2)
    assert [refusal["code"] for refusal in service.session.refusals] == ["response_cancel_not_active"]
    assert (ended.reply, ended.outcome) == (began.reply, ReplyOutcome.CANCELLED)
    assert not talk.of(ProviderTrouble)


async def test_a_truncation_that_the_provider_refuses_is_no_trouble() -> None:
    mind = ScriptedMind(answers=[["It is noon."], ["Yes."]])
    async with OpenAIService(mind) as service, talking(connect(service)) as talk:
        await talk.session.inject("What time is it?", role="caller", respond=True)
        await talk.until(ReplyEnded)
        item = talk.of(ReplyAudio)[0].item
        held = service.session.conversation.find(item)
        assert held is not None
        held.cut_ms = (
            100  # The real one holds less than it sent, by up to 85 ms: github.com/pipecat-ai/pipecat/issues/2106.
        )
        await talk.session.truncate(item, 0.5)
        await talk.session.inject("Hello?", role="caller", respond=True)
        ended = await talk.until(ReplyEnded, 2)
    assert [refusal["code"] for refusal in service.session.refusals] == ["invalid_value"]
    assert ended.outcome is ReplyOutcome.COMPLETED
    assert not talk.of(ProviderTrouble)


async def test_a_turn_of_ours_has_its_pre_roll_and_nothing_else() -> None:
    mind = ScriptedMind(hears=["Two."], answers=[["Two people."]])
    setup = SessionSetup(instructions="", turn_detection=TurnDetection.OURS)
    async with OpenAIService(mind) as service, talking(connect(service), setup) as talk:
        await hear(talk, SPEECH)
        await talk.session.begin_speech()
        await talk.session.hear(SPEECH[:4_800])
        await hear(talk, SPEECH[4_800:12_000])
        await talk.session.end_speech()
        await talk.until(ReplyEnded)
    (turn,) = service.session.heard
    assert turn.tolist() == SPEECH[:12_000].tolist()
    assert service.session.refusals == []


async def test_an_interruption_of_ours_is_told_at_once_also_when_the_provider_is_silent() -> None:
    async with OpenAIService(ScriptedMind()) as service, talking(connect(service)) as talk:
        async with asyncio.timeout(adapter_module.TICK_S / 2):
            await talk.session.interrupt()
            await talk.until(Interrupted)
    assert service.session.refusals == []


async def test_an_hour_ends_the_session_in_the_provider_s_words_and_another_may_be_opened() -> None:
    async with OpenAIService(ScriptedMind()) as service, talking(connect(service)) as talk:
        service.session.expire()
        ended = await talk.until(SessionEnded)
    assert (ended.code, ended.expected, ended.retry) == (1001, False, True)
    assert ended.reason == "Your session hit the maximum duration of 60 minutes."


async def test_a_model_that_the_key_may_not_use_ends_the_session_for_good() -> None:
    async with (
        OpenAIService(ScriptedMind()) as service,
        talking(connect(service, model="gpt-realtime-9"), opened=False) as talk,
    ):
        ended = await talk.until(SessionEnded)
    assert (ended.code, ended.retry) == (4004, False)
    assert "model_not_found" in ended.reason or "do not have access" in ended.reason
    assert "S2S_MODEL" in ended.reason


async def test_a_setup_that_is_refused_ends_the_session_for_good() -> None:
    options = OpenAIOptions(transcription=Transcription(model=7))  # type: ignore[arg-type]
    async with (
        OpenAIService(ScriptedMind()) as service,
        talking(connect(service, options=options), opened=False) as talk,
    ):
        ended = await talk.until(SessionEnded)
    assert (ended.expected, ended.retry) == (False, False)
    assert ended.reason.startswith("Invalid type for 'session.audio.input.transcription.model'")


async def test_a_wrong_key_is_refused_with_what_to_do_and_without_the_key() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        with pytest.raises(RealtimeError) as refused:
            await connect(service, key="sk-wrong-key-12345").open(SETUP)
    assert not refused.value.retry
    words = str(refused.value)
    assert "HTTP 401: Incorrect API key provided." in words and "OPENAI_API_KEY" in words
    assert "sk-wrong" not in words


async def test_a_provider_that_is_not_there_may_be_tried_again() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        adapter = connect(service)
    with pytest.raises(RealtimeError, match="cannot be reached") as unreachable:
        await adapter.open(SETUP)
    assert unreachable.value.retry


async def test_a_provider_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        where = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=where, connect_timeout_s=0.2)
        with pytest.raises(RealtimeError, match=r"did not answer within 0\.2 s") as late:
            await adapter.open(SETUP)
    assert late.value.retry


async def test_no_log_holds_the_key_or_what_was_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    mind = ScriptedMind(answers=[["The secret answer."]])
    async with OpenAIService(mind) as service, talking(connect(service)) as talk:
        await talk.session.inject("My number is 4711.", role="caller", respond=True)
        await talk.until(ReplyEnded)
    ours = [record.getMessage() for record in caplog.records if "server" not in record.name]
    assert not [line for line in ours if KEY in line or "4711" in line or "secret answer" in line]


@pytest.mark.realtime
async def test_a_connection_that_stands_still_drops_voice_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_module, "WRITE_BYTES", 16_384)
    monkeypatch.setattr(adapter_module, "CONGESTED_S", 0.05)
    mind = ScriptedMind(answers=[["Yes."]])
    setup = SessionSetup(instructions="", turn_detection=TurnDetection.OURS)
    async with OpenAIService(mind) as service, talking(connect(service), setup) as talk:
        service.session.socket.flowing.clear()
        longest = 0.0
        loop = asyncio.get_running_loop()
        for _ in range(120):  # Two minutes of the caller's voice: 7.7 MB, more than the sockets hold.
            began = loop.time()
            await talk.session.hear(SILENCE)
            longest = max(longest, loop.time() - began)
        await talk.session.inject("Hello?", role="caller", respond=True)
        await talk.session.inject("One more thing.", role="system", respond=False)
        service.session.socket.flowing.set()
        await talk.until(ReplyEnded)
        received = service.session.received
    assert longest < 0.2
    appended = [message["type"] for message in received].count("input_audio_buffer.append")
    assert 0 < appended < 120
    texts = [message["item"]["content"][0]["text"] for message in received if "item" in message]
    assert texts == ["Hello?", "One more thing."]


@pytest.mark.realtime
async def test_a_provider_that_falls_silent_for_good_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_module, "ALIVE_S", 0.1)
    monkeypatch.setattr(adapter_module, "CLOSE_S", 0.1)
    async with OpenAIService(ScriptedMind()) as service, talking(connect(service)) as talk:
        service.session.socket.flowing.clear()
        ended = await talk.until(SessionEnded)
    assert (ended.expected, ended.retry) == (False, True)


@pytest.mark.realtime
async def test_closing_is_bounded_also_when_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert adapter_module.CLOSE_S < 2
    monkeypatch.setattr(adapter_module, "CLOSE_S", 0.2)
    async with OpenAIService(ScriptedMind()) as service, talking(connect(service)) as talk:
        service.session.socket.flowing.clear()
        loop = asyncio.get_running_loop()
        began = loop.time()
        await talk.session.aclose()
        assert loop.time() - began < 0.7
        ended = await talk.until(SessionEnded)
    assert ended.expected


def test_the_sdk_is_imported_where_it_is_used() -> None:
    code = "import sys, pipelines.realtime.openai.adapter; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
