"""Through the SDK, over TLS, on the strict service: what goes wrong, what is set up, and how a session goes on."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from pydantic import BaseModel

from pipelines.realtime.base import (
    AdvertisedTool,
    PastTurn,
    RealtimeError,
    SessionSetup,
    Snapshot,
    ToolAnswer,
    TurnDetection,
)
from pipelines.realtime.events import (
    CallerWords,
    CallsWithdrawn,
    Interrupted,
    ReplyAudio,
    ReplyEnded,
    ReplyWords,
    SessionEnded,
    SessionExpiring,
    SessionOpened,
    ToolCalled,
)
from pipelines.realtime.gemini import client, session
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.realtime.gemini.options import ActivityDetection, Compression, GeminiOptions
from pipelines.realtime.stage import Talk
from tests.realtime.gemini_service.service import KEY, GeminiService
from tests.realtime.mind import Call, Called, Result, ScriptedMind, Words, latest_context, tone

pytestmark = pytest.mark.wire

TOOLS = (
    AdvertisedTool(
        name="book",
        description="Book a trip.",
        parameters={"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]},
    ),
    AdvertisedTool(name="look_up", description="Look something up.", parameters={}),
)
SETUP = SessionSetup(instructions="Be brief.", tools=TOOLS, snapshot=Snapshot(version=1, text="Nothing is known."))


def live(service: GeminiService, model: str = "gemini-3.8-live", **how: Any) -> GeminiLive:
    return GeminiLive(model, **{"api_key": service.key, "base_url": service.url, "ssl": service.trust, **how})


@asynccontextmanager
async def talking(gemini: GeminiLive, setup: SessionSetup = SETUP) -> AsyncIterator[Talk]:
    """Talk over one connection, within a limit."""
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        call = Talk(await gemini.open(setup))
        listening = group.create_task(call.listen())
        try:
            await call.until(SessionOpened)
            yield call
        finally:
            await call.session.aclose()
            listening.cancel()


async def speak(call: Talk, text: str = "one two three") -> None:
    """Speak, between silence and silence."""
    sound = np.concatenate([np.zeros(8_000, np.int16), tone(text, word_s=0.3), np.zeros(16_000, np.int16)])
    for start in range(0, len(sound), 640):
        await call.session.hear(sound[start : start + 640])


async def handle_of(call: Talk) -> str:
    """Wait for a handle: it comes behind a turn's end, and no event tells of it."""
    while (handle := call.session.handle) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return handle


# What goes wrong.


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"api_key": "AIza-wrong"}, r"\(1007\): API key not valid.*check GEMINI_API_KEY"),
        ({"model": "gemini-9"}, r"\(1008\): models/gemini-9 is not found for API version v1beta.*S2S_API_VERSION"),
        ({"model": "gemini-live-of-alpha"}, r"is not found for API version v1beta"),
        ({"model": "gemini-3.8-flash"}, r"not found for API version"),
    ],
)
async def test_a_refused_setup_is_told_in_gemini_s_words_and_not_tried_again(how: dict[str, Any], words: str) -> None:
    async with GeminiService(ScriptedMind()) as service:
        with pytest.raises(RealtimeError, match=words) as failure:
            await live(service, **how).open(SETUP)
    assert not failure.value.retry
    assert "AIza" not in str(failure.value)


async def test_a_model_of_another_version_is_found_there() -> None:
    async with (
        GeminiService(ScriptedMind()) as service,
        talking(live(service, "models/gemini-live-of-alpha", api_version="v1alpha")),
    ):
        assert service.session.conversation.instructions.startswith("Be brief.")


async def test_who_is_not_trusted_and_who_is_not_there_are_not_reached() -> None:
    async with GeminiService(ScriptedMind()) as service:
        with pytest.raises(RealtimeError, match="cannot be reached") as failure:
            await live(service, ssl=None).open(SETUP)
        assert failure.value.retry
    with pytest.raises(RealtimeError, match="cannot be reached"):
        await live(service).open(SETUP)


