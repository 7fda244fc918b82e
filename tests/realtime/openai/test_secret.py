"""A secret for a browser: made at the service by our key, and good for a session of ours without it."""

from __future__ import annotations

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from pipelines.realtime.base import AdvertisedTool, RealtimeError, SessionSetup
from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.realtime.openai.options import OpenAIOptions
from tests.realtime.mind import ScriptedMind
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService

pytestmark = pytest.mark.wire

TOOL = AdvertisedTool(name="book", description="Book.", parameters={"type": "object", "properties": {}})
SETUP = SessionSetup(instructions="Be brief.", tools=(TOOL,), voice="cedar")


async def test_a_browser_opens_our_session_with_a_secret() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        adapter = OpenAIRealtime(
            MODEL, api_key=KEY, base_url=service.base_url, options=OpenAIOptions(turn_detection=None)
        )
        secret = await adapter.mint_client_secret(SETUP, expires_s=60)
        assert secret.value.startswith("ek_") and secret.value not in repr(secret)
        offered = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{secret.value}")]
        url = f"ws://127.0.0.1:{service.port}/v1/realtime?model={secret.model}"
        async with connect(url, subprotocols=offered) as browser:
            created = json.loads(await browser.recv())
    session = created["session"]
    assert (session["instructions"], session["tools"][0]["name"]) == ("Be brief.", "book")
    assert session["audio"]["output"]["voice"] == "cedar"
    assert session["audio"]["input"]["turn_detection"] is None
    assert session["audio"]["input"]["transcription"] == {"model": "gpt-4o-mini-transcribe"}


async def test_a_secret_that_was_never_made_opens_nothing() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        headers = {"Authorization": "Bearer ek_123"}
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{service.port}/v1/realtime?model={MODEL}", additional_headers=headers)
    assert refused.value.response.status_code == 401


async def test_a_refusal_is_told_in_the_provider_s_words_without_the_key_and_not_at_length() -> None:
    async with OpenAIService(ScriptedMind()) as service:
        wrong = OpenAIRealtime(MODEL, api_key="sk-wrong-key-12345", base_url=service.base_url)
        with pytest.raises(RealtimeError, match="HTTP 401: Incorrect API key provided") as refused:
            await wrong.mint_client_secret(SETUP)
        assert not refused.value.retry and "sk-wrong" not in str(refused.value)
        adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)
        with pytest.raises(RealtimeError, match=r"Invalid type for 'session\.instructions'") as refused:
            await adapter.mint_client_secret(SessionSetup(instructions=["x" * 900]))  # type: ignore[arg-type]
        assert not refused.value.retry and len(str(refused.value)) < 400


@pytest.mark.parametrize("expires_s", [9, 7_201])
async def test_a_secret_s_life_is_bounded(expires_s: int) -> None:
    adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ValueError, match="10 to 7200"):
        await adapter.mint_client_secret(SETUP, expires_s=expires_s)


async def test_a_provider_that_is_not_there_may_be_tried_again() -> None:
    adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(RealtimeError, match="cannot be reached") as unreachable:
        await adapter.mint_client_secret(SETUP)
    assert unreachable.value.retry
