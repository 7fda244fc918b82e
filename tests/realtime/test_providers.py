"""Tests of ``providers``: what makes which adapter, and what is told eagerly when it cannot be made."""

from __future__ import annotations

import pytest

from pipelines.realtime.base import RealtimeError
from pipelines.realtime.providers import S2SConfig, create_s2s_adapter

BOTH = {"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}


def test_without_any_key_the_error_names_the_variables() -> None:
    with pytest.raises(RealtimeError, match=r"S2S_PROVIDER.*OPENAI_API_KEY.*GEMINI_API_KEY") as failure:
        create_s2s_adapter(environ={})
    assert not failure.value.retry


@pytest.mark.parametrize(("provider", "key"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")])
def test_a_missing_key_is_named(provider: str, key: str) -> None:
    others = {name: value for name, value in BOTH.items() if name != key}
    with pytest.raises(RealtimeError, match=f"'{provider}' needs a key: set {key}"):
        create_s2s_adapter(environ={"S2S_PROVIDER": provider, **others})


def test_an_unknown_provider_is_named_with_those_there_are() -> None:
    with pytest.raises(RealtimeError, match=r"S2S_PROVIDER is 'acme'.*openai and gemini"):
        create_s2s_adapter(environ={"S2S_PROVIDER": "acme", **BOTH})


def test_a_browser_s_transport_is_no_provider_of_calls() -> None:
    with pytest.raises(RealtimeError, match="/api/realtime/secrets"):
        create_s2s_adapter(S2SConfig(provider="openai-webrtc"), BOTH)


def test_a_configuration_shows_no_key() -> None:
    config = S2SConfig(provider="openai", api_key="sk-secret")
    assert "sk-secret" not in repr(config)
    assert config.label == "openai:gpt-realtime"