@pytest.mark.parametrize(("model", "url"), [("gemini?", "https://127.0.0.1:1"), ("gemini-3.8-live", "https://")])
async def test_a_name_or_an_address_that_cannot_be_is_not_tried_again(model: str, url: str) -> None:
    with pytest.raises(RealtimeError, match="has no usable name or address") as failure:
        await GeminiLive(model, api_key=KEY, base_url=url).open(SETUP)
    assert not failure.value.retry


async def test_who_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        gemini = GeminiLive(api_key=KEY, base_url=url, connect_timeout_s=0.2)
        with pytest.raises(RealtimeError, match=r"did not answer within 0\.2 s") as failure:
            await gemini.open(SETUP)
    assert failure.value.retry


async def test_a_tool_that_cannot_be_declared_is_a_refusal() -> None:
    tools = (AdvertisedTool(name="no name at all", description="", parameters={}),)
    async with GeminiService(ScriptedMind()) as service:
        with pytest.raises(RealtimeError, match="Invalid function name") as failure:
            await live(service).open(SessionSetup(instructions="", tools=tools))
    assert not failure.value.retry


async def test_no_log_holds_the_key_or_what_was_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    mind = ScriptedMind(answers=[["The secret answer."]])
    async with GeminiService(mind) as service, talking(live(service)) as call:
        await call.session.inject("My number is 4711.", role="caller", respond=True)
        await call.until(ReplyEnded)
    told = [record.getMessage() for record in caplog.records]
    assert not [line for line in told if KEY in line or "4711" in line or "secret answer" in line]


async def test_a_connection_that_stands_still_drops_voice_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WRITE_BYTES", 16_384)
    monkeypatch.setattr(session, "CONGESTED_S", 0.05)
    mind = ScriptedMind(answers=[["Yes."]])
    much = np.zeros(160_000, np.int16)
    async with GeminiService(mind) as service, talking(live(service)) as call:
        service.session.flowing.clear()
        longest, loop = 0.0, asyncio.get_running_loop()
        for _ in range(60):  # Ten minutes of voice, 26 MB: more than the sockets hold.
            began = loop.time()
            await call.session.hear(much)
            longest = max(longest, loop.time() - began)
        await call.session.inject("Hello?", role="caller", respond=True)
        service.session.flowing.set()
        await call.until(ReplyEnded)
        heard = sum("audio" in message.get("realtimeInput", {}) for message in service.session.received)
    assert longest < 0.2, "a call waits for nobody"
    assert heard < 60 and len(mind.views) == 1


async def test_closing_is_bounded_also_when_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.CLOSE_S < 2
    monkeypatch.setattr(client, "CLOSE_S", 0.2)
    monkeypatch.setattr(session, "CLOSE_S", 0.2)
    async with GeminiService(ScriptedMind()) as service, talking(live(service)) as call:
        service.session.flowing.clear()
        for _ in range(2):  # One that it holds, and one behind it.
            await call.session.inject("Hello?", role="caller", respond=False)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await call.session.aclose()
        assert loop.time() - began < 0.8
        assert (await call.until(SessionEnded)).expected


def test_the_sdk_is_imported_where_it_is_used() -> None:
    code = "import sys, pipelines.realtime.gemini.adapter; sys.exit('google.genai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_call_has_no_types_of_the_sdk_built() -> None:
    async with GeminiService(ScriptedMind(answers=[["Yes."]])) as service:
        gemini = live(service)
        before = unbuilt()
        async with talking(gemini) as call:
            await call.session.inject("Hello?", role="caller", respond=True)
            await call.until(ReplyEnded)
        assert unbuilt() == before


def unbuilt() -> set[str]:
    """Name the types of the SDK's that pydantic has not built."""
    classes, found = [BaseModel], set()
    while classes:
        for each in classes.pop().__subclasses__():
            classes.append(each)
            if each.__module__ == "google.genai.types" and not each.__pydantic_complete__:
                found.add(each.__name__)
    return found


# What is set up.


async def set_up(options: GeminiOptions | None = None, setup: SessionSetup = SETUP, **how: Any) -> dict[str, Any]:
    async with GeminiService(ScriptedMind()) as service, talking(live(service, options=options, **how), setup):
        made: dict[str, Any] = service.session.received[0]["setup"]
        return made


