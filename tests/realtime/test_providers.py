"""Tests of ``providers``: what makes which adapter, and what is told eagerly when it cannot be made."""

from __future__ import annotations

import pytest

from pipelines.realtime.base import RealtimeError
from pipelines.realtime.openai.options import DEFAULT_MODEL
from pipelines.realtime.providers import S2SConfig, completed, create_s2s_adapter

BOTH = {"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}


def test_without_any_key_the_error_names_the_variables() -> None:
    with pytest.raises(RealtimeError, match=r"S2S_PROVIDER.*OPENAI_API_KEY") as failure:
        create_s2s_adapter(environ={})
    assert not failure.value.retry


@pytest.mark.parametrize(("provider", "key"), [("openai", "OPENAI_API_KEY")])
def test_a_missing_key_is_named(provider: str, key: str) -> None:
    others = {name: value for name, value in BOTH.items() if name != key}
    with pytest.raises(RealtimeError, match=f"'{provider}' needs a key: set {key}"):
        create_s2s_adapter(environ={"S2S_PROVIDER": provider, **others})


def test_openai_s_key_alone_brings_openai_also_beside_gemini_s() -> None:
    assert create_s2s_adapter(environ={"OPENAI_API_KEY": "o"}).name == f"openai:{DEFAULT_MODEL}"
    assert create_s2s_adapter(environ=BOTH).name.startswith("openai:")


def test_an_argument_goes_before_the_environment_and_that_before_the_provider_s_own() -> None:
    environ = {**BOTH, "S2S_PROVIDER": "openai", "S2S_MODEL": "gpt-environment", "S2S_VOICE": "cedar"}
    assert create_s2s_adapter(environ=environ).name == "openai:gpt-environment"
    assert create_s2s_adapter(S2SConfig(model="gpt-argument"), environ).name == "openai:gpt-argument"
    assert completed(S2SConfig(), environ).voice == "cedar"
    assert completed(S2SConfig(voice="marin"), environ).voice == "marin"


def test_a_turn_detection_that_openai_does_not_have_is_refused() -> None:
    with pytest.raises(RealtimeError, match=r"S2S_TURN_DETECTION is 'loud'.*semantic_vad, server_vad, ours"):
        create_s2s_adapter(environ={"OPENAI_API_KEY": "o", "S2S_TURN_DETECTION": "loud"})
    assert create_s2s_adapter(environ={"OPENAI_API_KEY": "o", "S2S_TURN_DETECTION": "ours"})


def test_an_unknown_provider_is_named_with_those_there_are() -> None:
    with pytest.raises(RealtimeError, match=r"S2S_PROVIDER is 'acme'.*openai"):
        create_s2s_adapter(environ={"S2S_PROVIDER": "acme", **BOTH})


def test_a_browser_s_transport_is_no_provider_of_calls() -> None:
    with pytest.raises(RealtimeError, match="/api/realtime/secrets"):
        create_s2s_adapter(S2SConfig(provider="openai-webrtc"), BOTH)


def test_a_configuration_shows_no_key() -> None:
    config = S2SConfig(provider="openai", api_key="sk-secret")
    assert "sk-secret" not in repr(config)
    assert config.label == "openai"


def test_gemini_s_key_alone_brings_gemini_in_the_version_that_is_wanted() -> None:
    assert create_s2s_adapter(environ={"GEMINI_API_KEY": "g"}).name == "gemini:gemini-3.8-live"
    environ = {"GEMINI_API_KEY": "g", "S2S_MODEL": "models/gemini-2.5-x", "S2S_API_VERSION": "v1alpha"}
    assert create_s2s_adapter(environ=environ).name == "gemini:gemini-2.5-x"
