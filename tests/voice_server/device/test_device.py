"""Device mode against the fake provider: the page's model is the provider's, its tools are run by our server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from agents.concierge.agent import SYSTEM_PROMPT
from pipelines.realtime.base import RealtimeSession, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import ReplyEnded, ReplyWords, SessionOpened, ToolCalled
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.vad.energy import EnergyModel
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.mind import Called, ScriptedMind, context_in, latest_context
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.voice_server.device.browser import browsing
from tests.voice_server.serving import Answer, Served, serving
from voice_server.house import House

SERVER_KEY = "the key of the server"
HOUSE = House(vad=EnergyModel(), recognizer=cast(Any, None), synthesizer=cast(Any, None), phrases={})

pytestmark = pytest.mark.wire


@dataclass
class World:
    service: OpenAIService
    mind: ScriptedMind
    server: Served

    async def mint(self, key: str | None = SERVER_KEY, **wish: Any) -> Answer:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return await asyncio.to_thread(self.server.ask, "POST", "/api/realtime/secrets", wish, **headers)

    async def history(self, conversation: str) -> Any:
        answer = await asyncio.to_thread(
            self.server.ask, "GET", f"/api/conversations/{conversation}", Authorization=f"Bearer {SERVER_KEY}"
        )
        return answer.body

    @property
    def socket(self) -> str:
        return f"ws://127.0.0.1:{self.service.port}/v1/realtime"


@pytest.fixture
def mind() -> ScriptedMind:
    return ScriptedMind(
        answers=[
            [Called(name="glove_form_start", arguments={"form": "trip-booking"})],
            [Called(name="glove_form_fill", arguments={"values": {"origin": "London"}})],
            ["Where would you like to fly to?"],
        ]
    )


@pytest.fixture
async def world(mind: ScriptedMind) -> AsyncIterator[World]:
    async with OpenAIService(mind) as service:
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)
        house = replace(HOUSE, adapter=adapter)
        with serving(house, key=SERVER_KEY, agent="agents.concierge:create") as server:
            yield World(service, mind, server)


async def test_a_page_talks_to_the_provider_with_a_secret_and_its_tools_run_on_the_server(world: World) -> None:
    minted = await world.mint(conversation="ann")
    assert minted.status == 201, minted.body
    assert KEY not in json.dumps(minted.body)
    async with browsing(world.server, world.socket, minted.body) as browser:
        await browser.say("I want to fly from London.")
        config = world.service.session.config
        assert config["instructions"] == SYSTEM_PROMPT
        assert {"glove_form_fill", "glove_form_start"} <= {tool["name"] for tool in config["tools"]}
        assert browser.words == ["Where would you like to fly to?"]
        started, filled = (json.loads(batch["answers"][0]["output"]) for batch in browser.answers)
        assert (started["status"], filled["status"]) == ("success", "success")
        # The model was told where the form stands before it went on, and only once.
        seen = latest_context(world.mind.views[-1])
        assert seen is not None
        assert "[form: trip-booking]" in seen.text
        assert len(world.service.session.snapshots()) == 1
        assert world.service.session.refusals == []
        assert (await browser.told("forms"))["forms"][0]["form"] == "trip-booking"


async def test_what_was_said_is_kept_as_far_as_it_was_heard(world: World) -> None:
    minted = await world.mint(conversation="ben")
    async with browsing(world.server, world.socket, minted.body) as browser:
        turns = [
            {"role": "caller", "text": "Hello."},
            {"role": "agent", "text": "Hello, where to?", "heard": "Hello,"},
        ]
        assert (await browser.ask("POST", "turns", {"turns": turns})).status == 204
        entries = (await world.history("ben"))["entries"]
        assert [(entry["sender"], entry["text"]) for entry in entries] == [
            ("user", "Hello."),
            ("agent", "Hello, where to?"),
        ]
        assert (entries[1]["heard"], entries[1]["interrupted"]) == ("Hello,", True)
        made_up = [{"role": "agent", "text": "Yes.", "heard": "No."}]
        refused = await browser.ask("POST", "turns", {"turns": made_up})
        assert (refused.status, refused.body["code"]) == (409, "not_said")


async def test_a_call_that_is_asked_for_again_is_run_once(world: World) -> None:
    minted = await world.mint(conversation="cat")
    async with browsing(world.server, world.socket, minted.body) as browser:
        call = {"call_id": "c1", "name": "glove_form_start", "arguments": json.dumps({"form": "trip-booking"})}
        both = [await browser.ask("POST", "tools", {"calls": [call]}) for _ in range(2)]
        first, second = (answer.body["answers"] for answer in both)
        assert first == second
        mixed = await browser.ask("POST", "tools", {"calls": [call, {**call, "call_id": "c2"}]})
        assert (mixed.status, mixed.body["code"]) == (409, "used_twice")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [("no_such_tool", "{}", "no_such_tool"), ("glove_form_start", "no JSON", "TOOL_INPUT_INVALID")],
)
async def test_what_cannot_be_called_is_answered_with_the_reason(
    world: World, name: str, arguments: str, says: str
) -> None:
    minted = await world.mint()
    async with browsing(world.server, world.socket, minted.body) as browser:
        answer = await browser.ask("POST", "tools", {"calls": [{"call_id": "c", "name": name, "arguments": arguments}]})
        output = json.loads(answer.body["answers"][0]["output"])
        assert output["status"] == "error"
        assert says in json.dumps(output)


async def test_a_secret_costs_the_server_s_key_and_a_call_its_ticket(world: World) -> None:
    assert (await world.mint(key=None)).status == 401
    minted = await world.mint()
    async with browsing(world.server, world.socket, minted.body) as browser:
        for ticket in ("", "wrong"):
            answer = await browser.ask("POST", "tools", {"calls": []}, ticket=ticket)
            assert answer.status in (404, 422), answer.body
        assert (await browser.ask("DELETE", "")).status == 204
        gone = await browser.ask("POST", "turns", {"turns": [{"role": "caller", "text": "Hello."}]})
        assert gone.status == 404


async def test_a_provider_that_refuses_is_quoted_and_no_call_stays() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        adapter = OpenAIRealtime(MODEL, api_key="sk-wrong-key-of-somebody", base_url=service.base_url)
        with serving(replace(HOUSE, adapter=adapter), key=SERVER_KEY) as server:
            answer = await World(service, ScriptedMind(), server).mint()
            assert (answer.status, answer.body["code"]) == (502, "provider")
            assert "Incorrect API key" in answer.body["message"]
            assert "sk-wrong" not in answer.body["message"]
            assert all(call.over for call in server.front.service.devices)


async def test_without_a_provider_no_device_is_let_in() -> None:
    with serving(HOUSE) as server:
        answer = await asyncio.to_thread(server.ask, "POST", "/api/realtime/secrets", {})
        assert (answer.status, answer.body["code"]) == (404, "not_configured")


@pytest.mark.filterwarnings("ignore:The SDK's ephemeral token support")
async def test_a_device_of_gemini_s_has_its_tools_run_on_the_server_too(mind: ScriptedMind) -> None:
    async with GeminiService(mind) as service:
        adapter = GeminiLive(api_key=service.key, base_url=service.url, ssl=service.trust)
        with serving(replace(HOUSE, adapter=adapter), agent="agents.concierge:create") as server:
            minted = await asyncio.to_thread(server.ask, "POST", "/api/realtime/secrets", {"conversation": "ann"})
            assert minted.status == 201, minted.body
            opened = minted.body
            assert service.key not in json.dumps(opened)
            device = GeminiLive(
                opened["model"],
                api_key=opened["secret"],
                api_version=opened["api_version"],
                base_url=service.url,
                ssl=service.trust,
            )
            session = await device.open(SessionSetup(instructions="What a device says here changes nothing."))
            told = await _talk(session, server, opened)
            assert "".join(told).strip() == "Where would you like to fly to?"
            view = service.session.conversation.view()
            assert SYSTEM_PROMPT in view.instructions
            seen = latest_context(view)
            assert seen is not None
            assert "[form: trip-booking]" in seen.text


async def _talk(session: RealtimeSession, server: Served, opened: dict[str, Any]) -> list[str]:
    """Say something, have tools run by the server, and return what the model says."""
    words: list[str] = []
    calls: list[dict[str, str]] = []
    async for event in session.events():
        match event:
            case SessionOpened():
                await session.inject("I want to fly from London.", role="caller", respond=True)
            case ToolCalled():
                calls.append({"call_id": event.call_id, "name": event.name, "arguments": event.arguments})
            case ReplyWords():
                words.append(event.text)
            case ReplyEnded() if calls:
                path, body = f"/api/realtime/calls/{opened['call']}/tools", {"calls": calls}
                answered = await asyncio.to_thread(server.ask, "POST", path, body, X_Call_Ticket=opened["ticket"])
                calls = []
                context = context_in(answered.body["context"]["text"])
                assert context is not None
                await session.answer(
                    [ToolAnswer(**each) for each in answered.body["answers"]],
                    snapshot=Snapshot(version=context.version, text=context.text),
                )
            case ReplyEnded() if words:
                await session.aclose()
    return words