async def test_a_session_is_set_up_for_sound_with_what_keeps_it_alive() -> None:
    setup = SessionSetup(instructions="Be brief.", tools=TOOLS, voice="Kore")
    made = await set_up(setup=setup)
    assert made["model"] == "models/gemini-3.8-live"
    assert made["generationConfig"]["responseModalities"] == ["AUDIO"]
    voice = made["generationConfig"]["speechConfig"]["voiceConfig"]["prebuiltVoiceConfig"]
    assert voice == {"voiceName": "Kore"}
    assert made["inputAudioTranscription"] == made["outputAudioTranscription"] == {}
    assert made["contextWindowCompression"] == {"slidingWindow": {}}
    assert made["sessionResumption"] == {}, "without it no handle is told, and a null in it is refused"
    assert "realtimeInputConfig" not in made
    (book, look_up) = made["tools"][0]["functionDeclarations"]
    assert book["behavior"] == "BLOCKING" and book["parameters"]["required"] == ["people"]
    assert "parameters" not in look_up


async def test_unset_and_null_are_told_apart() -> None:
    detection = ActivityDetection(start_sensitivity="high", end_sensitivity="low", silence_duration_ms=450)
    made = await set_up(GeminiOptions(detection=detection, interrupts=False, turn_covers="all_input"))
    assert made["realtimeInputConfig"] == {
        "automaticActivityDetection": {
            "startOfSpeechSensitivity": "START_SENSITIVITY_HIGH",
            "endOfSpeechSensitivity": "END_SENSITIVITY_LOW",
            "silenceDurationMs": 450,
        },
        "activityHandling": "NO_INTERRUPTION",
        "turnCoverage": "TURN_INCLUDES_ALL_INPUT",
    }
    off = {"automaticActivityDetection": {"disabled": True}}
    assert (await set_up(GeminiOptions(detection=None)))["realtimeInputConfig"] == off
    ours = SessionSetup(instructions="", turn_detection=TurnDetection.OURS)
    assert (await set_up(GeminiOptions(detection=detection), ours))["realtimeInputConfig"] == off
    bare = await set_up(GeminiOptions(compression=None, transcribes=False, temperature=0.0))
    assert "contextWindowCompression" not in bare and "inputAudioTranscription" not in bare
    assert bare["generationConfig"]["temperature"] == 0.0
    window = await set_up(GeminiOptions(compression=Compression(trigger_tokens=25_600, target_tokens=12_800)))
    assert window["contextWindowCompression"] == {"triggerTokens": 25_600, "slidingWindow": {"targetTokens": 12_800}}


async def test_history_where_content_is_history_only() -> None:
    past = (PastTurn(role="caller", text="Hi."), PastTurn(role="agent", text="Hello."))
    setup = SessionSetup(instructions="Be brief.", tools=TOOLS, past=past)
    mind = ScriptedMind(answers=[["Yes?"]])
    async with GeminiService(mind) as service, talking(live(service, "gemini-3.1-flash-live-preview"), setup) as call:
        made = service.session.received[0]["setup"]
        assert made["historyConfig"] == {"initialHistoryInClientContent": True}
        assert "behavior" not in made["tools"][0]["functionDeclarations"][0], "it would be refused"
        await call.session.inject("Silent.", role="system", respond=False)
        await call.session.inject("Hello?", role="caller", respond=True)
        await call.until(ReplyEnded)
        assert service.session.refusal is None
        (view,) = mind.views
    assert [each.text for each in view.items if isinstance(each, Words)][:2] == ["Hi.", "Hello."]


# How it goes on.


async def test_a_spoken_turn_is_answered_with_calls_in_between() -> None:
    mind = ScriptedMind(
        hears=["A trip for two, please."], answers=[[Called(name="book", arguments={"people": 2})], ["It is booked."]]
    )
    async with GeminiService(mind) as service, talking(live(service)) as call:
        await speak(call)
        called = await call.until(ToolCalled)
        await call.until(ReplyEnded)
        answer = ToolAnswer(call_id=called.call_id, name="book", output='{"status": "success", "data": "ok"}')
        await call.session.answer([answer], snapshot=Snapshot(version=2, text="Two people."))
        await call.until(ReplyEnded, 2)
    assert json.loads(called.arguments) == {"people": 2}
    assert [each.text for each in call.of(CallerWords) if each.final] == ["A trip for two, please."]
    assert "".join(each.text for each in call.of(ReplyWords)).strip() == "It is booked."
    assert sum(len(each.samples) for each in call.of(ReplyAudio)) == len(tone("It is booked."))
    context = latest_context(mind.views[1])
    assert context is not None and (context.version, context.text) == (2, "Two people.")


