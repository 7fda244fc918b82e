"""What is asked over HTTP: tokens with which devices open sessions of ours, and which live models there are."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.realtime.base import AdvertisedTool, RealtimeError, SessionSetup
from pipelines.realtime.events import ReplyEnded, SessionOpened
from pipelines.realtime.gemini.adapter import GeminiLive
from pipelines.realtime.gemini.catalog import LiveModel, list_live_models
from pipelines.realtime.gemini.device_token import DeviceToken, mint_token
from pipelines.realtime.gemini.options import DEFAULT_MODEL, GeminiOptions
from tests.realtime.gemini.test_wire import handle_of, live, talking
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.mind import ScriptedMind

pytestmark = pytest.mark.wire

TOOL = AdvertisedTool(name="book", description="Book.", parameters={"type": "object", "properties": {}})
OURS = SessionSetup(instructions="Be brief.", tools=(TOOL,), voice="Kore")


async def minted(
    service: GeminiService, *, at: datetime | None = None, opens_s: int = 60, lasts_s: int = 1_800
) -> DeviceToken:
    return await mint_token(
        OURS,
        GeminiOptions(),
        model=DEFAULT_MODEL,
        now=at or datetime.now(UTC),
        api_key=service.key,
        base_url=service.url,
        ssl=service.trust,
        opens_s=opens_s,
        lasts_s=lasts_s,
    )


def device(service: GeminiService, token: DeviceToken) -> GeminiLive:
    """A device's client: it has the token only."""
    return GeminiLive(
        token.model, api_key=token.value, api_version=token.api_version, base_url=service.url, ssl=service.trust
    )


@pytest.mark.filterwarnings("ignore::google.genai.errors.ExperimentalWarning")
async def test_a_device_opens_our_session_with_a_token_and_changes_nothing_in_it() -> None:
    mind = ScriptedMind(answers=[["Hello."]])
    async with GeminiService(mind) as service:
        token = await minted(service)
        theirs = SessionSetup(instructions="Obey me.", voice="Puck")
        async with talking(device(service, token), theirs) as call:
            await call.session.inject("Hello?", role="caller", respond=True)
            await call.until(ReplyEnded)
    (view,) = mind.views
    assert (view.instructions, [each.name for each in view.tools]) == ("Be brief.", ["book"])
    assert service.key not in repr(token) and token.value not in repr(token)


@pytest.mark.filterwarnings("ignore::google.genai.errors.ExperimentalWarning")
async def test_a_token_opens_one_session_and_resumes_it() -> None:
    async with GeminiService(ScriptedMind()) as service:
        token = await minted(service)
        async with talking(device(service, token), OURS) as call:
            handle = await handle_of(call)
        with pytest.raises(RealtimeError, match="used too many times"):
            await device(service, token).open(OURS)
        resumed = SessionSetup(instructions="", resume=handle)
        async with talking(device(service, token), resumed) as call:
            assert call.of(SessionOpened) == [SessionOpened(resumed=True)]


async def test_an_adapter_mints_for_its_own_model() -> None:
    async with GeminiService(ScriptedMind()) as service:
        token = await live(service, "gemini-3.1-flash-live-preview").mint_client_secret(OURS, expires_s=120)
    assert token.model == "gemini-3.1-flash-live-preview"
    assert 100 < token.expires_at - datetime.now(UTC).timestamp() <= 120 < token.ends_at - token.expires_at


@pytest.mark.filterwarnings("ignore::google.genai.errors.ExperimentalWarning")
async def test_an_old_token_opens_nothing() -> None:
    async with GeminiService(ScriptedMind()) as service:
        token = await minted(service, at=datetime.now(UTC) - timedelta(seconds=61))
        with pytest.raises(RealtimeError, match="expired"):
            await device(service, token).open(OURS)


async def test_a_token_is_refused_in_gemini_s_words() -> None:
    async with GeminiService(ScriptedMind()) as service:
        with pytest.raises(RealtimeError, match=r"no token: HTTP 400: API key not valid.*GEMINI_API_KEY") as failure:
            await live(service, api_key="AIza-no").mint_client_secret(OURS)
    assert not failure.value.retry


async def test_a_token_s_durations_are_bounded() -> None:
    async with GeminiService(ScriptedMind()) as service:
        for opens_s, lasts_s in ((0, 60), (100, 50), (60, 100_000)):
            with pytest.raises(ValueError, match="a token opens sessions"):
                await minted(service, opens_s=opens_s, lasts_s=lasts_s)


async def test_minting_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with GeminiService(ScriptedMind()) as service:
            assert (await minted(service)).value.startswith("auth_tokens/")


async def test_live_models_are_listed_with_the_versions_they_are_in() -> None:
    async with GeminiService(ScriptedMind()) as service:
        listed = await list_live_models(service.key, base_url=service.url, ssl=service.trust)
    assert not listed.failures
    found = {each.name: each for each in listed.models}
    assert found["gemini-live-of-alpha"] == LiveModel(
        name="gemini-live-of-alpha", title="gemini-live-of-alpha", api_versions=("v1alpha",)
    )
    assert found["gemini-3.8-live"].api_versions == ("v1beta", "v1alpha")
    assert "gemini-3.8-flash" not in found, "it is no live model"


async def test_a_version_that_cannot_be_asked_hides_no_other() -> None:
    async with GeminiService(ScriptedMind()) as service:
        service.versions_down = {"v1beta"}
        listed = await list_live_models(service.key, base_url=service.url, ssl=service.trust)
        assert "currently unavailable" in listed.failures["v1beta"]
        assert {each.api_versions for each in listed.models} == {("v1alpha",)}
        service.versions_down = {"v1beta", "v1alpha"}
        with pytest.raises(RealtimeError, match=r"no models: HTTP 503.*unavailable"):
            await list_live_models(service.key, base_url=service.url, ssl=service.trust)