async def test_the_caller_who_speaks_while_a_tool_runs_withdraws_the_call() -> None:
    mind = ScriptedMind(hears=["Book it.", "No, wait."], answers=[[Called(name="book")], ["All right."]])
    async with GeminiService(mind) as service, talking(live(service)) as call:
        await speak(call)
        called = await call.until(ToolCalled)
        await speak(call)
        withdrawn = await call.until(CallsWithdrawn)
        await call.until(ReplyEnded, 2)
        answer = ToolAnswer(call_id=called.call_id, name="book", output="{}")
        await call.session.answer([answer], snapshot=Snapshot(version=2, text="Late."))
        while latest_context(service.session.conversation.view()) is None or not service.session.order.count("context"):
            await service.session.more.wait()
            service.session.more.clear()
        assert service.session.refusal is None, "a result that nobody wants would end the session"
    assert withdrawn.call_ids == (called.call_id,)
    assert not [each for each in mind.views[1].items if isinstance(each, Call | Result)]


async def test_a_model_that_waits_for_the_end_of_silent_content_answers_the_caller_all_the_same() -> None:
    mind = ScriptedMind(hears=["Hello?"], answers=[["Yes?"]])
    model = "gemini-2.5-flash-native-audio-preview-12-2025"
    async with GeminiService(mind) as service, talking(live(service, model)) as call:
        await call.session.refresh(Snapshot(version=2, text="Two."))
        await speak(call)
        await call.until(ReplyEnded)
        assert service.session.refusal is None
        context = latest_context(mind.views[0])
    assert context is not None and context.version == 2


async def test_the_caller_s_voice_interrupts_an_answer_that_is_playing() -> None:
    mind = ScriptedMind(hears=["Hello.", "Stop."], answers=[["One two three four five six."], ["Yes?"]], word_s=2.0)
    async with GeminiService(mind, pace=1.0) as service, talking(live(service)) as call:
        await speak(call)
        await call.until(ReplyEnded)
        await speak(call)
        assert await call.until(Interrupted) == Interrupted(reply=None)
        await call.until(ReplyEnded, 2)


async def test_a_session_that_expires_is_resumed_and_knows_the_conversation() -> None:
    mind = ScriptedMind(hears=["My name is Laura."], answers=[["Hello Laura."], ["You are Laura."]])
    async with GeminiService(mind) as service:
        gemini = live(service)
        async with talking(gemini) as call:
            await speak(call)
            await call.until(ReplyEnded)
            await handle_of(call)
            await service.session.go_away(0.2)
            expiring = await call.until(SessionExpiring)
            handle = call.session.handle
            ended = await call.until(SessionEnded)
        assert (expiring.in_s, ended.retry, ended.code) == (0.2, True, 1008)
        past = (PastTurn(role="caller", text="Not to be told again."),)
        again = SessionSetup(instructions="Be kind.", tools=TOOLS[:1], past=past, resume=handle)
        async with talking(gemini, again) as call:
            assert call.of(SessionOpened) == [SessionOpened(resumed=True)]
            await call.session.inject("Who am I?", role="caller", respond=True)
            await call.until(ReplyEnded)
    view = mind.views[1]
    assert [each.text for each in view.items if isinstance(each, Words)] == [
        "My name is Laura.", "Hello Laura.", "Who am I?",
    ]  # fmt: skip
    assert (view.instructions, [each.name for each in view.tools]) == ("Be kind.", ["book"])


async def test_a_session_that_cannot_be_resumed_is_begun_anew() -> None:
    past = (PastTurn(role="caller", text="My name is Laura."),)
    setup = SessionSetup(instructions="Be brief.", past=past, resume="handle-of-last-year")
    async with GeminiService(ScriptedMind()) as service, talking(live(service), setup) as call:
        assert call.of(SessionOpened) == [SessionOpened(resumed=False)]
        while not service.session.conversation.items:
            await service.session.more.wait()
            service.session.more.clear()
        assert service.session.conversation.items == [Words(role="user", text="My name is Laura.")]


async def test_a_session_gives_way_to_the_one_that_resumes_it() -> None:
    async with GeminiService(ScriptedMind()) as service:
        gemini = live(service)
        async with talking(gemini) as call:
            again = SessionSetup(instructions="Be kind.", resume=await handle_of(call))
            async with talking(gemini, again) as next_call:
                assert next_call.of(SessionOpened) == [SessionOpened(resumed=True)]
                assert (await call.until(SessionEnded)).expected


async def test_resuming_beside_a_connection_of_others_is_refused_but_worth_another_try() -> None:
    async with GeminiService(ScriptedMind()) as service, talking(live(service)) as call:
        handle = await handle_of(call)
        with pytest.raises(RealtimeError, match=r"\(1011\)") as failure:
            await live(service).open(SessionSetup(instructions="", resume=handle))
    assert failure.value.retry


# That the service is strict.


@asynccontextmanager
async def raw(service: GeminiService) -> AsyncIterator[ClientWebSocketResponse]:
    path = f"{service.url}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key={KEY}"
    async with ClientSession() as session, session.ws_connect(path, ssl=service.trust) as wire:
        yield wire


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([{"clientContent": {}}], 1007, "setup must be the first message"),
        ([{"setup": {"modle": "x"}}], 1007, "Unknown name \"modle\" at 'setup': Cannot find field."),
        ([{"setup": {"sessionResumption": {"handle": None}}}], 1007, "Invalid value at 'setup.sessionResumption"),
        (["no JSON"], 1007, "Parsing error"),
        ([{"setup": {}, "clientContent": {}}], 1007, "invalid argument"),
        ([None, {"setup": {}}], 1007, "only the first"),
        ([None, {"clientContent": {"turns": [{"parts": [{"text": "x"}]}]}}], 1007, "invalid argument"),
        ([None, {"clientContent": {"turns": [{"role": "system", "parts": []}]}}], 1007, "Invalid value"),
        ([None, {"toolResponse": {"functionResponses": [{"id": "x", "name": "y"}]}}], 1008, "entity was not found"),
        ([None, {"realtimeInput": {"activityStart": {}}}], 1007, "Explicit activity control is not supported"),
        ([None, {"realtimeInput": {"audio": {"data": "!", "mimeType": "audio/pcm;rate=16000"}}}], 1007, "Base64"),
        ([None, {"realtimeInput": {"audio": {"data": "", "mimeType": "audio/wav"}}}], 1007, "mime type"),
        ([None, {"realtimeInput": {"mediaChunks": []}}], 1007, 'Unknown name "mediaChunks"'),
        ([None, {"song": {}}], 1007, 'Unknown name "song"'),
    ],
)
async def test_the_service_refuses_what_gemini_refuses(messages: list[Any], code: int, reason: str) -> None:
    async with GeminiService(ScriptedMind()) as service, raw(service) as wire:
        for message in messages:
            sent = {"setup": {"model": "models/gemini-3.8-live"}} if message is None else message
            await wire.send_str(sent if isinstance(sent, str) else json.dumps(sent))
        while (received := await wire.receive(5)).type is WSMsgType.BINARY:
            pass
        assert (wire.close_code, received.type) == (code, WSMsgType.CLOSE)
        assert reason in str(received.extra)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": False},
        {"type": "object", "$schema": "x"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"type": "object", "properties": {"a": {"const": 1}}},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {"type": "integer", "enum": ["1"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "string"},
    ],
)
async def test_the_service_refuses_schemas_that_gemini_refuses(schema: dict[str, Any]) -> None:
    function = {"name": "f", "parameters": schema}
    setup = {"model": "models/gemini-3.8-live", "tools": [{"functionDeclarations": [function]}]}
    async with GeminiService(ScriptedMind()) as service, raw(service) as wire:
        await wire.send_json({"setup": setup})
        assert (await wire.receive(5)).type is WSMsgType.CLOSE
        assert wire.close_code == 1007
